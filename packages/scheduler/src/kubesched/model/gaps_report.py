"""The gaps of an answer, as blocks.

From gaps to a line at the top about kinds that you may not read, and a section about all gaps at the end.
"""

from collections.abc import Iterator, Sequence

from kubesched.model.cluster_objects import Gap
from kubesched.reports.blocks import Block, Details, NameList, Paragraph, Section, Table, Tone
from kubesched.reports.plain_words import number

MOST_KINDS = 3
MOST_CONSEQUENCES = 2
GRANT = "`kubesched explain rights` prints a ClusterRole that grants the right to read them"
_COLUMNS = ("WHAT", "WHY", "UNCERTAIN")


def unread_kinds(gaps: Sequence[Gap]) -> Iterator[Paragraph]:
    """Return the line about forbidden kinds, if there are any: the consequence, and the rights to apply."""
    forbidden = [gap for gap in gaps if gap.forbidden]
    if forbidden:
        kinds = NameList([gap.what for gap in forbidden], MOST_KINDS)
        consequences = list(dict.fromkeys(gap.uncertain for gap in forbidden))
        more = len(consequences) - MOST_CONSEQUENCES
        what = ", ".join(consequences[:MOST_CONSEQUENCES]) + (f", and {more} more uncertainties" if more > 0 else "")
        text = f"You may not read {number(len(forbidden), 'kind')} ({kinds}), so the answer leaves them out: {what}."
        yield Paragraph(f"{text} {GRANT}.", Tone.WARN)


def gaps_section(gaps: Sequence[Gap]) -> Iterator[Section]:
    """Return the section about gaps, if there are any; forbidden kinds are folded."""
    blocks: list[Block] = []
    others = [gap for gap in gaps if not gap.forbidden]
    if others:
        blocks.append(Table(_COLUMNS, _rows(others)))
    forbidden = [gap for gap in gaps if gap.forbidden]
    if forbidden:
        table = Table(_COLUMNS, _rows(forbidden), most=len(forbidden))
        blocks.append(Details(f"{number(len(forbidden), 'kind')} that you may not read", (table,)))
    if blocks:
        yield Section("Not known", blocks)


def _rows(gaps: Sequence[Gap]) -> list[tuple[str, str, str]]:
    return [(gap.what, gap.why, gap.uncertain) for gap in gaps]
