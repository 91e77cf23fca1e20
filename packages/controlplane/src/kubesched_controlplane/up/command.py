"""`kubesched up`: a whole cluster on this machine, in one process, until a signal.

In: manifests, nodes by the dozen and, if wanted, a scheduler configuration and a folder to keep everything in. Out: a
cluster that kubectl and other clients can use.
"""

import sys
from pathlib import Path

import click
import msgspec

from kubesched.cli.command_group import CommandWithSubcommands
from kubesched.cli.help_all import CommandWithRareOptions
from kubesched.config.golang import Duration
from kubesched_controlplane.up import help as texts
from kubesched_controlplane.up.cluster_options import (
    RARE_CLUSTER,
    ClusterOptions,
    EndpointOptions,
    check_serves,
    cluster_options,
    endpoint_options,
)
from kubesched_controlplane.up.detached import detach
from kubesched_controlplane.up.options import duration
from kubesched_controlplane.up.session import RunMode, print_line
from kubesched_controlplane.up.starting import run_cluster
from kubesched_controlplane.up.subcommands import down, status
from kubesched_controlplane.up.try_command import TryOptions, place
from kubesched_controlplane.up.with_cluster import WithClusterOptions, run_with_cluster

ONCE_IS_TRY = "`kubesched up --once` is deprecated: use `kubesched try`"
COMMAND_IS_WITH_CLUSTER = "`kubesched up ... -- COMMAND` is deprecated: use `kubesched with-cluster ... -- COMMAND`"
ARGUMENTS, COMMAND = CommandWithSubcommands.ARGUMENTS, CommandWithSubcommands.COMMAND


class UpOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `kubesched up`."""

    cluster: ClusterOptions
    endpoint: EndpointOptions
    detached: bool
    serves: bool
    timeout: Duration


@click.command(
    "up",
    cls=CommandWithRareOptions,
    subcommands={"status": status, "down": down},
    takes_command=True,
    help=texts.UP,
    more=texts.MORE,
    rare=(*RARE_CLUSTER, "serve", "timeout", "port", "kubeconfig"),
    short_help="Run a cluster on this machine: API server, simulated nodes, scheduler.",
    options_metavar="[OPTIONS]",
)
@cluster_options
@endpoint_options
@click.option("--detach", "detached", is_flag=True, help="Run in the background; return when the cluster is ready.")
@click.option(
    "--timeout",
    default="5m",
    show_default=True,
    callback=duration,
    metavar="DURATION",
    help="Timeout for the start with --detach.",
)
@click.option("--serve/--no-serve", default=None, help="Serve the API to other programs; the default.")
# the form of `kubesched try` and `kubesched with-cluster` before they were commands
@click.option("--once/--stay", hidden=True)
@click.option("-o", "--output", type=click.Choice(("table", "json")), hidden=True)
@click.pass_context
def up(
    context: click.Context,
    /,
    cluster: ClusterOptions,
    endpoint: EndpointOptions,
    detached: bool,
    timeout: Duration,
    serve: bool | None,
    once: bool,
    output: str | None,
) -> None:
    """Run a cluster: the embedded control plane and a scheduler."""
    for file in cluster.files:
        if file in ("status", "down") and not Path(file).exists():
            raise click.UsageError(f"{file} comes first: kubesched up {file} [NAME]")
    words = context.meta.get(COMMAND, ())
    _check_mode(once=once, detached=detached, command=bool(words), serve=serve)
    if once:
        print_line(ONCE_IS_TRY)
        options = TryOptions(
            cluster=cluster, endpoint=endpoint, serves=bool(serve), timeout=timeout, output=output or "table"
        )
        sys.exit(place(options))
    if words:
        print_line(COMMAND_IS_WITH_CLUSTER)
        sys.exit(run_with_cluster(WithClusterOptions(cluster=cluster, endpoint=endpoint, command=words)))
    if output is not None:
        raise click.UsageError("-o is an option of `kubesched try`, which prints the node of each pod and exits")
    sys.exit(
        _run(
            UpOptions(
                cluster=cluster, endpoint=endpoint, detached=detached, serves=serve is not False, timeout=timeout
            ),
            context.meta[ARGUMENTS],
        )
    )


def _run(options: UpOptions, arguments: list[str]) -> int:
    """Run a cluster until a signal, or start it in the background; return the exit code."""
    if options.detached:
        return detach(arguments, options.endpoint.name, options.timeout)
    if not options.serves:
        check_serves(options.endpoint, "leave --no-serve out")
    mode = RunMode(settles=False, timeout=options.timeout, output="table")
    return run_cluster(options.cluster, options.endpoint if options.serves else None, mode)


def _check_mode(*, once: bool, detached: bool, command: bool, serve: bool | None) -> None:
    """Check that the options which choose a mode fit together."""
    chosen = [name for name, given in (("--detach", detached), ("-- COMMAND", command), ("--once", once)) if given]
    if serve is False and not once:
        chosen = [*chosen, "--no-serve"]
    if len(chosen) > 1:
        raise click.UsageError(f"{chosen[0]} and {chosen[1]} exclude each other: leave one out")
