"""The problems of an expression, with their positions in its text.

From offsets and messages to one text with a line of the source and a caret under each, in the order of the source.
"""

# upstream: cel-go common/{source,error,errors}.go (v0.26)

from typing import Final, NamedTuple

_MOST_SHOWN: Final = 100
_LONGEST_SNIPPET_BYTES: Final = 16384


class Location(NamedTuple):
    """A line from 1 and a column from 0."""

    line: int
    column: int


NOWHERE: Final = Location(-1, -1)


class TooManyErrorsError(Exception):
    """A text has so many syntax errors that parsing stops."""


class Problems:
    """Collects the problems of a text."""

    __slots__ = ("_count", "_found", "_syntax_errors", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[tuple[Location, str]] = []
        self._count = 0
        self._syntax_errors = 0

    def __bool__(self) -> bool:
        return bool(self._found)

    def report(self, offset: int | None, message: str) -> None:
        """Add a problem at an offset of the text, or without one."""
        self._count += 1
        if self._count <= _MOST_SHOWN:
            self._found.append((NOWHERE if offset is None else self._location(offset), message))

    def report_syntax(self, offset: int, message: str) -> None:
        """Add a syntax error; raises TooManyErrorsError after a hundred."""
        self._syntax_errors += 1
        too_many = self._syntax_errors > _MOST_SHOWN
        self.report(offset, f"Syntax error: {f'More than {_MOST_SHOWN} syntax errors' if too_many else message}")
        if too_many:
            raise TooManyErrorsError

    def __str__(self) -> str:
        shown = [
            self._display(location, message) for location, message in sorted(self._found, key=lambda each: each[0])
        ]
        if self._count > _MOST_SHOWN:
            shown.append(f"{self._count - _MOST_SHOWN} more errors were truncated")
        return "\n".join(shown)

    def _location(self, offset: int) -> Location:
        if not self._text:
            # the reference puts the end of an empty text before its first column
            return Location(1, -1)
        line_start = self._text.rfind("\n", 0, offset) + 1
        return Location(self._text.count("\n", 0, offset) + 1, offset - line_start)

    def _display(self, location: Location, message: str) -> str:
        shown = f"ERROR: <input>:{location.line}:{location.column + 1}: {message}"
        if not self._text or location.line < 1:
            return shown
        snippet = self._text.split("\n")[location.line - 1].replace("\t", " ")
        if len(snippet.encode("utf-8", "replace")) > _LONGEST_SNIPPET_BYTES:
            return shown
        dots = "".join("." if character.isascii() else "\uff0e" for character in snippet[: location.column])
        under = snippet[location.column : location.column + 1]
        caret = "^" if under.isascii() else "\uff3e"
        return f"{shown}\n | {snippet}\n | {dots}{caret}"
