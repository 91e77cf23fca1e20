"""Reports about pods.

From the answer about a pod to blocks: the verdict, the reasons, the nearest nodes, remedies, preemption, waking
events, and the scores of its node.
"""

from collections.abc import Iterator, Sequence

from kubesched.model.attempt_answers import PlacementAnswer, PreemptionAnswer, PreemptionCandidate
from kubesched.model.gaps_report import gaps_section, unread_kinds
from kubesched.model.preempting import NOTHING
from kubesched.reports.blocks import Block, Cell, Facts, NameList, Paragraph, Report, Section, Table, Tone
from kubesched.reports.plain_words import number
from kubesched_answers.explain.pod_answer import (
    BOUND,
    ERROR,
    GATED,
    SCHEDULABLE,
    UNSCHEDULABLE,
    NearMiss,
    PodAnswer,
    PodGroupAnswer,
    PodWaits,
    Reason,
)
from kubesched_answers.reports.decisions_report import decisions_section, moment
from kubesched_answers.reports.remedy_items import remedy_items

MOST_OTHER_CANDIDATES = 3
MOST_VICTIMS_NAMED = 3
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
        lead.append(Paragraph(_without_empty_end(answer.message), Tone.MUTED))
    lead += unread_kinds(answer.gaps)
    facts = [
        ("owner", answer.owner or ""),
        ("priority", str(answer.priority) if answer.priority else ""),
        ("pod group", answer.pod_group or ""),
        ("nominated to", answer.nominated_node or ""),
    ]
    lead += [Facts(shown)] if (shown := [fact for fact in facts if fact[1]]) else []
    return Report(f"Pod {answer.pod}", lead, [*pod_sections(answer), *gaps_section(answer.gaps)])


def _without_empty_end(message: str) -> str:
    """Return the message of a pod's condition without the additions of PostFilter plugins that had nothing to do."""
    return message.removesuffix(f". {NOTHING}")


def pod_sections(answer: PodAnswer) -> Iterator[Section]:
    """Return the sections about a pod."""
    if answer.reasons:
        yield Section("Why", (_reasons(answer.reasons),))
    if answer.nearest:
        yield Section("Nearest nodes", (_nearest(answer.nearest),))
    if answer.group is not None:
        yield from _blocking(answer.pod, answer.group)
    if answer.remedies or answer.advice:
        advice = [Paragraph(f"{each[:1].upper()}{each[1:]}.") for each in answer.advice]
        yield Section("What helps", (*advice, *((remedy_items(answer.remedies),) if answer.remedies else ())))
    if answer.preemption is not None:
        yield Section("Preemption", list(_preemption(answer.preemption)))
    if answer.placement is not None:
        yield Section("Scores", list(_placement(answer.placement)))
    if answer.placed is not None and answer.placed.at is not None:
        yield Section(f"Scores when it was scheduled, {moment(answer.placed.at)}", list(_placement(answer.placed)))
    if answer.waits is not None:
        yield Section("Waits for", list(_waits(answer.waits)))
    yield from decisions_section(answer.decisions or ())


def _blocking(pod: str, group: PodGroupAnswer) -> Iterator[Section]:
    """Return the section about the first pod of the group without a node, if there is one."""
    blocking = group.blocking
    if blocking is None or blocking.pod == pod:
        return
    blocks: list[Block] = [Paragraph(blocking.message, Tone.MUTED)]
    blocks += [_reasons(blocking.reasons)] if blocking.reasons else []
    blocks += [_nearest(blocking.nearest)] if blocking.nearest else []
    yield Section(f"Pod {blocking.pod} of the group, the first without a place", blocks)


def _nearest(nearest: Sequence[NearMiss]) -> Table:
    rows = [(miss.node, "; ".join(lack.message for lack in miss.lacks)) for miss in nearest]
    return Table(("NODE", "LACKS"), rows, about="NODE")


def _reasons(reasons: tuple[Reason, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for reason in reasons:
        helps = "may help" if reason.preemption_may_help else "cannot help"
        rows.append((str(reason.count or ""), reason.message, reason.plugin, helps, NameList(reason.nodes)))
        rows += [(str(each.count), f"- by {each.term}", "", "", NameList(each.nodes)) for each in reason.terms]
    return Table(("NODES", "REASON", "PLUGIN", "PREEMPTION", "WHICH"), rows, numeric=frozenset({"NODES"}))


def _preemption(answer: PreemptionAnswer) -> Iterator[Block]:
    if not answer.helps:
        why = answer.message or "there is no pod to evict"
        yield Paragraph(f"It does not help: {why.removesuffix('.')}.")
        return
    yield Paragraph(f"It helps: {answer.message}.", Tone.GOOD)
    if not answer.candidates:
        return
    chosen, *others = answer.candidates
    rows = [
        (victim.pod, str(victim.priority), victim.owner or "-", ", ".join(victim.violates) or "-")
        for victim in chosen.victims
    ]
    yield Table(("VICTIM", "PRIORITY", "OWNER", "VIOLATES BUDGET"), rows, numeric=frozenset({"PRIORITY"}))
    if others:
        yield _other_candidates(others)
    more = answer.candidate_count - len(answer.candidates)
    if more > 0:
        yield Paragraph(f"{number(more, 'more node')} would do.", Tone.MUTED)


def _other_candidates(candidates: Sequence[PreemptionCandidate]) -> Table:
    rows = []
    for candidate in candidates:
        budgets = sorted({budget for victim in candidate.victims for budget in victim.violates})
        pods = NameList([victim.pod for victim in candidate.victims], MOST_VICTIMS_NAMED)
        rows.append((candidate.node, str(len(candidate.victims)), ", ".join(budgets) or "-", pods))
    columns = ("NODE", "PODS", "VIOLATES BUDGET", "VICTIMS")
    return Table(columns, rows, "Other nodes", frozenset({"PODS"}), MOST_OTHER_CANDIDATES, about="NODE")


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
