"""Reports about capacity.

From the answer about templates to blocks: how many replicas fit and where, the limits of the nodes, the largest pod,
and the nodes to add.
"""

from collections.abc import Iterator, Sequence

from kubesched.core.plugins.node_resources.fit import NodeResourcesFit
from kubesched.model.gaps_report import gaps_section, unread_kinds
from kubesched.reports.blocks import Bars, Block, Paragraph, Report, Section, Table, Tone
from kubesched_answers.amounts import requests_text, rounded_down
from kubesched_answers.capacity.capacity_answer import (
    CapacityAnswer,
    LargestPod,
    NodeLimit,
    NodePlan,
    PlaceCapacity,
    TemplateCapacity,
)
from kubesched_answers.capacity.sentences import nodes_text, number, plan_text, replicas_text

NO_VALUE = "(none)"


def capacity_report(answer: CapacityAnswer) -> Report:
    """Return the report about capacity."""
    lead: list[Block] = [Paragraph(answer.summary, Tone.GOOD if answer.fits else Tone.BAD)]
    for part in answer.templates:
        if part.message:
            lead.append(Paragraph(f"{_prefix(answer, part)}{part.message}", Tone.MUTED))
    lead += unread_kinds(answer.gaps)
    title = f"Capacity for {', '.join(part.template for part in answer.templates)}"
    return Report(title, lead, list(_sections(answer)))


def _sections(answer: CapacityAnswer) -> Iterator[Section]:
    yield Section("Replicas", (_replicas(answer),))
    for part in answer.templates:
        heading = f" of {part.template}" if len(answer.templates) > 1 else ""
        if part.limits:
            title = f"Nodes by what limits them{heading and f', replicas{heading}'}"
            yield Section(title, (limit_bars(part, answer.node_count),))
        if part.zones and (len(part.zones) > 1 or part.zones[0].name):
            yield Section(f"Zones{heading}", (_places("ZONE", part.zones),))
        if part.pools:
            yield Section(f"Pools{heading} (label {answer.pool_label})", (_places("POOL", part.pools),))
        if part.largest:
            yield Section(f"Largest pod{heading}", (largest_pods(part.largest),))
    if answer.plans:
        yield Section("Nodes to add", (_plans(answer.plans),))
    if answer.useless:
        useless = [(each.kind, each.reason) for each in answer.useless]
        yield Section("Nodes that do not help", (Table(("KIND", "WHY"), useless),))
    yield from gaps_section(answer.gaps)


def limit_bars(part: TemplateCapacity, nodes: int) -> Bars:
    """Return a cell about the reason that limits the replicas on a number of nodes."""
    rows = [
        (_limit(limit), float(limit.nodes), f"{nodes_text(limit.nodes)}, {replicas_text(limit.replicas)}")
        for limit in part.limits
    ]
    return Bars(rows, nodes)


def _limit(limit: NodeLimit) -> str:
    """Return why nodes take no more; for a node that is too small, the text reports that."""
    too_small = limit.plugin == NodeResourcesFit.name and not limit.exhausted
    return f"{limit.reason}, even if empty" if too_small else limit.reason


def _replicas(answer: CapacityAnswer) -> Table:
    columns = ["TEMPLATE", "REQUESTS", "FIT"]
    targets = any(part.wanted is not None for part in answer.templates)
    weights = any(part.weight is not None for part in answer.templates)
    columns += ["WANTED"] * targets + ["WEIGHT"] * weights
    rows = [
        [
            part.template,
            requests_text(part.requests),
            ("at least " if part.open_end else "") + number(part.replicas),
            *([number(part.wanted) if part.wanted is not None else "-"] * targets),
            *([str(part.weight)] * weights),
        ]
        for part in answer.templates
    ]
    return Table(columns, rows, numeric=frozenset({"FIT", "WANTED", "WEIGHT"}))


def _places(head: str, places: Sequence[PlaceCapacity]) -> Table:
    rows = [(place.name or NO_VALUE, number(place.nodes), number(place.replicas)) for place in places]
    return Table((head, "NODES", "REPLICAS"), rows, numeric=frozenset({"NODES", "REPLICAS"}))


def largest_pods(largest: Sequence[LargestPod]) -> Table:
    """Return the largest pods that fit."""
    rows = [
        (
            f"{each.grown} (x {each.scale:g})" if each.scale is not None else f"{each.grown} alone",
            # rounded down, so that the printed size fits
            requests_text(each.requests, rounded_down),
            each.node,
        )
        for each in largest
    ]
    return Table(("LARGER", "REQUESTS", "FITS ON"), rows)


def _plans(plans: Sequence[NodePlan]) -> Table:
    priced = any(plan.price is not None for plan in plans)
    rows = [
        (plan_text(plan), number(plan.nodes), *([f"{plan.price:g}" if plan.price is not None else "unknown"] * priced))
        for plan in plans
    ]
    return Table(("ADD", "NODES", *(["PRICE"] * priced)), rows, numeric=frozenset({"NODES", "PRICE"}))


def _prefix(answer: CapacityAnswer, part: TemplateCapacity) -> str:
    return f"{part.template}: " if len(answer.templates) > 1 else ""
