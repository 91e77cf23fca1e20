"""`kubesched with-cluster`: a command that runs while a cluster is up.

In: manifests, nodes by the dozen, and a command. Out: the exit code of the command, for which KUBECONFIG is set.
"""

import os
import sys

import click
import msgspec
from msgspec.structs import replace

from kubesched.cli.help_all import CommandWithRareOptions
from kubesched.config.golang import Duration
from kubesched_controlplane.up import help as texts
from kubesched_controlplane.up.cluster_options import (
    RARE_CLUSTER,
    RARE_ENDPOINT,
    ClusterOptions,
    EndpointOptions,
    cluster_options,
    endpoint_options,
)
from kubesched_controlplane.up.session import RunMode
from kubesched_controlplane.up.starting import run_cluster

COMMAND = CommandWithRareOptions.COMMAND


class WithClusterOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `kubesched with-cluster`, and the command to run."""

    cluster: ClusterOptions
    endpoint: EndpointOptions
    command: tuple[str, ...]


@click.command(
    "with-cluster",
    cls=CommandWithRareOptions,
    needs_command=True,
    help=texts.WITH_CLUSTER,
    more=texts.MORE,
    rare=(*RARE_CLUSTER, *RARE_ENDPOINT),
    short_help="Run a command, such as tests, with a cluster on this machine.",
)
@cluster_options
@endpoint_options
@click.pass_context
def with_cluster(context: click.Context, /, cluster: ClusterOptions, endpoint: EndpointOptions) -> None:
    """Run a command with a cluster."""
    command = context.meta[COMMAND]
    if not command:
        raise click.UsageError("missing command: kubesched with-cluster ... -- COMMAND, such as -- pytest")
    sys.exit(run_with_cluster(WithClusterOptions(cluster=cluster, endpoint=endpoint, command=command)))


def run_with_cluster(options: WithClusterOptions) -> int:
    """Run the command while a cluster is up; return its exit code. Each cluster has a unique name by default."""
    name = options.endpoint.chosen_name or f"command-{os.getpid()}"
    # a command has no timeout
    mode = RunMode(settles=False, timeout=Duration(nanoseconds=0), output="table", command=options.command)
    return run_cluster(options.cluster, replace(options.endpoint, chosen_name=name), mode)
