"""Reports of explanations.

From answers of `explain` to reports.
"""

from kubesched.asking.explain.pod_answer import SCHEDULABLE, UNSCHEDULABLE, PodAnswer
from kubesched.asking.reports.blocks import Block, Paragraph, Report, Section, Table, Tone

MOST_NODES_NAMED = 5
_TONES = {SCHEDULABLE: Tone.GOOD, UNSCHEDULABLE: Tone.BAD}


def pod_report(answer: PodAnswer) -> Report:
    """Return the report about one pod."""
    lead: list[Block] = [Paragraph(answer.summary, _TONES.get(answer.verdict, Tone.PLAIN))]
    if answer.message:
        lead.append(Paragraph(answer.message, Tone.MUTED))
    sections = []
    if answer.reasons:
        rows = [(str(reason.count), reason.message, reason.plugin, _named(reason.nodes)) for reason in answer.reasons]
        table = Table(("NODES", "REASON", "PLUGIN", "WHICH"), rows, numeric=frozenset({"NODES"}))
        sections.append(Section("Why", (table,)))
    return Report(f"Pod {answer.pod}", lead, sections)


def _named(nodes: tuple[str, ...]) -> str:
    more = len(nodes) - MOST_NODES_NAMED
    return ", ".join(nodes[:MOST_NODES_NAMED]) + (f" and {more} more" if more > 0 else "")
