"""`kubesched explain`: why is it pending, and what would help?

In: a cluster, and what to explain. Out: an answer, and exit code 0 (it fits), 3 (it does not) or 1 (an error).
"""

import functools
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kubesched.asking.explain.explain_node import explain_node
from kubesched.asking.explain.explain_pod import explain_named_pod
from kubesched.asking.explain.pod_answer import BOUND, FINISHED, SCHEDULABLE
from kubesched.asking.explain.triage import triage
from kubesched.asking.model import ClusterModel
from kubesched.asking.reports.explain_report import pod_report
from kubesched.asking.reports.triage_report import node_report, triage_report
from kubesched.asking.sources.remembering import remembered
from kubesched.asking.sources.template_files import read_manifests
from kubesched.cli.asking.completion import explain_words, node_names, pod_names
from kubesched.cli.asking.options import model_options
from kubesched.cli.asking.output import OutputOptions, output_option, print_answer
from kubesched.cli.asking.scheduler_options import scheduler_options
from kubesched.cli.command_group import CommandWithSubcommands

if TYPE_CHECKING:
    from kubesched.asking.sources.scheduler_records import SchedulerAddress

DOES_NOT_FIT = 3
F = TypeVar("F", bound=Callable[..., Any])


def _one_pod(command: F) -> F:
    """Check that a pod is named, or a manifest is given, before a cluster is read."""

    @functools.wraps(command)
    def with_one_pod(*args: Any, name: str | None, file: str | None, **kwargs: Any) -> Any:
        if (name is None) == (file is None):
            raise click.UsageError("name a pod, or give a manifest with -f")
        return command(*args, name=name, file=file, **kwargs)

    return with_one_pod  # type: ignore[return-value]


@click.command("pod")
@click.argument("name", metavar="[NAMESPACE/]NAME", required=False, shell_complete=pod_names)
@click.option("-f", "--filename", "file", metavar="FILE", help="A pod that does not exist yet, or a workload.")
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
        from kubesched.asking.explain.explain_template import explain_manifests

        answer = explain_manifests(model, read_manifests([file]))
    else:
        answer = remembered(model, explain_named_pod(model, model.full_name(str(name))), scheduler)
    print_answer(answer, pod_report(answer), output)
    sys.exit(0 if answer.verdict in (SCHEDULABLE, BOUND, FINISHED) else DOES_NOT_FIT)


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
    """Explain everything that is pending, by cause, the costliest first.

    \b
    Example:
      kubesched explain pods -o json
    """
    _triage(model, output)


def _no_words(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse words that name no subcommand, such as the name of a pod alone."""
    if words:
        raise click.UsageError(f"say what {words[0]} is: kubesched explain pod {words[0]}, or node {words[0]}")
    return words


@click.command(
    "explain",
    cls=CommandWithSubcommands,
    subcommands={"pods": explain_pods_command, "pod": explain_pod_command, "node": explain_node_command},
)
@click.argument(
    "words", nargs=-1, metavar="[pods | pod NAME | node NAME]", callback=_no_words, shell_complete=explain_words
)
@model_options
@output_option
def explain(words: tuple[str, ...], model: ClusterModel, output: OutputOptions) -> None:
    """Explain why pods are pending, and what would help.

    Without a subcommand: everything that is pending, by cause. The cluster is the one that kubectl asks, or that of
    --from. Every remedy was tried before it is printed. Exit code 0: nothing is unschedulable; 3: something is.

    \b
    Examples:
      kubesched explain                                # everything pending
      kubesched explain pod web-0 -n shop
      kubesched explain node worker-7
      kubesched explain --from cluster.snapshot.gz -o markdown
    """
    _triage(model, output)


def _triage(model: ClusterModel, output: OutputOptions) -> None:
    answer = triage(model, model.source.taken_at or datetime.now(UTC))
    print_answer(answer, triage_report(answer), output)
    sys.exit(DOES_NOT_FIT if answer.unschedulable else 0)
