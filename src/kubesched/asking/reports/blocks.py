"""Reports: what an answer looks like, before anybody decides where it is shown.

From answers to blocks (paragraphs, facts, tables, bars); a terminal, Markdown and HTML each show all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Tone(Enum):
    """How a text is meant; a terminal and a page colour it."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text of its own."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their values, aligned."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; columns whose names are in `numeric` are aligned to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    numeric: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Bars:
    """Labelled amounts of a whole, shown as bars: (label, amount, text)."""

    rows: Sequence[tuple[str, float, str]]
    whole: float
    title: str = ""


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands to copy, one a line."""

    lines: Sequence[str]


Block = Paragraph | Facts | Table | Bars | Commands


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading."""

    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Report:
    """A title, what matters first, and sections."""

    title: str
    lead: Sequence[Block]
    sections: Sequence[Section] = ()
