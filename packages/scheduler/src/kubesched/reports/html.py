"""Reports as HTML: one page to attach to a ticket, or a fragment for notebooks.

From blocks to a text. The page is self-contained: styles and plots are inside, there are no scripts, and its policy
forbids all requests. It is dark or light by its reader's preference. Every text is escaped.
"""

import html
from collections.abc import Iterator, Mapping, Sequence

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
    Tone,
    tone_of,
)

_STYLES = """
.kubesched { --text: #1f2328; --muted: #59636e; --line: #d1d9e0; --back: #ffffff; --code: #f6f8fa;
  --good: #1a7f37; --warn: #9a6700; --bad: #cf222e; --bar: #0969da;
  color: var(--text); background: var(--back); font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; }
@media (prefers-color-scheme: dark) { .kubesched { --text: #e6edf3; --muted: #9198a1; --line: #3d444d;
  --back: #0d1117; --code: #161b22; --good: #3fb950; --warn: #d29922; --bad: #f85149; --bar: #4493f8; } }
.kubesched h1 { font-size: 1.4rem; } .kubesched h2 { font-size: 1.1rem; margin-top: 1.6rem; }
.kubesched p, .kubesched li, .kubesched td { overflow-wrap: break-word; }
.kubesched .scroll { overflow-x: auto; }
.kubesched table { border-collapse: collapse; margin: .5rem 0; background: none; }
.kubesched th, .kubesched td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0; background: none;
  border: 0; border-bottom: 1px solid var(--line); color: inherit; }
.kubesched th { font-weight: 600; }
.kubesched caption { text-align: left; font-weight: 600; padding-bottom: .25rem; color: inherit; }
.kubesched .number { text-align: right; font-variant-numeric: tabular-nums; }
.kubesched td.number { white-space: nowrap; }
.kubesched .facts th { border: 0; font-weight: 400; color: var(--muted); } .kubesched .facts td { border: 0; }
.kubesched .facts td, .kubesched .bars td { overflow-wrap: anywhere; }
.kubesched .bars td { border: 0; }
.kubesched .bars svg { width: min(16rem, 28vw); height: .9rem; vertical-align: middle; }
.kubesched .track { fill: var(--line); } .kubesched .fill { fill: var(--bar); }
.kubesched pre { background: var(--code); color: inherit; padding: .6rem .8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.kubesched { --s0: #0072b2; --s1: #c44e00; --s2: #00805e; --s3: #a8488a; --s4: #8f6b00; --s5: #5f6670; --s6: #7a1f4b;
  --s7: #2b8f86; }
@media (prefers-color-scheme: dark) { .kubesched { --s0: #56b4e9; --s1: #ff8c42; --s2: #2fc79a; --s3: #e79ac4;
  --s4: #f0c04a; --s5: #b4bac2; --s6: #d98aa8; --s7: #7fd6c7; } }
.kubesched .s0 { --own: var(--s0); } .kubesched .s1 { --own: var(--s1); } .kubesched .s2 { --own: var(--s2); }
.kubesched .s3 { --own: var(--s3); } .kubesched .s4 { --own: var(--s4); } .kubesched .s5 { --own: var(--s5); }
.kubesched .s6 { --own: var(--s6); } .kubesched .s7 { --own: var(--s7); }
.kubesched figure { display: inline-block; vertical-align: top; width: min(100%, 33rem); margin: .5rem 1rem 1rem 0; }
.kubesched figcaption { font-weight: 600; } .kubesched .key { display: block; font-weight: 400; font-size: .85rem; }
.kubesched .key span { margin-right: 1rem; overflow-wrap: anywhere; }
.kubesched .key span::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .35em;
  background: var(--own); }
.kubesched .chart { display: block; width: 100%; height: auto; } .kubesched .chart text { font-size: 13px;
  fill: var(--muted); } .kubesched .chart .end { text-anchor: end; } .kubesched .chart .middle { text-anchor: middle; }
.kubesched .grid { stroke: var(--line); fill: none; } .kubesched .shade { fill: var(--code); }
.kubesched .curve { stroke: var(--own); stroke-width: 2; stroke-linejoin: round; fill: none; }
.kubesched .thin { stroke-width: 1.3; opacity: .75; } .kubesched .dashed { stroke-dasharray: 5 3; }
.kubesched .bar { fill: var(--own); } .kubesched .whisker { stroke: var(--text); stroke-width: 1.5; fill: none; }
.kubesched a { color: inherit; } .kubesched tr:target { background: var(--code); }
.kubesched summary { color: var(--muted); font-size: .85rem; cursor: pointer; }
.kubesched .good { color: var(--good); } .kubesched .warn { color: var(--warn); }
.kubesched .bad { color: var(--bad); } .kubesched .muted { color: var(--muted); }
"""
# the page must never load anything
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_page(report: Report) -> str:
    """Return a report as one self-contained page; names of objects link to the rows about them."""
    form = _HtmlForm(_anchors(report))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(report.title)}</title>\n"
        "<style>body { margin: 0; background: #ffffff; } .kubesched { margin: 0 auto; padding: 1rem; }\n"
        "@media (prefers-color-scheme: dark) { body { background: #0d1117; } }</style>\n"
        f"</head>\n<body>\n{form.fragment(report)}</body>\n</html>\n"
    )


def as_fragment(report: Report) -> str:
    """Return a report as an element with its styles, for notebooks; without ids, which would clash between
    answers.
    """
    return _HtmlForm({}).fragment(report)


def _anchors(report: Report) -> dict[str, str]:
    """Return the ids of the rows about objects, by name; the first row about an object counts."""
    names: dict[str, str] = {}
    for table in _tables([*report.lead, *(block for section in report.sections for block in section.blocks)]):
        if table.about:
            column = list(table.columns).index(table.about)
            for row in table.rows:
                names.setdefault(str(row[column]), f"row-{len(names)}")
    return names


def _tables(blocks: Sequence[Block]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Details):
            yield from _tables(block.blocks)


class _HtmlForm:
    """Writes the blocks of one report; `anchors` are the ids of rows by the names that link to them."""

    def __init__(self, anchors: Mapping[str, str]) -> None:
        self._anchors = anchors
        self._rows: set[str] = set()

    def fragment(self, report: Report) -> str:
        """Return a report as an element with its styles."""
        return "\n".join(self._lines(report)) + "\n"

    def _lines(self, report: Report) -> Iterator[str]:
        yield f'<div class="kubesched"><style>{_STYLES}</style>'
        yield f"<h1>{_text(report.title)}</h1>"
        for block in report.lead:
            yield from self._block(block)
        for section in report.sections:
            yield f"<h2>{_text(section.heading)}</h2>"
            for block in section.blocks:
                yield from self._block(block)
        yield "</div>"

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Paragraph():
                yield f"<p{_class(block.tone)}>{_text(block.text)}</p>"
            case Facts():
                yield '<table class="facts">'
                for label, value in block.rows:
                    yield f'<tr><th scope="row">{_text(label)}</th>{self._cell(value)}</tr>'
                yield "</table>"
            case Items():
                kind = "ol" if block.numbered else "ul"
                yield f"<{kind}>"
                for item in block.items:
                    yield from self._item(item)
                yield f"</{kind}>"
            case Table():
                yield from self._table(block)
            case Bars():
                yield from self._bars(block)
            case Commands():
                yield _commands(block.lines)
            case Picture():
                yield from self._picture(block)
            case Details():
                yield f"<details><summary>{_text(block.title)}</summary>"
                for each in block.blocks:
                    yield from self._block(each)
                yield "</details>"

    def _item(self, item: Item) -> Iterator[str]:
        yield f"<li{_class(tone_of(item.text))}>{self._content(item.text)}"
        if item.details:
            lines = (f"<li{_class(tone_of(detail))}>{self._content(detail)}</li>" for detail in item.details)
            yield f"<ul>{''.join(lines)}</ul>"
        if item.commands:
            yield _commands(item.commands)
        yield "</li>"

    def _table(self, table: Table) -> Iterator[str]:
        yield from self._rows_of(table, table.shown(), table.title)
        if table.others():
            yield f"<details><summary>{_text(table.cut())}</summary>"
            yield from self._rows_of(table, table.others(), "")
            yield "</details>"

    def _rows_of(self, table: Table, rows: Sequence[Sequence[Cell]], title: str) -> Iterator[str]:
        yield '<div class="scroll"><table>'
        if title:
            yield f"<caption>{_text(title)}</caption>"
        heads = (f'<th scope="col"{_number(column, table)}>{_head(column)}</th>' for column in table.columns)
        yield f"<thead><tr>{''.join(heads)}</tr></thead><tbody>"
        for row in rows:
            yield self._row(table, row)
        yield "</tbody></table></div>"

    def _row(self, table: Table, row: Sequence[Cell]) -> str:
        """Return a row; the first about an object has the id that its name links to."""
        about = str(row[list(table.columns).index(table.about)]) if table.about else ""
        own = self._anchors.get(about) if about not in self._rows else None
        if own is not None:
            self._rows.add(about)
        cells = (
            self._cell(cell, column in table.numeric, linked=own is None or str(cell) != about)
            for column, cell in zip(table.columns, row, strict=True)
        )
        begin = "<tr>" if own is None else f'<tr id="{own}">'
        return f"{begin}{''.join(cells)}</tr>"

    def _bars(self, bars: Bars) -> Iterator[str]:
        yield '<table class="bars">'
        if bars.title:
            yield f"<caption>{_text(bars.title)}</caption>"
        for label, share, text in bars.shares():
            plot = (
                f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{share:.0%}">'
                '<rect class="track" width="100" height="10" rx="1"/>'
                f'<rect class="fill" width="{share * 100:.1f}" height="10" rx="1"/></svg>'
            )
            yield f"<tr>{self._cell(label)}<td>{plot}</td>{self._cell(text)}</tr>"
        yield "</table>"

    def _picture(self, picture: Picture) -> Iterator[str]:
        yield f"<figure><figcaption>{_text(picture.title)}"
        if picture.key:
            names = (f'<span class="s{number % 8}">{_text(name)}</span>' for number, name in enumerate(picture.key))
            yield f'<span class="key">{" ".join(names)}</span>'
        yield f"</figcaption>{picture.svg}<details><summary>Numbers</summary>"
        yield from self._table(picture.table)
        yield "</details></figure>"

    def _cell(self, cell: Cell, number: bool = False, *, linked: bool = True) -> str:
        names = [*(["number"] if number else []), *([tone_of(cell).value] if tone_of(cell) is not Tone.PLAIN else [])]
        return f"<td{_classes(names)}>{self._content(cell) if linked else _text(cell)}</td>"

    def _content(self, cell: Cell) -> str:
        """Return the content of a cell, with links; long lists of names are folded."""
        if not isinstance(cell, NameList):
            return self._name(str(cell))
        first, others = (", ".join(map(self._name, names)) for names in (cell.first, cell.others))
        return first + (f" <details><summary>{_text(cell.more)}</summary>{others}</details>" if others else "")

    def _name(self, text: str) -> str:
        anchor = self._anchors.get(text)
        return _text(text) if anchor is None else f'<a href="#{anchor}">{_text(text)}</a>'


def _commands(lines: Sequence[str]) -> str:
    return "<pre><code>" + "\n".join(_text(line) for line in lines) + "</code></pre>"


def _head(column: str) -> str:
    """Return the head of a column; the name of a file may be broken at its slashes."""
    return _text(column).replace("/", "/<wbr>")


def _number(column: str, table: Table) -> str:
    return _classes(["number"] if column in table.numeric else [])


def _class(tone: Tone) -> str:
    return _classes([tone.value] if tone is not Tone.PLAIN else [])


def _classes(names: Sequence[str]) -> str:
    return f' class="{" ".join(names)}"' if names else ""


def _text(text: object) -> str:
    return html.escape(printable(text))
