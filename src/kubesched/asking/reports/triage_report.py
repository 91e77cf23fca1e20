"""Reports about everything pending, and about a node.

From a `Triage` or a `NodeAnswer` to blocks.
"""

from collections.abc import Iterator, Mapping, Sequence

from kubesched.asking.explain.node_answer import NodeAnswer, PendingKind
from kubesched.asking.explain.pod_answer import GATED, SCHEDULABLE
from kubesched.asking.explain.triage_answer import PendingGroup, PodCount, Triage
from kubesched.asking.reports.blocks import Bars, Block, Facts, Paragraph, Report, Section, Table, Tone
from kubesched.asking.reports.explain_report import gaps_section

MOST_NAMED = 3
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))


# -- triage


def triage_report(answer: Triage) -> Report:
    """Return the report about everything pending."""
    lead: list[Block] = [Paragraph(answer.summary, Tone.BAD if answer.groups else Tone.GOOD)]
    sections = [_group(place, group) for place, group in enumerate(answer.groups, 1)]
    if answer.groups:
        fitting = sum(group.pods for group in answer.others if group.verdict == SCHEDULABLE)
        beside = f" Pods that fit ({fitting:,}) are counted as placed." if fitting else ""
        lead.append(Paragraph(f"Ordered by {answer.ordered_by}.{beside}", Tone.MUTED))
    if answer.others:
        rows = [
            (str(group.pods), _OTHERS.get(group.verdict, group.verdict), group.cause, _whose(group.owners), _age(group))
            for group in answer.others
        ]
        head = ("PODS", "STATE", "WHY", "WHOSE", "WAITING")
        sections.append(Section("Others", (Table(head, rows, numeric=frozenset({"PODS"})),)))
    return Report("Pending pods", lead, [*sections, *gaps_section(answer.gaps)])


_OTHERS = {SCHEDULABLE: "fits now", GATED: "held back"}


def _group(place: int, group: PendingGroup) -> Section:
    pods = f"{group.pods:,} pod{'s' * (group.pods != 1)}"
    return Section(f"{place}. {pods}: {group.cause}", (Facts(list(_facts(group))),))


def _facts(group: PendingGroup) -> Iterator[tuple[str, str]]:
    yield "whose", _whose(group.owners)
    if len(group.namespaces) > 1:
        yield "namespaces", _whose(group.namespaces)
    if age := _age(group):
        yield "waiting", f"{age}, since {group.since}"
    yield "requests", f"{amounts(group.requests)} ({group.share:.2%} of {group.share_of})"
    if group.nearest is not None:
        yield "nearest node", f"{group.nearest.node} {'; '.join(lack.message for lack in group.nearest.lacks)}"
    if group.preemption:
        yield "preemption", group.preemption
    if group.remedy is not None:
        tried = f"the {group.tried:,} that were tried" if group.tried != group.pods else f"{group.pods:,}"
        yield "what helps", f"{group.remedy.summary}, which helps {group.helps:,} of {tried}"
    yield "more", f"kubesched explain pod {group.example}"


def _whose(counts: Sequence[PodCount]) -> str:
    named = ", ".join(f"{each.name} ({each.pods:,})" for each in counts[:MOST_NAMED])
    more = len(counts) - MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def _age(group: PendingGroup) -> str:
    """Return how long the oldest pod of a group waits, in the largest unit."""
    seconds = group.waiting_seconds
    if seconds is None:
        return ""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(max(seconds, 0))}s"


def amounts(requests: Mapping[str, str]) -> str:
    """Return requests as a text: `2 cpu, 4Gi memory`."""
    return ", ".join(f"{amount} {name}" for name, amount in requests.items()) or "nothing"


# -- nodes


def node_report(answer: NodeAnswer) -> Report:
    """Return the report about a node."""
    lead: list[Block] = [Paragraph(answer.summary)]
    lead += [Paragraph(f"{notice[0].upper()}{notice[1:]}.", Tone.WARN) for notice in answer.notices]
    bars = [
        (each.resource, each.used, f"{each.requested} of {each.allocatable}, {each.free} free")
        for each in answer.resources
    ]
    sections = [Section("Resources", (Bars(bars, 1.0),))]
    if answer.pending:
        rows = [(kind.owner, str(kind.pods), amounts(kind.requests), _fit(kind)) for kind in answer.pending]
        table = Table(("PENDING", "PODS", "EACH REQUESTS", "FITS HERE"), rows, numeric=frozenset({"PODS"}))
        sections.append(Section("What would still fit", (table,)))
    if answer.pods:
        rows = [(pod.pod, pod.owner or "-", str(pod.priority), amounts(pod.requests)) for pod in answer.pods]
        table = Table(("POD", "OWNER", "PRIORITY", "REQUESTS"), rows, numeric=frozenset({"PRIORITY"}))
        sections.append(Section("What it holds", (table,)))
    return Report(f"Node {answer.node}", lead, [*sections, *gaps_section(answer.gaps)])


def _fit(kind: PendingKind) -> str:
    if kind.room_for:
        decides = f"; its pod group {kind.group} decides" if kind.group else ""
        return f"yes, {kind.room_for:,} of them{decides}"
    return f"no: {kind.message or '; '.join(lack.message for lack in kind.lacks)}"
