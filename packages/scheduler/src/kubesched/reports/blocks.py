"""Reports: the content of an answer, independent of its form.

From answers to blocks (paragraphs, facts, items, tables, bars, commands, pictures, details); a terminal, Markdown and
HTML each render them. Texts are plain: each form escapes them, so that names of objects cannot inject markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

# default limits of a terminal on the rows of a table and the names in a cell; the other forms have all
MOST_ROWS = 30
MOST_NAMES = 5


class Tone(Enum):
    """The meaning of a text; a terminal and a page colour it."""

    PLAIN = "plain"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Toned:
    """A text with a tone: a cell of a table, or a fact."""

    text: str
    tone: Tone

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class NameList:
    """Names of objects in a cell. A terminal shows the first `most` of them; Markdown and pages fold the rest."""

    names: Sequence[str]
    most: int = MOST_NAMES

    @property
    def first(self) -> Sequence[str]:
        """Return the names that every form shows."""
        return self.names[: self.most]

    @property
    def others(self) -> Sequence[str]:
        """Return the names that a terminal only counts."""
        return self.names[self.most :]

    @property
    def more(self) -> str:
        """Return the text for the remaining names; empty if there are none."""
        return f"and {len(self.others):,} more" if self.others else ""

    def __str__(self) -> str:
        return " ".join(filter(None, (", ".join(self.first), self.more)))


Cell = str | Toned | NameList


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A single paragraph."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their values, aligned."""

    rows: Sequence[tuple[str, Cell]]


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list: a text, lines of detail, and its commands."""

    text: Cell
    details: Sequence[Cell] = ()
    commands: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list of entries, numbered where their order matters."""

    items: Sequence[Item]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; columns whose names are in `numeric` are aligned to the right.

    A terminal shows the first `most` rows; Markdown and pages fold the rest. The column `about` names the object of
    each row: elsewhere on a page, these names are links to their rows.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    numeric: frozenset[str] = frozenset()
    most: int = MOST_ROWS
    about: str = ""

    def shown(self) -> Sequence[Sequence[Cell]]:
        """Return the rows that every form shows."""
        return self.rows[: self.most]

    def others(self) -> Sequence[Sequence[Cell]]:
        """Return the rows that a terminal only counts."""
        return self.rows[self.most :]

    def cut(self) -> str:
        """Return the line about the remaining rows; empty if there are none."""
        more = len(self.others())
        return f"... and {more:,} more" if more else ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Labelled amounts of a whole, shown as bars: (label, amount, text)."""

    rows: Sequence[tuple[str, float, str]]
    whole: float
    title: str = ""

    def shares(self) -> list[tuple[str, float, str]]:
        """Return the rows with each amount as a share of the whole, from 0 to 1."""
        return [(label, self._share(amount), text) for label, amount, text in self.rows]

    def _share(self, amount: float) -> float:
        return min(max(amount / self.whole, 0.0), 1.0) if self.whole > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands to copy, one a line."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG with escaped texts, and a table of its content; only pages show the drawing.

    `key` has the names of the colours, `s0` first; without names the drawing itself has them.
    """

    title: str
    svg: str
    table: Table
    key: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks under a title, folded; a terminal leaves them out."""

    title: str
    blocks: "Sequence[Block]"


Block = Paragraph | Facts | Items | Table | Bars | Commands | Picture | Details


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading."""

    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Report:
    """A title, the most important facts first, and sections. The first paragraph is the verdict, in a sentence."""

    title: str
    lead: Sequence[Block]
    sections: Sequence[Section] = ()

    @property
    def verdict(self) -> Paragraph:
        """Return the verdict; the title if there is no sentence."""
        return next((block for block in self.lead if isinstance(block, Paragraph)), Paragraph(self.title))


def tone_of(cell: Cell) -> Tone:
    """Return the tone of a cell."""
    return cell.tone if isinstance(cell, Toned) else Tone.PLAIN
