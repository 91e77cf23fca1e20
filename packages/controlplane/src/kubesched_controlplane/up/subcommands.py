"""`kubesched up status` and `kubesched up down`: the clusters of `kubesched up` that run on this machine.

In: names. Out: a table of the clusters with their numbers of nodes and pods; or the message that a cluster has ended.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
import msgspec
from rich.table import Table

from kubesched.cli.event_loop import run_loop
from kubesched.config.golang import Duration
from kubesched_controlplane.named_clusters import (
    DEFAULT,
    NamedCluster,
    NamedClusterError,
    check_name,
    end,
    find,
    find_all,
)
from kubesched_controlplane.representation.tables.printing import human_duration
from kubesched_controlplane.up.display import print_table
from kubesched_controlplane.up.options import duration
from kubesched_controlplane.up.status import SILENT, ClusterStatus, read_status

F = TypeVar("F", bound=Callable[..., Any])

COLUMNS = ("NAME", "STATUS", "NODES", "PODS", "NOT BOUND", "AGE", "PID", "KUBECONFIG")
STATUS_HELP = """Show the running clusters of `kubesched up` on this machine, or only the one called NAME.

\b
Example:
  kubesched up status
  export KUBECONFIG=$(kubesched up status dev -o json | jq -r .clusters[0].kubeconfig)

Exit code: 0; 1 if NAME is not up, or a cluster does not answer.
"""
DOWN_HELP = f"""End the cluster of `kubesched up` called NAME (or {DEFAULT}), and wait until it has ended.

Its --data folder stays; without one, all its objects are lost.

\b
Example:
  kubesched up down dev
  kubesched up down --all

Exit code: 0 if the cluster has ended; 1 if no cluster has that name, or it has not ended in time.
"""


def name_option(*declared: str, **options: Any) -> Callable[[F], F]:
    """Return an option for the name of a cluster."""
    return click.option(*declared, callback=_name, metavar="NAME", **options)


def _name(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    try:
        return None if text is None else check_name(text)
    except NamedClusterError as error:
        raise click.BadParameter(str(error), context, option) from None


def _not_up(name: str) -> str:
    others = ", ".join(cluster.name for cluster in find_all())
    return f"no cluster {name!r} is up" + (
        f"; running clusters: {others}" if others else "; start one with `kubesched up`"
    )


# -- status


@click.command("status", help=STATUS_HELP, short_help="Show the running clusters.")
@click.argument("name", required=False, callback=_name)
@click.option(
    "-o", "--output", type=click.Choice(("table", "json")), default="table", show_default=True, help="Output format."
)
def status(name: str | None, output: str) -> None:
    """Show the running clusters."""
    clusters = [find(name)] if name is not None else find_all()
    found = run_loop(_statuses([cluster for cluster in clusters if cluster is not None]))
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode({"clusters": found}), indent=2))
    elif found:
        print_table(_table(found, datetime.now(UTC)))
    for each in found:
        if each.status == SILENT:
            click.echo(f"cluster {each.name!r} does not answer: {each.reason}", err=True)
    if name is not None and not found:
        click.echo(_not_up(name), err=True)
        sys.exit(1)
    if not found and output != "json":
        click.echo("No cluster is up; start one with `kubesched up`.", err=True)
    sys.exit(1 if any(each.status == SILENT for each in found) else 0)


async def _statuses(clusters: Sequence[NamedCluster]) -> list[ClusterStatus]:
    return list(await asyncio.gather(*map(read_status, clusters)))


def _table(statuses: Sequence[ClusterStatus], now: datetime) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for column in COLUMNS:
        # a wrapped path cannot be copied
        table.add_column(column, no_wrap=True)
    for each in statuses:
        counts = ("-" if count is None else str(count) for count in (each.nodes, each.pods, each.pods_not_bound))
        age = human_duration((now - each.started_at).total_seconds())
        table.add_row(each.name, each.status, *counts, age, str(each.pid), each.kubeconfig or "-")
    return table


# -- down


@click.command("down", help=DOWN_HELP, short_help="End a running cluster.")
@click.argument("name", required=False, callback=_name)
@click.option("--all", "every", is_flag=True, help="End all clusters.")
@click.option(
    "--timeout",
    default="30s",
    show_default=True,
    callback=duration,
    metavar="DURATION",
    help="Timeout for the end of a cluster.",
)
def down(name: str | None, every: bool, timeout: Duration) -> None:
    """End clusters."""
    if every and name is not None:
        raise click.UsageError("give NAME or --all, not both")
    clusters = find_all() if every else [find(name or DEFAULT)]
    if clusters == [None]:
        click.echo(_not_up(name or DEFAULT), err=True)
        sys.exit(1)
    if not clusters:
        click.echo("No cluster is up.")
    ended = [_end(cluster, timeout) for cluster in clusters if cluster is not None]
    sys.exit(0 if all(ended) else 1)


def _end(cluster: NamedCluster, timeout: Duration) -> bool:
    """End a cluster and print the outcome; return whether it has ended."""
    try:
        if end(cluster, timeout.seconds):
            click.echo(f"Cluster {cluster.name!r} (process {cluster.pid}) has ended.")
            return True
        problem = f"has not ended within {timeout} (--timeout); run `kill -9 {cluster.pid}` to end it"
        click.echo(f"cluster {cluster.name!r} (process {cluster.pid}) {problem}", err=True)
    except NamedClusterError as error:
        click.echo(str(error), err=True)
    return False
