"""Reports as Markdown, to paste into a ticket.

From blocks to a text.
"""

from collections.abc import Iterator

from kubesched.asking.reports.blocks import Bars, Block, Commands, Facts, Paragraph, Report, Table


def as_markdown(report: Report) -> str:
    """Return a report as Markdown."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {report.title}"
    yield ""
    for block in report.lead:
        yield from _block(block)
    for section in report.sections:
        yield f"## {section.heading}"
        yield ""
        for block in section.blocks:
            yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph():
            yield block.text
        case Facts():
            yield from (f"- {label}: {value}" for label, value in block.rows)
        case Table():
            yield from _table(block)
        case Bars():
            yield from (f"- {label}: {text}" for label, _, text in block.rows)
        case Commands():
            yield from ("```console", *block.lines, "```")
    yield ""


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"**{table.title}**"
        yield ""
    yield f"| {' | '.join(table.columns)} |"
    yield "|" + "|".join("---:" if column in table.numeric else "---" for column in table.columns) + "|"
    for row in table.rows:
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in row)
        yield f"| {' | '.join(cells)} |"
