"""Reports about the free capacity of a cluster.

From a `RemainingAnswer` to blocks: totals, zones and pools, the limits of typical pods, and the largest pod.
"""

from collections.abc import Iterator, Sequence

from kubesched.model.gaps_report import gaps_section, unread_kinds
from kubesched.reports.blocks import Bars, Block, Paragraph, Report, Section, Table, Tone
from kubesched_answers.amounts import amount_of, quantity_text, use_text
from kubesched_answers.remaining.remaining_answer import RemainingAnswer, RemainingPlace, RemainingResource
from kubesched_answers.reports.capacity_report import NO_VALUE, largest_pods, limit_bars


def remaining_report(answer: RemainingAnswer) -> Report:
    """Return the report about the free capacity."""
    fits = answer.typical is not None and answer.typical.replicas > 0
    lead: list[Block] = [Paragraph(answer.summary, Tone.GOOD if fits else Tone.BAD), *unread_kinds(answer.gaps)]
    return Report("What is left", lead, [*_sections(answer), *gaps_section(answer.gaps)])


def _sections(answer: RemainingAnswer) -> Iterator[Section]:
    if not answer.nodes:
        return
    yield Section("Requested", (Bars([_bar(each) for each in answer.resources], 1.0),))
    yield Section("Free", (_free(answer.resources), *_meaning(answer)))
    if answer.typical is not None and answer.typical.largest:
        yield Section("Largest pod without tolerations", (largest_pods(answer.typical.largest),))
    if len(answer.zones) > 1:
        yield Section("Free by zone", (_places("ZONE", answer.zones),))
    if len(answer.pools) > 1:
        yield Section(f"Free by pool (label {answer.pool_label})", (_places("POOL", answer.pools),))
    if answer.typical is not None and answer.typical.limits:
        yield Section("Nodes by what limits pods of the median size", (limit_bars(answer.typical, answer.nodes),))


def _bar(of: RemainingResource) -> tuple[str, float, str]:
    requested, allocatable = (amount_of(of.resource, raw) for raw in (of.requested, of.allocatable))
    share = requested / allocatable if allocatable else 1.0
    return of.resource, share, f"{use_text(of.resource, requested, allocatable)} ({share:.0%})"


def _free(resources: Sequence[RemainingResource]) -> Table:
    rows = [
        (
            each.resource,
            *(quantity_text(each.resource, raw) for raw in (each.free, each.closed, each.stranded, each.largest)),
            each.largest_node,
        )
        for each in resources
    ]
    columns = ("RESOURCE", "FREE", "CLOSED", "STRANDED", "MOST ON ONE NODE", "NODE")
    return Table(columns, rows, numeric=frozenset(columns[1:5]))


def _meaning(answer: RemainingAnswer) -> Iterator[Paragraph]:
    words = []
    if answer.closed_nodes:
        words.append("Closed: free on nodes that take no pod without tolerations.")
    words.append("Stranded: free on other nodes, each too small for a pod of the median size.")
    yield Paragraph(" ".join(words), Tone.MUTED)


def _places(head: str, places: Sequence[RemainingPlace]) -> Table:
    names = list(places[0].allocatable)
    rows = [(place.name or NO_VALUE, str(place.nodes), *(_free_of(place, name) for name in names)) for place in places]
    columns = (head, "NODES", *names)
    return Table(columns, rows, numeric=frozenset(columns[1:]))


def _free_of(place: RemainingPlace, name: str) -> str:
    free, allocatable = (amount_of(name, raws.get(name, "0")) for raws in (place.free, place.allocatable))
    return use_text(name, free, allocatable) if allocatable else "-"
