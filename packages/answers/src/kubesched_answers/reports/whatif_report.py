"""Reports of what-if questions.

From answers of `whatif`, its comparison and its consolidation to reports.
"""

from collections.abc import Iterable, Sequence

from kubesched.model.gaps_report import gaps_section, unread_kinds
from kubesched.reports.blocks import Block, Cell, NameList, Paragraph, Report, Section, Table, Tone
from kubesched_answers.amounts import amount_text, use_text
from kubesched_answers.whatif.whatif_answer import (
    BECOMES_BOUND,
    BECOMES_PENDING,
    DELETED,
    LOST,
    MOVES,
    NEW,
    NEW_PENDING,
    REPLACED,
    STAYS_PENDING,
    ClusterMeasures,
    ComparedNode,
    ComparisonAnswer,
    ConsolidationAnswer,
    EmptiedNode,
    OwnerSpread,
    PlacementDifference,
    PodChange,
    ResourceUse,
    WhatIfAnswer,
    WhatIfStep,
)

_CHANGES = {
    BECOMES_PENDING: "becomes pending",
    LOST: "is lost",
    NEW_PENDING: "new, pending",
    DELETED: "is deleted",
    MOVES: "moves",
    BECOMES_BOUND: "becomes bound",
    NEW: "new",
    REPLACED: "replaced on its node",
}


def whatif_report(answer: WhatIfAnswer) -> Report:
    """Return the report of tried operations."""
    lead: list[Block] = [Paragraph(answer.summary, Tone.GOOD if answer.fits else Tone.BAD), *unread_kinds(answer.gaps)]
    sections = [Section("Steps", _steps(answer.steps))] if answer.steps else []
    sections += _unfinished(answer)
    sections += _pods(answer.changes)
    if answer.anyway:
        sections.append(Section("What happens anyway", (_changed(answer.anyway),)))
    sections.append(Section("Cluster", (_measures(("BEFORE", "AFTER"), (answer.before, answer.after)),)))
    if len(answer.before.zones) > 1:
        sections.append(Section("Zones", (_zones(answer.before, answer.after),)))
    if answer.spread and answer.before.spread.zones > 1:
        sections.append(Section("Spread over zones", _spread(answer.spread)))
    return Report("What if", lead, [*sections, *gaps_section(answer.gaps)])


def comparison_report(answer: ComparisonAnswer) -> Report:
    """Return the comparison of two configurations on the same pods."""
    names = answer.first.name, answer.second.name
    if names[0] == names[1]:
        names = f"{names[0]} (1)", f"{names[1]} (2)"
    lead: list[Block] = [Paragraph(answer.summary, Tone.GOOD if answer.fits else Tone.BAD), *unread_kinds(answer.gaps)]
    sections = [Section("Steps", _steps(answer.steps))] if answer.steps else []
    if answer.differences:
        rows = [
            (each.pod, each.first_node or "pending", each.second_node or "pending", _why_different(each))
            for each in answer.differences
        ]
        sections.append(Section("Placements that differ", (Table(("POD", *names, "WHY"), rows),)))
    table = _measures(names, (answer.first.after, answer.second.after))
    counts = ("pods scheduled", str(answer.first.scheduled), str(answer.second.scheduled))
    sections.append(Section("In sum", (Table(table.columns, [counts, *table.rows], numeric=table.numeric),)))
    return Report("Two configurations", lead, [*sections, *gaps_section(answer.gaps)])


def consolidation_report(answer: ConsolidationAnswer) -> Report:
    """Return the report of the nodes that can be emptied."""
    lead: list[Block] = [Paragraph(answer.summary, Tone.GOOD if answer.fits else Tone.BAD), *unread_kinds(answer.gaps)]
    sections = []
    if answer.emptied:
        freed = f"{amount_text('cpu', answer.freed_cpu)} cpu and {amount_text('memory', answer.freed_memory)} memory"
        lead.append(Paragraph(f"That frees {freed}. Cordon all of them first, then drain in this order."))
        rows = [
            (str(number), each.node, amount_text("cpu", each.cpu), amount_text("memory", each.memory), _moves(each))
            for number, each in enumerate(answer.emptied, 1)
        ]
        columns = ("STEP", "NODE", "CPU", "MEMORY", "PODS AND THEIR NEW NODES")
        sections.append(
            Section(
                "Nodes to empty", (Table(columns, rows, numeric=frozenset(columns[:1] + columns[2:4]), about="NODE"),)
            )
        )
    if answer.kept:
        rows_kept = [(each.node, each.why) for each in answer.kept]
        sections.append(Section("Nodes that stay", (Table(("NODE", "WHY"), rows_kept, about="NODE"),)))
    sections.append(Section("Cluster", (_measures(("BEFORE", "AFTER"), (answer.before, answer.after)),)))
    return Report("Consolidation", lead, [*sections, *gaps_section(answer.gaps)])


def _moves(emptied: EmptiedNode) -> Cell:
    moves = [f"{move.pod} to {move.to_node}" for each in emptied.rounds for move in each]
    return NameList(moves) if moves else "nothing to move"


def _why_different(difference: PlacementDifference) -> str:
    """Return the plugins whose scores differ most between the two nodes, under each configuration."""
    texts = []
    for scores in (difference.first_scores, difference.second_scores):
        if len(scores) == 2:
            texts.append(_score_gap(scores[0], scores[1]))
    messages = [message for message in (difference.first_message, difference.second_message) if message]
    return "; ".join([*dict.fromkeys(text for text in texts if text), *messages])


def _score_gap(one: ComparedNode, other: ComparedNode) -> str:
    if one.total is None or other.total is None:
        missing = one.node if one.total is None else other.node
        return f"{missing} is not feasible"
    gaps = {plugin: score - other.scores.get(plugin, 0) for plugin, score in one.scores.items()}
    largest = sorted((gap for gap in gaps.items() if gap[1]), key=lambda gap: (-abs(gap[1]), gap[0]))[:2]
    named = ", ".join(f"{plugin} {gap:+d}" for plugin, gap in largest)
    return f"{one.total} against {other.total}" + (f" ({named})" if named else "")


def _steps(steps: Sequence[WhatIfStep]) -> list[Block]:
    rows = [(str(number), step.operation, step.message) for number, step in enumerate(steps, 1)]
    blocks: list[Block] = [Table(("STEP", "OPERATION", "RESULT"), rows, numeric=frozenset({"STEP"}))]
    rounds = [each for step in steps for each in step.rounds]
    if rounds:
        evicted = [(each.node, str(each.number), NameList(each.pods)) for each in rounds]
        blocks.append(
            Table(("NODE", "ROUND", "EVICTED"), evicted, "Order of the drain", frozenset({"ROUND"}), about="NODE")
        )
    held_up = [each for step in steps for each in step.held_up]
    if held_up:
        shown_budgets = [(each.pod, each.node, ", ".join(each.budgets), each.message) for each in held_up]
        blocks.append(Table(("POD", "NODE", "BUDGET", "WHY"), shown_budgets, "Held up by budgets"))
    refused = [each for step in steps for each in step.refused]
    left = [each for step in steps for each in step.left]
    for pods, title in ((refused, "Nodes that kubectl drain refuses"), (left, "Left on their nodes")):
        if pods:
            shown = [(each.pod, each.node, each.why) for each in pods]
            blocks.append(Table(("POD", "NODE", "WHY"), shown, title))
    return blocks


def _pods(changes: Sequence[PodChange]) -> list[Section]:
    """Return the changes, pod by pod; pods that stay pending are counted by their message."""
    changed = [each for each in changes if each.change != STAYS_PENDING]
    sections = [Section("Pods", (_changed(changed),))] if changed else []
    waiting: dict[str, list[str]] = {}
    for each in changes:
        if each.change == STAYS_PENDING:
            waiting.setdefault(_why(each), []).append(each.pod)
    if waiting:
        groups = sorted(waiting.items(), key=lambda group: (-len(group[1]), group[1][0]))
        counted = [(str(len(pods)), why, NameList(pods, 1)) for why, pods in groups]
        columns = ("PODS", "WHY", "WHICH")
        sections.append(Section("Pending as before", (Table(columns, counted, numeric=frozenset({"PODS"})),)))
    return sections


def _changed(changes: Sequence[PodChange]) -> Table:
    """Return the table of pods that change."""
    order = {kind: number for number, kind in enumerate(_CHANGES)}
    rows = [
        (each.pod, _CHANGES[each.change], each.from_node or "", each.to_node or "", _why(each))
        for each in sorted(changes, key=lambda each: (order[each.change], each.pod))
    ]
    return Table(("POD", "CHANGE", "FROM", "TO", "WHY"), rows, about="POD")


def _unfinished(answer: WhatIfAnswer) -> list[Section]:
    """Return the table of unfinished workloads."""
    rows = [(each.workload, each.message, NameList(each.pods)) for each in answer.unfinished]
    return [Section("Unfinished", (Table(("WORKLOAD", "WHY", "PENDING PODS"), rows),))] if rows else []


def _why(change: PodChange) -> str:
    """Return the preemptor of a pod, and why it has no place, without preemption's message."""
    message = (change.message or "").partition(". ")[0].removesuffix(".")
    parts = [f"preempted by {change.preempted_by}" if change.preempted_by else "", message]
    return "; ".join(part for part in parts if part)


def _measures(names: tuple[str, str], measures: tuple[ClusterMeasures, ClusterMeasures]) -> Table:
    one, other = measures
    rows = [
        ("nodes", str(one.nodes), str(other.nodes)),
        ("pods on nodes", str(one.placed), str(other.placed)),
        ("pods pending", str(one.pending), str(other.pending)),
        *((f"{name} requested", before, after) for name, before, after in _uses(one.uses, other.uses)),
        ("largest pod: cpu", *(amount_text("cpu", each.fragmentation.largest_cpu) for each in measures)),
        ("largest pod: memory", *(amount_text("memory", each.fragmentation.largest_memory) for each in measures)),
        ("stranded cpu", *(amount_text("cpu", each.fragmentation.stranded_cpu) for each in measures)),
        ("stranded memory", *(amount_text("memory", each.fragmentation.stranded_memory) for each in measures)),
        ("mean skew over zones", *(f"{each.spread.mean_skew:g}" for each in measures)),
        ("worst skew over zones", *(str(each.spread.worst_skew) for each in measures)),
    ]
    return Table(("", *names), rows, numeric=frozenset(names))


def _zones(before: ClusterMeasures, after: ClusterMeasures) -> Table:
    old = {each.zone: each for each in before.zones}
    new = {each.zone: each for each in after.zones}
    rows = []
    for zone in sorted({*old, *new}):
        uses = _uses(old[zone].uses if zone in old else (), new[zone].uses if zone in new else ())
        rows += [(zone, name, one, other) for name, one, other in uses]
    return Table(("ZONE", "RESOURCE", "BEFORE", "AFTER"), rows, numeric=frozenset({"BEFORE", "AFTER"}))


def _spread(spread: Sequence[OwnerSpread]) -> list[Block]:
    rows = [
        (each.owner, _counts(each.before), _counts(each.after), str(each.skew_before), str(each.skew_after))
        for each in spread
    ]
    columns = ("OWNER", "BEFORE", "AFTER", "SKEW BEFORE", "SKEW AFTER")
    return [Table(columns, rows, numeric=frozenset(columns[3:]))]


def _counts(zones: object) -> str:
    assert isinstance(zones, dict)
    return " ".join(f"{zone}:{number}" for zone, number in sorted(zones.items())) or "none"


def _uses(before: Sequence[ResourceUse], after: Sequence[ResourceUse]) -> Iterable[tuple[str, str, str]]:
    old = {use.resource: use for use in before}
    new = {use.resource: use for use in after}
    for name in dict.fromkeys([*old, *new]):
        yield name, _use(old.get(name)), _use(new.get(name))


def _use(use: ResourceUse | None) -> str:
    if use is None:
        return ""
    share = f" ({use.requested / use.allocatable:.0%})" if use.allocatable else ""
    return f"{use_text(use.resource, use.requested, use.allocatable)}{share}"
