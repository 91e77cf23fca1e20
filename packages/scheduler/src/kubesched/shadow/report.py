"""The report of a session: the judged decisions, and each difference.

From a session's answer to blocks, which terminals, Markdown and HTML show.
"""

from collections.abc import Iterator

from kubesched.model.gaps_report import gaps_section
from kubesched.reports.blocks import Block, Facts, Paragraph, Report, Section, Table, Tone
from kubesched.shadow.judgements import DIFFERING, WORDS, ShadowAnswer


def shadow_report(answer: ShadowAnswer) -> Report:
    """Return the report of a session."""
    return Report("Shadow", list(_lead(answer)), [*_sections(answer), *gaps_section(answer.gaps)])


def _lead(answer: ShadowAnswer) -> Iterator[Block]:
    tone = Tone.WARN if not answer.judged else Tone.GOOD if answer.agrees else Tone.BAD
    yield Paragraph(answer.summary, tone)
    of = answer.origin + (f", {answer.kubernetes}" if answer.kubernetes else "")
    yield Facts([("cluster", of), ("pods of", ", ".join(answer.schedulers)), ("watched for", f"{answer.seconds:g} s")])


def _sections(answer: ShadowAnswer) -> Iterator[Section]:
    rows = [(WORDS[verdict], f"{count:,}", _meaning(verdict)) for verdict, count in answer.counts.items()]
    if rows:
        blocks: list[Block] = [Table(("WHAT", "DECISIONS", ""), rows, numeric=frozenset({"DECISIONS"}))]
        if answer.other_moments:
            blocks.append(
                Paragraph(
                    f"{answer.other_moments:,} of these agree as of another moment than right before the write: a pod "
                    "was assumed and not bound yet, or a change was not seen yet.",
                    Tone.MUTED,
                )
            )
        yield Section("Decisions", blocks)
    if answer.differences:
        found = [(each.pod, each.node or "-", WORDS[each.verdict], each.why) for each in answer.differences]
        yield Section("Differences", (Table(("POD", "ITS NODE", "WHAT", "WHY"), found, most=100),))
    if answer.not_judged:
        missed = [(why, f"{count:,}") for why, count in answer.not_judged.items()]
        yield Section("Not judged", (Table(("WHY", "DECISIONS"), missed, numeric=frozenset({"DECISIONS"})),))


def _meaning(verdict: str) -> str:
    return "different" if verdict in DIFFERING else "alike"
