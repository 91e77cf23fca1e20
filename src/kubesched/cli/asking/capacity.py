"""`kubesched capacity`: how many more pods fit, what runs out first, which nodes to add?

In: a cluster, and manifests of workloads. Out: an answer, and exit code 0 (they fit), 3 (they do not) or 1 (an error).
"""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
import msgspec
from rich.console import Console

from kubesched.api.codec import decode
from kubesched.api.nodes import Node
from kubesched.asking.capacity.capacity import CapacityOptions, capacity
from kubesched.asking.capacity.filling import Progress
from kubesched.asking.capacity.node_kinds import INSTANCE_TYPE, NodePrices, price_in
from kubesched.asking.remaining.remaining import remaining
from kubesched.asking.reports.capacity_report import capacity_report
from kubesched.asking.reports.remaining_report import remaining_report
from kubesched.asking.sources.template_files import read_manifests
from kubesched.asking.templates.reading import WorkloadTemplates, read_templates
from kubesched.cli.asking.options import model_options
from kubesched.cli.output import OutputOptions, output_option, print_answer
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.model.cluster_model import ClusterModel

DOES_NOT_FIT = 3
OWN = "own"
PRICE = "price"


@click.command("capacity")
@click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    metavar="FILE",
    help="Workloads: files, folders, -. Without one: what is left of the cluster.",
)
@click.option("--until", type=click.IntRange(1), metavar="N", help="How many replicas of each (or rounds) are wanted.")
@click.option("--own-replicas", is_flag=True, help="Each workload's own replicas are wanted.")
@click.option(
    "--weights",
    metavar="N,N...",
    help="Place the workloads in rounds, so many replicas of each; 'own': as many as their own replicas. "
    "Without it one after the other, each as often as it fits.",
)
@click.option("--pool-label", default="", metavar="KEY", help="The label that names a node's pool.")
@click.option("--node-template", "node_files", multiple=True, metavar="FILE", help="Nodes that may be added.")
@click.option("--price-label", default="", metavar="KEY", help="The label of nodes that holds their price.")
@click.option(
    "--prices", "price_file", metavar="FILE", help="CSV with a column of a label's values (instance types) and prices."
)
@model_options
@output_option
def capacity_command(
    files: tuple[str, ...],
    until: int | None,
    own_replicas: bool,
    weights: str | None,
    pool_label: str,
    node_files: tuple[str, ...],
    price_label: str,
    price_file: str | None,
    model: ClusterModel,
    output: OutputOptions,
) -> None:
    """Count how many more pods fit, and which nodes to add.

    LimitRanges, runtime classes and ResourceQuotas count as the API server applies them.
    The answer names what runs out first, and on how many nodes. With --until or --own-replicas, exit code 3 means that
    the target is not reached; otherwise that not one pod of some workload fits.

    Without -f, the answer is what is left: the free amounts in all, by zone and by pool, the largest pod that fits, how
    many pods of the median size fit, and what is stranded. Pending pods are not counted as placed.

    \b
    Examples:
      kubesched capacity                                        # what is left of the cluster
      kubesched capacity -f my-app.yaml                         # how many fit
      kubesched capacity -f my-app.yaml --until 50              # do 50 fit, and which nodes to add if not
      kubesched capacity -f web.yaml -f batch.yaml --weights 3,1 --from cluster.snapshot.gz
    """
    if until is not None and own_replicas:
        raise click.UsageError("--until and --own-replicas are two targets; give one of them")
    if not files:
        if until is not None or own_replicas or weights is not None or node_files or price_label or price_file:
            raise click.UsageError("give the workloads with -f; without them, only --pool-label applies")
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


def _weights(text: str | None, templates: WorkloadTemplates) -> tuple[int, ...]:
    if text is None:
        return ()
    if text == OWN:
        return tuple(template.replicas for template in templates.templates)
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r}: whole numbers with commas between them, or {OWN!r}") from None


def _nodes(files: tuple[str, ...]) -> tuple[Node, ...]:
    found = []
    for manifest in read_manifests(files) if files else ():
        if manifest.kind != Node.__name__:
            raise InvalidObjectError(f"{manifest.named}: --node-template takes nodes")
        node = decode(manifest.document, manifest.place)
        assert isinstance(node, Node)
        if not node.status.allocatable:
            if not node.status.capacity:
                raise InvalidObjectError(f"{manifest.named}: status.allocatable: it says what a pod can take there")
            status = msgspec.structs.replace(node.status, allocatable=node.status.capacity)
            node = msgspec.structs.replace(node, status=status)
        found.append(node)
    return tuple(found)


def _prices(label: str, file: str | None) -> NodePrices:
    """Return the prices in a CSV file: the first column has the values of the label that names it, another `price`."""
    if file is None:
        return NodePrices(label)
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise KubeschedError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    if not rows or len(rows[0]) < 2:
        raise KubeschedError(f"{file}: line 1: a label and 'price' were expected, such as {INSTANCE_TYPE},price")
    head = [cell.strip() for cell in rows[0]]
    if PRICE not in head and len(head) > 2:
        raise KubeschedError(f"{file}: line 1: no column is named {PRICE!r}; there are {', '.join(head)}")
    place = head.index(PRICE) if PRICE in head else len(head) - 1
    table = {}
    for line, row in enumerate(rows[1:], 2):
        if row:
            price = price_in(row[place]) if place < len(row) else None
            if price is None:
                found = f", found {row[place].strip()!r}" if place < len(row) else ""
                raise KubeschedError(f"{file}: line {line}: a price was expected in column {head[place]!r}{found}")
            table[row[0].strip()] = price
    column = head[0] if "/" in head[0] else INSTANCE_TYPE
    return NodePrices(label, column, table)
