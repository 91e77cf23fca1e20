"""Reports about pods.

From the answer about a pod to blocks: the verdict, why, the nearest nodes, what helps, preemption, what it waits for,
and why it goes where it goes.
"""

from collections.abc import Iterator, Sequence

from kubesched.asking.cluster_objects import Gap
from kubesched.asking.explain.pod_answer import (
    BOUND,
    ERROR,
    GATED,
    SCHEDULABLE,
    UNSCHEDULABLE,
    NearMiss,
    PlacementAnswer,
    PodAnswer,
    PodGroupAnswer,
    PodWaits,
    PreemptionAnswer,
    Reason,
)
from kubesched.asking.reports.blocks import Block, Facts, Paragraph, Report, Section, Table, Tone
from kubesched.asking.reports.decisions_report import decisions_section, moment
from kubesched.asking.reports.remedy_items import remedy_items

MOST_NODES_NAMED = 5
_TONES = {
    SCHEDULABLE: Tone.GOOD,
    BOUND: Tone.GOOD,
    UNSCHEDULABLE: Tone.BAD,
    GATED: Tone.BAD,
    ERROR: Tone.BAD,
}


def pod_report(answer: PodAnswer) -> Report:
    """Return the report about one pod."""
    lead: list[Block] = [Paragraph(answer.summary, _TONES.get(answer.verdict, Tone.PLAIN))]
    if answer.message:
        lead.append(Paragraph(answer.message, Tone.MUTED))
    facts = [
        ("owner", answer.owner or ""),
        ("priority", str(answer.priority) if answer.priority else ""),
        ("pod group", answer.pod_group or ""),
        ("nominated to", answer.nominated_node or ""),
    ]
    lead += [Facts(shown)] if (shown := [fact for fact in facts if fact[1]]) else []
    return Report(f"Pod {answer.pod}", lead, list(_sections(answer)))


def _sections(answer: PodAnswer) -> Iterator[Section]:
    if answer.reasons:
        yield Section("Why", (_reasons(answer.reasons),))
    if answer.nearest:
        yield Section("Nearest nodes", (_nearest(answer.nearest),))
    if answer.group is not None:
        yield from _blocking(answer.pod, answer.group)
    if answer.remedies:
        yield Section("What helps", (remedy_items(answer.remedies),))
    if answer.preemption is not None:
        yield Section("Preemption", list(_preemption(answer.preemption)))
    if answer.placement is not None:
        yield Section("Scores", list(_placement(answer.placement)))
    if answer.placed is not None and answer.placed.at is not None:
        yield Section(f"Scores when it was scheduled, {moment(answer.placed.at)}", list(_placement(answer.placed)))
    if answer.waits is not None:
        yield Section("Waits for", list(_waits(answer.waits)))
    yield from decisions_section(answer.decisions or ())
    yield from gaps_section(answer.gaps)


def _blocking(pod: str, group: PodGroupAnswer) -> Iterator[Section]:
    """Return the section about another pod of the group that is in the way, if there is one."""
    blocking = group.blocking
    if blocking is None or blocking.pod == pod:
        return
    blocks: list[Block] = [Paragraph(blocking.message, Tone.MUTED)]
    blocks += [_reasons(blocking.reasons)] if blocking.reasons else []
    blocks += [_nearest(blocking.nearest)] if blocking.nearest else []
    yield Section(f"Pod {blocking.pod} of the group, the first without a place", blocks)


def gaps_section(gaps: Sequence[Gap]) -> Iterator[Section]:
    """Return the section about what could not be read, if there is any."""
    if gaps:
        rows = [(gap.what, gap.why, gap.uncertain) for gap in gaps]
        yield Section("Not known", (Table(("WHAT", "WHY", "UNCERTAIN"), rows),))


def _nearest(nearest: Sequence[NearMiss]) -> Table:
    rows = [(miss.node, "; ".join(lack.message for lack in miss.lacks)) for miss in nearest]
    return Table(("NODE", "LACKS"), rows)


def _reasons(reasons: tuple[Reason, ...]) -> Table:
    rows: list[tuple[str, ...]] = []
    for reason in reasons:
        helps = "may help" if reason.preemption_may_help else "cannot help"
        rows.append((str(reason.count or ""), reason.message, reason.plugin, helps, named(reason.nodes)))
        rows += [(str(each.count), f"- by {each.term}", "", "", named(each.nodes)) for each in reason.terms]
    return Table(("NODES", "REASON", "PLUGIN", "PREEMPTION", "WHICH"), rows, numeric=frozenset({"NODES"}))


def _preemption(answer: PreemptionAnswer) -> Iterator[Block]:
    if not answer.helps:
        yield Paragraph(f"It does not help: {answer.message or 'there is no pod to evict'}")
        return
    yield Paragraph(f"It helps: {answer.message}.", Tone.GOOD)
    rows = [
        (
            candidate.node,
            f"{victim.pod} (priority {victim.priority}{f', {victim.owner}' if victim.owner else ''})",
            ", ".join(victim.violates) or "-",
        )
        for candidate in answer.candidates
        for victim in candidate.victims
    ]
    yield Table(("NODE", "VICTIM", "VIOLATES BUDGET"), rows)
    more = answer.candidate_count - len(answer.candidates)
    if more > 0:
        yield Paragraph(f"{more:,} more nodes would do.", Tone.MUTED)


def _placement(answer: PlacementAnswer) -> Iterator[Block]:
    nodes = ([answer.chosen] if answer.chosen is not None else []) + list(answer.runners_up)
    if nodes:
        plugins = [plugin for plugin in nodes[0].scores if any(node.scores[plugin] for node in nodes)]
        head = ("PLUGIN", *(node.node for node in nodes))
        rows = [(plugin, *(str(node.scores[plugin]) for node in nodes)) for plugin in plugins]
        rows.append(("total", *(str(node.total) for node in nodes)))
        rows.append(("rank", *(str(node.rank) for node in nodes)))
        yield Table(head, rows, numeric=frozenset(head[1:]))
    yield Paragraph(f"What {'decides' if answer.at is None else 'decided'}: {answer.decided_by}.")


def _waits(waits: PodWaits) -> Iterator[Block]:
    if waits.events:
        plugins: dict[tuple[str, str], list[str]] = {}
        for each in waits.events:
            plugins.setdefault((each.meaning, each.event), []).append(each.plugin)
        rows = [(meaning, event, ", ".join(names)) for (meaning, event), names in plugins.items()]
        yield Table(("WHEN", "EVENT", "PLUGINS"), rows)
    else:
        yield Paragraph("No plugin waits for an event.")
    facts = [
        ("attempts", str(waits.attempts) if waits.attempts is not None else ""),
        ("backoff left", f"{waits.backoff_seconds:g} s" if waits.backoff_seconds is not None else ""),
        (
            "tried again at the latest",
            f"{waits.at_latest_seconds:g} s after an attempt" if waits.at_latest_seconds else "",
        ),
    ]
    if shown := [fact for fact in facts if fact[1]]:
        yield Facts(shown)


def named(names: tuple[str, ...]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - MOST_NODES_NAMED
    return ", ".join(names[:MOST_NODES_NAMED]) + (f" and {more:,} more" if more > 0 else "")
