"""`kubesched try`: the node of each pod, on a cluster that ends as soon as it has settled.

In: manifests, and nodes by the dozen. Out: a table with the node of each pod, or the reason why it has none; and exit
code 0, 3 (a pod has no node) or 1 (an error).
"""

import sys

import click
import msgspec

from kubesched.cli.help_all import CommandWithRareOptions
from kubesched.config.golang import Duration
from kubesched_controlplane.up import help as texts
from kubesched_controlplane.up.cluster_options import (
    RARE_CLUSTER,
    RARE_ENDPOINT,
    ClusterOptions,
    EndpointOptions,
    check_serves,
    cluster_options,
    endpoint_options,
)
from kubesched_controlplane.up.options import duration
from kubesched_controlplane.up.session import RunMode
from kubesched_controlplane.up.starting import run_cluster


class TryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `kubesched try`."""

    cluster: ClusterOptions
    endpoint: EndpointOptions
    serves: bool
    timeout: Duration
    output: str


@click.command(
    "try",
    cls=CommandWithRareOptions,
    help=texts.TRY,
    more=texts.MORE,
    rare=(*RARE_CLUSTER, *RARE_ENDPOINT, "data"),
    short_help="Place pods on simulated nodes, print the node of each pod, and exit.",
)
@cluster_options
@click.option(
    "-o", "--output", type=click.Choice(("table", "json")), default="table", show_default=True, help="Output format."
)
@click.option(
    "--timeout",
    default="5m",
    show_default=True,
    callback=duration,
    metavar="DURATION",
    help="Timeout for the whole run.",
)
@click.option("--serve", is_flag=True, help="Serve the API to other programs until the cluster has settled.")
@endpoint_options
def try_command(
    cluster: ClusterOptions, endpoint: EndpointOptions, serve: bool, timeout: Duration, output: str
) -> None:
    """Place pods, and print the node of each pod."""
    sys.exit(place(TryOptions(cluster=cluster, endpoint=endpoint, serves=serve, timeout=timeout, output=output)))


def place(options: TryOptions) -> int:
    """Run a cluster until it has settled, and print the node of each pod; return the exit code."""
    if not options.serves:
        check_serves(options.endpoint, "add --serve")
    mode = RunMode(settles=True, timeout=options.timeout, output=options.output)
    return run_cluster(options.cluster, options.endpoint if options.serves else None, mode)
