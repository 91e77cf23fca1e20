"""`kubesched whatif`: where would the pods be after a change?

In: a cluster, and the changes to try, in order. Out: an answer, and exit code 0 (each pod that should have a place
has one), 3 (some have none, or a drain is held up) or 1 (an error).
"""

import sys
from collections.abc import Iterable
from typing import Any

import click

from kubesched.cli.command_group import CommandWithSubcommands
from kubesched.cli.configurations import load_configuration, served_configuration
from kubesched.cli.gate_options import gate_options
from kubesched.cli.output import OutputOptions, output_option, print_answer
from kubesched.cli.plugin_options import plugin_option
from kubesched.config.feature_gates import FeatureGates, parse_flag
from kubesched.core.framework.building.registry import Registry
from kubesched.model.cluster_model import ClusterModel
from kubesched.sources.cluster_source import ClusterSource
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_answers.cli.options import model_options, read_source, source_option
from kubesched_answers.reports.whatif_report import comparison_report, consolidation_report, whatif_report
from kubesched_answers.sources.operation_files import FILE_READERS
from kubesched_answers.whatif.compare import NamedModel, compare
from kubesched_answers.whatif.configurations import parse_weight, with_weights
from kubesched_answers.whatif.consolidate import consolidate
from kubesched_answers.whatif.operations import Operation
from kubesched_answers.whatif.requests import check_form, operation_of, with_drain_options
from kubesched_answers.whatif.whatif import whatif
from kubesched_answers.whatif.workload_operations import RescheduleAll

DOES_NOT_FIT = 3
DEFAULTS = "the defaults"
IN_FORCE = "the configuration in force"


class OrderedCommand(CommandWithSubcommands):
    """A command that records the order of its options, in the context's `meta`."""

    ORDER = "kubesched.order"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and keep the names of the options in order."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[self.ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


@click.command("consolidate")
@model_options
@click.option("--most", type=click.IntRange(1), metavar="N", help="Largest number of nodes to empty.")
@output_option
def consolidate_command(model: ClusterModel, most: int | None, output: OutputOptions) -> None:
    """Show which nodes can be emptied, in which order, and where each pod goes.

    Exit code 3: no node can be emptied.

    \b
    Example:
      kubesched whatif consolidate
    """
    with click.progressbar(
        length=1000, label="Trying nodes", file=sys.stderr, hidden=not sys.stderr.isatty() or output.quiet
    ) as bar:
        answer = consolidate(model, most=most, progress=lambda done, total: bar.update(1000 * done // total - bar.pos))
    print_answer(answer, consolidation_report(answer), output)
    sys.exit(0 if answer.fits else DOES_NOT_FIT)


NODES = "NODES"


@click.command("whatif", cls=OrderedCommand, subcommands={"consolidate": consolidate_command})
@click.option(
    "--drain",
    multiple=True,
    metavar=NODES,
    help="Drain nodes as kubectl drain --ignore-daemonsets does: names (a,b) or a label selector (zone=a).",
)
@click.option(
    "--force", is_flag=True, help="Drain nodes even if they have pods without a controller; these pods are lost."
)
@click.option(
    "--delete-emptydir-data",
    is_flag=True,
    help="Drain nodes even if their pods have emptyDir volumes; these volumes are lost.",
)
@click.option("--cordon", multiple=True, metavar=NODES, help="Mark nodes as unschedulable.")
@click.option("--remove", multiple=True, metavar=NODES, help="Remove nodes with all pods on them, as if they failed.")
@click.option(
    "--taint",
    multiple=True,
    nargs=2,
    metavar="NODES TAINT",
    help="Taint nodes with key=value:Effect; a final - removes the taint.",
)
@click.option("--add-nodes", multiple=True, metavar="N=LIKE", help="Add N copies of a node, or of the node in a file.")
@click.option("--scale", multiple=True, metavar="KIND/NAME=N", help="Scale a workload: deploy/web=9.")
@click.option("--apply", multiple=True, metavar="FILE", help="Create or change objects, as kubectl apply does.")
@click.option("--delete", multiple=True, metavar="KIND/NAME", help="Delete an object; a workload with its pods.")
@click.option("--reschedule", type=click.Choice(["all"]), help="Place all pods again on empty nodes.")
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="FILE",
    help="A KubeSchedulerConfiguration file; give two to compare them.",
)
@click.option("--weight", "weights", multiple=True, metavar="PLUGIN=W", help="Weight of a plugin's scores to try.")
@click.option(
    "--try-gates",
    "new_gates",
    multiple=True,
    metavar="A=true,B=false",
    help="Feature gates of the scheduler to try; --feature-gates apply to both schedulers.",
)
# the name of --try-gates in earlier versions
@click.option("--kubernetes-gates", "old_gates", multiple=True, hidden=True)
@click.option(
    "--compare",
    "compared",
    is_flag=True,
    help="Compare the configuration with and without --weight and --try-gates.",
)
@source_option
@gate_options
@plugin_option
@output_option
@click.pass_context
def whatif_command(
    ctx: click.Context,
    /,
    source: ClusterSource,
    configs: tuple[str, ...],
    weights: tuple[str, ...],
    new_gates: tuple[str, ...],
    old_gates: tuple[str, ...],
    compared: bool,
    gates: FeatureGates,
    registry: Registry,
    output: OutputOptions,
    reschedule: str | None,
    force: bool,
    delete_emptydir_data: bool,
    **options: tuple[Any, ...],
) -> None:
    """Try changes to a cluster or its scheduler: which pods move, stay pending or are preempted.

    The cluster runs in this process, in virtual time, with its controllers and its scheduler. First the cluster
    settles without changes. Then the changes are made in the given order, each as a request to the API server.
    Nothing is changed in your cluster.

    Exit code 3: a drain is refused or held up, a rollout hangs, or a pod that should have a node has none.

    \b
    Examples:
      kubesched whatif --drain worker-7                          # where its pods go, which budgets hold it up
      kubesched whatif --drain zone=a --add-nodes 3=worker-7
      kubesched whatif --scale deploy/web=9 --from cluster.snapshot.gz
      kubesched whatif --config now.yaml --config new.yaml --reschedule all
    """
    if len(configs) > 2:
        raise click.UsageError("give --config once, or twice to compare two configurations")
    for name, values in options.items():
        for value in values:
            check_form(name, value)
    new_gates = (*old_gates, *new_gates)
    second_gates = FeatureGates({**gates.explicit, **parse_flag(",".join(new_gates))}, gates.version)
    changed = dict(map(parse_weight, weights))
    told = "" if configs else served_configuration(source)
    last_file = configs[-1] if configs else None
    last = load_configuration(last_file, second_gates, registry, lambda found: with_weights(found, changed), told=told)
    objects = read_source(source, custom_kinds_of(last, registry))
    model = ClusterModel(objects, last, registry)
    asked = _operations(model, ctx.meta[OrderedCommand.ORDER], options)
    operations = with_drain_options(asked, force, delete_emptydir_data)
    if len(configs) == 2 or compared:
        loaded = load_configuration(configs[0] if configs else None, gates, registry, told=told)
        first = ClusterModel(objects, loaded, registry)
        names = _names(configs or ((IN_FORCE,) if told else ()), [*weights, *new_gates])
        models = (NamedModel(names[0], first, disposable=True), NamedModel(names[1], model, disposable=True))
        answer = compare(*models, operations, reschedule_all=reschedule is not None)
        print_answer(answer, comparison_report(answer), output)
        sys.exit(0 if answer.fits else DOES_NOT_FIT)
    if reschedule is not None:
        operations.append(RescheduleAll())
    is_another = configs or weights or new_gates
    present = (
        load_configuration(None, gates, registry, told=told or served_configuration(source)) if is_another else None
    )
    found = whatif(model, operations, present=present)
    print_answer(found, whatif_report(found), output)
    sys.exit(0 if found.fits else DOES_NOT_FIT)


def _names(configs: tuple[str, ...], changes: list[str]) -> tuple[str, str]:
    """Return the names of two compared configurations."""
    first, last = (configs[0], configs[-1]) if configs else (DEFAULTS, DEFAULTS)
    return first, " ".join([last, *(f"with {change}" for change in changes)])


def _operations(model: ClusterModel, order: Iterable[str], options: dict[str, tuple[Any, ...]]) -> list[Operation]:
    """Return the operations in the order of the options."""
    values = {name: iter(given) for name, given in options.items()}
    return [operation_of(model, name, next(values[name]), FILE_READERS) for name in order if name in values]
