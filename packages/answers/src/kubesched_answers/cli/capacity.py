"""`kubesched capacity`: how many more pods fit, what runs out first, which nodes to add?

In: a cluster, and manifests of workloads. Out: an answer, and exit code 0 (they fit), 3 (they do not) or 1 (an error).
"""

import csv
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
import msgspec
from rich.console import Console

from kubesched.api.codec import decode
from kubesched.api.nodes import Node
from kubesched.cli.output import OutputOptions, output_option, print_answer
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.capacity.capacity import CapacityOptions, capacity
from kubesched_answers.capacity.filling import Progress
from kubesched_answers.capacity.node_kinds import INSTANCE_TYPE, NodePrices, price_in
from kubesched_answers.cli.options import model_options
from kubesched_answers.remaining.remaining import remaining
from kubesched_answers.reports.capacity_report import capacity_report
from kubesched_answers.reports.remaining_report import remaining_report
from kubesched_answers.sources.template_files import read_manifests
from kubesched_answers.templates.reading import WorkloadTemplates, read_templates

DOES_NOT_FIT = 3
OWN = "own"
PRICE = "price"
F = TypeVar("F", bound=Callable[..., Any])
# options that apply to workloads alone
_OF_WORKLOADS = ("until", "own_replicas", "weights", "node_files", "price_label", "price_file")


def _weight_numbers(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...] | str | None:
    """Return the numbers of --weights, or OWN (a callback of click)."""
    if text is None or text == OWN:
        return text
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        problem = f"{text!r}: expected whole numbers separated by commas, or {OWN!r}"
        raise click.BadParameter(problem, ctx, option) from None


def _one_target(command: F) -> F:
    """Check, before the cluster is read, that the options fit together."""

    @functools.wraps(command)
    def with_one_target(*args: Any, **kwargs: Any) -> Any:
        if kwargs["until"] is not None and kwargs["own_replicas"]:
            raise click.UsageError("--until and --own-replicas exclude each other: give one of them")
        if not kwargs["files"] and any(kwargs[name] for name in _OF_WORKLOADS):
            raise click.UsageError("no workloads: add -f FILE; without workloads, only --pool-label applies")
        return command(*args, **kwargs)

    return with_one_target  # type: ignore[return-value]


@click.command("capacity")
@click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    metavar="FILE",
    help="Workloads: files, folders, -. Without -f: the free capacity of the cluster.",
)
@click.option(
    "--until",
    type=click.IntRange(1),
    metavar="N",
    help="Target: the number of replicas of each workload (or of rounds).",
)
@click.option("--own-replicas", is_flag=True, help="Target: each workload's own `replicas`.")
@click.option(
    "--weights",
    metavar="N,N...",
    help="Place the workloads in rounds, with these numbers of replicas in each round; 'own' takes each workload's own "
    "`replicas`. Without --weights, place one workload after the other, each as often as it fits.",
    callback=_weight_numbers,
)
@click.option("--pool-label", default="", metavar="KEY", help="Node label that holds the name of the node's pool.")
@click.option(
    "--node-template", "node_files", multiple=True, metavar="FILE", help="Node that may be added; may be repeated."
)
@click.option("--price-label", default="", metavar="KEY", help="Node label that holds the node's price.")
@click.option(
    "--prices", "price_file", metavar="FILE", help="CSV file of prices by the value of a label, such as instance types."
)
@_one_target
@model_options
@output_option
def capacity_command(
    files: tuple[str, ...],
    until: int | None,
    own_replicas: bool,
    weights: tuple[int, ...] | str | None,
    pool_label: str,
    node_files: tuple[str, ...],
    price_label: str,
    price_file: str | None,
    model: ClusterModel,
    output: OutputOptions,
) -> None:
    """Count how many more pods fit, and which nodes to add.

    LimitRanges, runtime classes and ResourceQuotas apply as in the API server. The answer names the resource that runs
    out first, and on how many nodes. With --until or --own-replicas, exit code 3 means that the target is not reached.
    Otherwise it means that at least one workload has no pod that fits.

    Without -f, the answer is the free capacity: the free amounts in total, by zone and by pool, the largest pod that
    fits, how many pods of the median size fit, and which amounts are stranded. Pending pods are not counted as placed.

    \b
    Examples:
      kubesched capacity                                        # free capacity of the cluster
      kubesched capacity -f my-app.yaml                         # how many fit
      kubesched capacity -f my-app.yaml --until 50              # do 50 fit? if not, which nodes to add?
      kubesched capacity -f web.yaml -f batch.yaml --weights 3,1 --from cluster.snapshot.gz
    """
    if not files:
        left = remaining(model, pool_label)
        print_answer(left, remaining_report(left), output)
        return
    templates = read_templates(model, read_manifests(files))
    options = CapacityOptions(
        until=until,
        own_replicas=own_replicas,
        weights=_weights(weights, templates),
        pool_label=pool_label,
        node_templates=_nodes(node_files),
        prices=_prices(price_label, price_file),
    )
    with _progress() as progress:
        answer = capacity(model, templates, options, progress)
    print_answer(answer, capacity_report(answer), output)
    sys.exit(0 if answer.fits else DOES_NOT_FIT)


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show how many pods are placed, on a terminal."""
    with Console(stderr=True).status("Counting") as status:
        yield lambda what, count: status.update(f"{what}: {count:,} pods placed")


def _weights(given: tuple[int, ...] | str | None, templates: WorkloadTemplates) -> tuple[int, ...]:
    if isinstance(given, str):
        return tuple(template.replicas for template in templates.templates)
    return given or ()


def _nodes(files: tuple[str, ...]) -> tuple[Node, ...]:
    found = []
    for manifest in read_manifests(files) if files else ():
        if manifest.kind != Node.__name__:
            raise InvalidObjectError(f"{manifest.named}: --node-template expects a Node")
        node = decode(manifest.document, manifest.place)
        assert isinstance(node, Node)
        if not node.status.allocatable:
            if not node.status.capacity:
                raise InvalidObjectError(
                    f"{manifest.named}: status.allocatable is missing: it holds the amounts that pods can use"
                )
            status = msgspec.structs.replace(node.status, allocatable=node.status.capacity)
            node = msgspec.structs.replace(node, status=status)
        found.append(node)
    return tuple(found)


def _prices(label: str, file: str | None) -> NodePrices:
    """Return the prices in a CSV file by label value. The header names the label and the column `price`."""
    if file is None:
        return NodePrices(label)
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise KubeschedError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    if not rows or len(rows[0]) < 2:
        raise KubeschedError(f"{file}: line 1: expected a label and 'price', such as {INSTANCE_TYPE},price")
    head = [cell.strip() for cell in rows[0]]
    if PRICE not in head and len(head) > 2:
        raise KubeschedError(f"{file}: line 1: no column is named {PRICE!r}; the columns are {', '.join(head)}")
    place = head.index(PRICE) if PRICE in head else len(head) - 1
    table = {}
    for line, row in enumerate(rows[1:], 2):
        if row:
            price = price_in(row[place]) if place < len(row) else None
            if price is None:
                found = f", found {row[place].strip()!r}" if place < len(row) else ""
                raise KubeschedError(f"{file}: line {line}: expected a price in column {head[place]!r}{found}")
            table[row[0].strip()] = price
    column = head[0] if "/" in head[0] else INSTANCE_TYPE
    return NodePrices(label, column, table)
