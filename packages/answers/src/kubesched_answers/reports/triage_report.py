"""Reports about all pending pods, and about a node.

From a `Triage` or a `NodeAnswer` to blocks.
"""

from collections.abc import Iterator, Sequence

from kubesched.model.gaps_report import gaps_section, unread_kinds
from kubesched.reports.blocks import (
    Bars,
    Block,
    Cell,
    Details,
    Facts,
    NameList,
    Paragraph,
    Report,
    Section,
    Table,
    Tone,
)
from kubesched.reports.plain_words import number
from kubesched_answers.amounts import amount_of, amount_texts, requests_text
from kubesched_answers.explain.node_answer import NodeAnswer, NodeResource, PendingKind
from kubesched_answers.explain.pod_answer import GATED, SCHEDULABLE
from kubesched_answers.explain.triage_answer import PendingGroup, PodCount, Triage

MOST_NAMED = 3
# causes that a terminal shows in full
MOST_CAUSES = 8
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))


# -- triage


def triage_report(answer: Triage) -> Report:
    """Return the report about all pending pods."""
    lead: list[Block] = [Paragraph(answer.summary, Tone.BAD if answer.groups else Tone.GOOD)]
    if answer.groups:
        fitting = sum(group.pods for group in answer.others if group.verdict == SCHEDULABLE)
        beside = f" {number(fitting, 'pod')} that {_fit_verb(fitting)} counted as placed." if fitting else ""
        lead.append(Paragraph(f"The costliest cause is first.{beside}", Tone.MUTED))
    lead += unread_kinds(answer.gaps)
    sections = [*groups_sections(answer.groups), *other_groups_section(answer.others)]
    return Report("Pending pods", lead, [*sections, *gaps_section(answer.gaps)])


def groups_sections(groups: Sequence[PendingGroup]) -> Iterator[Section]:
    """Return a section for each cause; with very many causes, the less costly ones are rows of a table."""
    first, less = groups[:MOST_CAUSES], groups[MOST_CAUSES:]
    yield from (_group(place, group) for place, group in enumerate(first, 1))
    if less:
        rows = [
            (str(place), str(group.pods), group.cause, NameList(_counts(group.owners), MOST_NAMED), _help(group))
            for place, group in enumerate(less, len(first) + 1)
        ]
        table = Table(("CAUSE", "PODS", "WHY", "WHOSE", "WHAT HELPS"), rows, numeric=frozenset({"CAUSE", "PODS"}))
        details = [
            Details(_heading(place, group), (Facts(list(_facts(group))),))
            for place, group in enumerate(less, len(first) + 1)
        ]
        yield Section(f"{number(len(less), 'less costly cause')}", [table, *details])


def other_groups_section(groups: Sequence[PendingGroup]) -> Iterator[Section]:
    """Return the section about pending pods without a problem, if there are any."""
    if groups:
        rows = [
            (
                str(group.pods),
                _OTHERS.get(group.verdict, group.verdict),
                group.cause,
                NameList(_counts(group.owners), MOST_NAMED),
                _age(group),
            )
            for group in groups
        ]
        head = ("PODS", "STATE", "WHY", "WHOSE", "WAITING")
        yield Section("Others", (Table(head, rows, numeric=frozenset({"PODS"})),))


_OTHERS = {SCHEDULABLE: "fits now", GATED: "held back"}


def _fit_verb(pods: int) -> str:
    return "fits is" if pods == 1 else "fit are"


def _group(place: int, group: PendingGroup) -> Section:
    return Section(_heading(place, group), (Facts(list(_facts(group))),))


def _heading(place: int, group: PendingGroup) -> str:
    return f"{place}. {number(group.pods, 'pod')}: {group.cause}"


def _facts(group: PendingGroup) -> Iterator[tuple[str, Cell]]:
    yield "whose", NameList(_counts(group.owners), MOST_NAMED)
    if len(group.namespaces) > 1:
        yield "namespaces", NameList(_counts(group.namespaces), MOST_NAMED)
    if age := _age(group):
        yield "waiting", f"{age}, since {group.since}"
    together = " in all" if group.pods > 1 else ""
    yield "requests", f"{requests_text(group.requests)}{together} ({group.share:.2%} of {group.share_of})"
    if group.nearest is not None:
        yield "nearest node", f"{group.nearest.node} {'; '.join(lack.message for lack in group.nearest.lacks)}"
    if group.preemption:
        yield "preemption", f"{f'for pod {group.example}: ' if group.pods > 1 else ''}{group.preemption}"
    if group.remedy is not None:
        yield "what helps", _help(group)
    yield "more", f"kubesched explain pod {group.example}"


def _help(group: PendingGroup) -> str:
    """Return the remedy of a group, and how many of its pods it helps."""
    if group.remedy is None:
        return group.preemption or "-"
    if group.pods == group.helps == 1:
        return group.remedy.summary
    if group.helps == group.pods:
        return f"{group.remedy.summary}, which helps all {group.pods:,}"
    tried = f"the {group.tried:,} that were tried" if group.tried != group.pods else f"{group.pods:,}"
    return f"{group.remedy.summary}, which helps {group.helps:,} of {tried}"


def _counts(counts: Sequence[PodCount]) -> list[str]:
    return [f"{each.name} ({each.pods:,})" for each in counts]


def _age(group: PendingGroup) -> str:
    """Return the waiting time of a group's oldest pod, in the largest unit."""
    seconds = group.waiting_seconds
    if seconds is None:
        return ""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(max(seconds, 0))}s"


# -- nodes


def node_report(answer: NodeAnswer) -> Report:
    """Return the report about a node."""
    lead: list[Block] = [Paragraph(answer.summary)]
    lead += [Paragraph(f"{notice[0].upper()}{notice[1:]}.", Tone.WARN) for notice in answer.notices]
    lead += unread_kinds(answer.gaps)
    bars = [(each.resource, each.used, _use(each)) for each in answer.resources]
    sections = [Section("Resources", (Bars(bars, 1.0),))]
    if answer.pending:
        rows = [(kind.owner, str(kind.pods), requests_text(kind.requests), _fit(kind)) for kind in answer.pending]
        table = Table(("PENDING", "PODS", "EACH REQUESTS", "FITS HERE"), rows, numeric=frozenset({"PODS"}))
        sections.append(Section("What would still fit", (table,)))
    if answer.pods:
        rows = [(pod.pod, pod.owner or "-", str(pod.priority), requests_text(pod.requests)) for pod in answer.pods]
        table = Table(("POD", "OWNER", "PRIORITY", "REQUESTS"), rows, numeric=frozenset({"PRIORITY"}), about="POD")
        sections.append(Section("What it holds", (table,)))
    return Report(f"Node {answer.node}", lead, [*sections, *gaps_section(answer.gaps)])


def _use(of: NodeResource) -> str:
    requested, allocatable, free = amount_texts(
        of.resource, *(amount_of(of.resource, text) for text in (of.requested, of.allocatable, of.free))
    )
    return f"{requested} of {allocatable}, {free} free"


def _fit(kind: PendingKind) -> str:
    if kind.room_for:
        decides = f"; its pod group {kind.group} decides" if kind.group else ""
        return f"yes, {kind.room_for:,} of them{decides}"
    return f"no: {kind.message or '; '.join(lack.message for lack in kind.lacks)}"
