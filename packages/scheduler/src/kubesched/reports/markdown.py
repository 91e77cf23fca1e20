"""Reports as Markdown, to paste into a ticket.

From blocks to a text. NameList and messages are escaped: none of them becomes markup or a link.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from kubesched.common.printable import printable
from kubesched.reports.blocks import (
    Bars,
    Block,
    Cell,
    Commands,
    Details,
    Facts,
    Item,
    Items,
    NameList,
    Paragraph,
    Picture,
    Report,
    Table,
)

_MARKUP = re.compile(r"[\\`*_\[\]|~$]")
# starts of blocks at the beginning of a line: a heading, an entry, a quotation, a rule
_BEGINNING = re.compile(r"^(\s*)(?:([#>+=-])|(\d+)([.)]))")


def as_markdown(report: Report) -> str:
    """Return a report as Markdown."""
    lines: list[str] = []
    for line in _lines(report):
        # one empty line is enough
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {_inline(report.title)}"
    yield ""
    for block in report.lead:
        yield from _block(block)
    for section in report.sections:
        yield f"## {_inline(section.heading)}"
        yield ""
        for block in section.blocks:
            yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph():
            yield _line(block.text)
        case Facts():
            yield from (f"- {_inline(label)}: {_cell(value)}" for label, value in block.rows)
        case Items():
            for number, item in enumerate(block.items, 1):
                yield from _item(item, f"{number}. " if block.numbered else "- ")
        case Table():
            yield from _table(block)
        case Bars():
            yield from _titled(block.title)
            yield from (f"- {_inline(label)}: {_inline(text)}" for label, _, text in block.rows)
        case Commands():
            yield from _fenced(block.lines)
        case Picture():
            yield from _titled(block.title)
            yield from _table(block.table)
        case Details():
            yield from _folded(block.title, [line for each in block.blocks for line in _block(each)])
    yield ""


def _item(item: Item, mark: str) -> Iterator[str]:
    indent = " " * len(mark)
    yield mark + _line(item.text)
    yield from (f"{indent}- {_line(detail)}" for detail in item.details)
    if item.commands:
        yield ""
        yield from (indent + line for line in _fenced(item.commands))
        yield ""


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    fit = [printable(line) for line in lines]
    # a fence that is longer than any in the text
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", "\n".join(fit))), 0)
    yield from (f"{fence}console", *fit, fence)


def _table(table: Table) -> Iterator[str]:
    yield from _titled(table.title)
    yield from _rows(table, table.shown())
    if table.others():
        yield ""
        yield from _folded(table.cut(), _rows(table, table.others()))


def _rows(table: Table, rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_inline, table.columns))} |"
    yield "|" + "|".join("---:" if column in table.numeric else "---" for column in table.columns) + "|"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"


def _folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines in a folded block; the empty lines make Markdown render its content."""
    yield f"<details><summary>{_inline(title)}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _cell(cell: Cell) -> str:
    if not isinstance(cell, NameList) or not cell.others:
        return _inline(cell)
    others = f"<details><summary>{cell.more}</summary>{_inline(', '.join(cell.others))}</details>"
    return f"{_inline(', '.join(cell.first))} {others}"


def _titled(title: str) -> Iterator[str]:
    if title:
        yield f"**{_inline(title)}**"
        yield ""


def _inline(text: object) -> str:
    """Return a text without markup, HTML and links."""
    escaped = _MARKUP.sub(r"\\\g<0>", printable(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("://", "&#58;//").replace("www.", "www&#46;")


def _line(text: object) -> str:
    """Return a text at the beginning of a line, without markup."""
    return _BEGINNING.sub(lambda found: f"{found[1]}{_escaped(found)}", _inline(text))


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[2]}" if found[2] else f"{found[3]}\\{found[4]}"
