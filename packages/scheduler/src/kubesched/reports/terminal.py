"""Reports on a terminal: aligned, wrapped to its width, coloured if it shows colours.

In: a report, and how to print. Out: a text. Without a terminal, lines are as wide as COLUMNS says, else WIDE.
"""

import os
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

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
    Paragraph,
    Picture,
    Report,
    Table,
    Tone,
    tone_of,
)
from kubesched.reports.column_widths import column_widths

# characters in a line, if neither a terminal nor COLUMNS sets a width
WIDE = 120
# between columns
GAP = 2
MOST_BAR, LEAST_BAR = 30, 8
_STYLES = {Tone.PLAIN: "", Tone.GOOD: "green", Tone.WARN: "yellow", Tone.BAD: "red", Tone.MUTED: "dim"}


def as_terminal_text(report: Report, *, quiet: bool = False, colour: bool = True) -> str:
    """Return a report as text for standard output, or with `quiet` the verdict alone."""
    console = _console(colour)
    with console.capture() as captured:
        for part in _verdict(report) if quiet else _parts(report, console.width):
            console.print(part, soft_wrap=isinstance(part, _Unwrapped))
    # rich fills cells up with spaces
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _console(colour: bool) -> Console:
    console = Console(highlight=False)
    width = None if console.is_terminal or os.environ.get("COLUMNS", "").isdecimal() else WIDE
    if colour and not console.no_color:
        return Console(highlight=False, width=width)
    return Console(highlight=False, width=width, color_system=None)


class _Unwrapped(Text):
    """A text for copying, which is not wrapped."""


def _verdict(report: Report) -> Iterator[RenderableType]:
    yield _text(report.verdict.text, report.verdict.tone)


def _parts(report: Report, width: int) -> Iterator[RenderableType]:
    yield from _spaced(report.lead, width)
    for section in report.sections:
        if all(isinstance(block, Details) for block in section.blocks):
            continue
        yield ""
        yield Text(printable(section.heading), "bold")
        yield from _spaced(section.blocks, width)


def _spaced(blocks: Sequence[Block], width: int) -> Iterator[RenderableType]:
    """Yield blocks with an empty line between them, but no empty line below a paragraph."""
    shown = [block for block in blocks if not isinstance(block, Details)]
    for number, block in enumerate(shown):
        if number and not isinstance(shown[number - 1], Paragraph):
            yield ""
        yield from _block(block, width)


def _block(block: Block, width: int) -> Iterator[RenderableType]:
    match block:
        case Paragraph():
            yield _text(block.text, block.tone)
        case Facts():
            facts = _grid(2)
            for label, value in block.rows:
                facts.add_row(_text(label), _cell(value))
            yield facts
        case Items():
            for number, item in enumerate(block.items, 1):
                yield from _item(item, f"{number}." if block.numbered else "-")
        case Table():
            yield from _table(block, width)
        case Bars():
            yield from _bars(block, width)
        case Commands():
            yield from _commands(block.lines, "")
        case Picture():
            yield _text(block.title)
            yield from _table(block.table, width)
        case Details():
            pass


def _item(item: Item, mark: str) -> Iterator[RenderableType]:
    entry = _grid(1)
    entry.add_row(mark, _cell(item.text))
    for detail in item.details:
        entry.add_row("", _cell(detail))
    yield entry
    yield from _commands(item.commands, " " * (len(mark) + 1))


def _table(table: Table, width: int) -> Iterator[RenderableType]:
    if table.title:
        yield _text(table.title)
    rows = table.shown()
    texts = [[printable(cell) for cell in column] for column in zip(table.columns, *rows, strict=True)]
    widths = column_widths(texts, width - GAP * (len(texts) - 1))
    shown = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column, wide in zip(table.columns, widths, strict=True):
        justify: JustifyMethod = "right" if column in table.numeric else "left"
        shown.add_column(printable(column), justify=justify, overflow="fold", width=wide)
    for row in rows:
        shown.add_row(*map(_cell, row))
    yield shown
    if table.cut():
        yield _text(table.cut(), Tone.MUTED)


def _bars(bars: Bars, width: int) -> Iterator[RenderableType]:
    if bars.title:
        yield _text(bars.title)
    rows = [(printable(label), share, printable(text)) for label, share, text in bars.shares()]
    beside = max((cell_len(label) for label, _, _ in rows), default=0)
    beside += max((cell_len(text) for _, _, text in rows), default=0)
    length = min(max(width - beside - 2 * GAP, LEAST_BAR), MOST_BAR)
    shown = _grid(GAP)
    for label, share, text in rows:
        filled = round(length * share)
        shown.add_row(Text(label), Text("█" * filled + "·" * (length - filled), no_wrap=True), Text(text))
    yield shown


def _commands(lines: Sequence[str], indent: str) -> Iterator[RenderableType]:
    return (_Unwrapped(f"{indent}  {printable(line)}") for line in lines)


def _grid(gap: int) -> RichTable:
    return RichTable.grid(padding=(0, gap, 0, 0))


def _cell(cell: Cell) -> Text:
    return _text(cell, tone_of(cell))


def _text(text: object, tone: Tone = Tone.PLAIN) -> Text:
    return Text(printable(text), _STYLES[tone], overflow="fold")
