"""`kubesched explain`: why is it pending, and what would help?

In: a cluster, and the pod, node or workload to explain. Out: an answer, and exit code 0 (it fits), 3 (it does not) or
1 (an error).
"""

import functools
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click
import yaml

from kubesched.cli.command_group import CommandWithSubcommands
from kubesched.cli.output import OutputOptions, output_option, print_answer
from kubesched.cli.scheduler_options import scheduler_options
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError
from kubesched_answers.cli.completion import explain_words, node_names, pod_names
from kubesched_answers.cli.options import model_options
from kubesched_answers.explain.explain_node import explain_node
from kubesched_answers.explain.explain_pod import explain_named_pod
from kubesched_answers.explain.triage import triage
from kubesched_answers.reports.explain_report import pod_report
from kubesched_answers.reports.triage_report import node_report, triage_report
from kubesched_answers.sources.remembering import remembered
from kubesched_answers.sources.template_files import read_manifests

if TYPE_CHECKING:
    from kubesched.sources.scheduler_records import SchedulerAddress
    from kubesched_answers.explain.pod_answer import PodAnswer
    from kubesched_answers.whatif.workloads import NamedObject

DOES_NOT_FIT = 3
NOT_KNOWN = 1
WORKLOAD = "workload"
F = TypeVar("F", bound=Callable[..., Any])


def _workload_named(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> "NamedObject":
    """Return the workload that words name: `deployment web`, `deploy/web`, `deploy/shop/web`."""
    if len(words) > 2 or (len(words) == 1 and "/" not in words[0]):
        raise click.UsageError(f"name one workload, such as {words[0].partition('/')[0]}/NAME")
    from kubesched_answers.whatif.workloads import parse_name

    return parse_name("/".join(words))


def _one_pod(command: F) -> F:
    """Check, before the cluster is read, that the user names a pod or gives a manifest."""

    @functools.wraps(command)
    def with_one_pod(*args: Any, name: str | None, file: str | None, **kwargs: Any) -> Any:
        if (name is None) == (file is None):
            raise click.UsageError("no pod: give its name, or a manifest with -f")
        return command(*args, name=name, file=file, **kwargs)

    return with_one_pod  # type: ignore[return-value]


@click.command("pod")
@click.argument("name", metavar="[NAMESPACE/]NAME", required=False, shell_complete=pod_names)
@click.option(
    "-f", "--filename", "file", metavar="FILE", help="Manifest of a pod that does not exist yet, or of a workload."
)
@_one_pod
@scheduler_options
@model_options
@output_option
def explain_pod_command(
    name: str | None,
    file: str | None,
    scheduler: "SchedulerAddress | None",
    model: ClusterModel,
    output: OutputOptions,
) -> None:
    """Explain one pod: why it is pending, or why it is where it is.

    Exit code 0: it has a node, or fits; 3: it does not fit.

    \b
    Examples:
      kubesched explain pod web-0 -n shop
      kubesched explain pod ml/train --from cluster.snapshot.gz
      kubesched explain pod -f my-app.yaml              # before it is created
    """
    if file is not None:
        # imported here: an API server, which pods of the cluster do not need
        from kubesched_answers.explain.explain_template import explain_manifests

        answer = explain_manifests(model, read_manifests([file]))
    else:
        answer = remembered(model, _explain_named(model, str(name)), scheduler)
    print_answer(answer, pod_report(answer), output)
    sys.exit(0 if answer.fits else DOES_NOT_FIT)


def _explain_named(model: ClusterModel, name: str) -> "PodAnswer":
    """Return the answer about a pod; raises UnknownObjectError, which names the command for a workload."""
    try:
        return explain_named_pod(model, model.full_name(name))
    except UnknownObjectError:
        if "/" in name and _explained_as(name.partition("/")[0]) == WORKLOAD:
            raise UnknownObjectError(
                f"{name} is not a pod; to explain a workload, run: kubesched explain {name}"
            ) from None
        raise


def _explained_as(kind: str) -> str:
    # imported here: the kinds of an API server, which pods do not need
    from kubesched_answers.workloads.kinds import explained_as

    return explained_as(kind)


@click.command("node")
@click.argument("name", metavar="NAME", shell_complete=node_names)
@model_options
@output_option
def explain_node_command(name: str, model: ClusterModel, output: OutputOptions) -> None:
    """Explain one node: what is free, and what would still fit.

    \b
    Example:
      kubesched explain node worker-7
    """
    answer = explain_node(model, name.removeprefix("node/"))
    print_answer(answer, node_report(answer), output)


@click.command("pods")
@model_options
@output_option
def explain_pods_command(model: ClusterModel, output: OutputOptions) -> None:
    """Explain all pending pods by cause, the costliest cause first.

    \b
    Example:
      kubesched explain pods -o json
    """
    _triage(model, output)


@click.command(WORKLOAD)
@click.argument("words", nargs=-1, required=True, metavar="KIND [NAMESPACE/]NAME", callback=_workload_named)
@model_options
@output_option
def explain_workload_command(words: "NamedObject", model: ClusterModel, output: OutputOptions) -> None:
    """Explain the pods of a workload: the nodes of placed pods, and why the rest are pending.

    If the workload has no pods, the answer is about its next pod. You can leave out the word `workload`.
    Exit code 0: all of its pods have a node, or fit; 3: some do not fit.

    \b
    Examples:
      kubesched explain deployment web -n shop
      kubesched explain deploy/web
      kubesched explain sts shop/database --from cluster.snapshot.gz
    """
    # imported here: an API server, which pods of the cluster do not need
    from kubesched_answers.reports.workload_report import workload_report
    from kubesched_answers.workloads.explain_workload import explain_workload

    answer = explain_workload(model, words, model.source.taken_at or datetime.now(UTC))
    print_answer(answer, workload_report(answer), output)
    sys.exit(0 if answer.fits else DOES_NOT_FIT)


@click.command("rights")
def explain_rights_command() -> None:
    """Print a ClusterRole with the rights that answers need.

    It allows kubesched to read the objects that scheduling depends on, and nothing else.

    \b
    Example:
      kubesched explain rights | kubectl apply -f -
      kubectl create clusterrolebinding kubesched-reader --clusterrole=kubesched-reader --user=ANNA
    """
    # imported here: a client of API servers, which questions about files do not need
    from kubesched_answers.sources.reader_role import reader_role

    click.echo(yaml.safe_dump(reader_role(), sort_keys=False), nl=False)


def _no_words(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Reject words that name no subcommand, such as the name of a pod alone."""
    if not words:
        return words
    word = words[0]
    if _explained_as(word.partition("/")[0]):
        raise click.UsageError(f"write {' '.join(words)} before the options: kubesched explain {' '.join(words)} ...")
    if "/" in word or len(words) > 1:
        raise click.UsageError(
            f"{' '.join(words)}: unknown kind; explain takes pods, nodes and workloads, such as deploy/web"
        )
    raise click.UsageError(f"missing kind: write kubesched explain pod {word}, node {word} or deployment {word}")


class ExplainCommand(CommandWithSubcommands):
    """The command `explain`, which names its subject as kubectl does: `deploy web`, `deploy/web`, `po web-0`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the subcommand for the kind in the arguments."""
        return super().make_context(info_name, self._with_subcommand(args), parent, **extra)

    def _with_subcommand(self, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        kind, slash, name = first.partition("/")
        given = [name, *args[1:]] if slash else args[1:]
        names_one = bool(given) and not given[0].startswith("-")
        if not first or first.startswith("-") or (first in self.subcommands and (first != "pods" or not names_one)):
            return args
        command = _explained_as(kind)
        if command == WORKLOAD:
            return [command, *args]
        return [command, *given] if command and names_one else args


@click.command(
    "explain",
    cls=ExplainCommand,
    subcommands={
        "pods": explain_pods_command,
        "pod": explain_pod_command,
        "node": explain_node_command,
        WORKLOAD: explain_workload_command,
        "rights": explain_rights_command,
    },
)
@click.argument(
    "words",
    nargs=-1,
    metavar="[pods | pod NAME | node NAME | KIND/NAME]",
    callback=_no_words,
    shell_complete=explain_words,
)
@model_options
@output_option
def explain(words: tuple[str, ...], model: ClusterModel, output: OutputOptions) -> None:
    """Explain why pods are pending, and what would help.

    Without a subcommand, the answer groups all pending pods by cause. kubesched asks the cluster of kubectl, or reads
    the files of --from. It tests every remedy before it prints it.

    Exit code: 0 if no pod is unschedulable; 3 if one is; 1 after an error, or if no pod is unschedulable but you may
    not read the pods of all namespaces.

    \b
    Examples:
      kubesched explain                                # all pending pods
      kubesched explain pod web-0 -n shop
      kubesched explain deploy/web -n shop
      kubesched explain node worker-7
      kubesched explain --from cluster.snapshot.gz -o markdown
    """
    _triage(model, output)


def _triage(model: ClusterModel, output: OutputOptions) -> None:
    answer = triage(model, model.source.taken_at or datetime.now(UTC))
    print_answer(answer, triage_report(answer), output)
    unread = model.unread_pods is not None and not model.source.only_namespace
    sys.exit(DOES_NOT_FIT if answer.unschedulable else NOT_KNOWN if unread else 0)
