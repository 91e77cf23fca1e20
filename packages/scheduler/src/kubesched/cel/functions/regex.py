"""Regular expressions: RE2 runs them, in time that grows with the text and the program, and within bounded memory.

From a pattern to a program, and from a text to its matches: the leftmost, and there the first alternative, as in the
reference. Errors in patterns are reported in the words of the reference by `regex_syntax`. The cost of a search is in
the units of expressions, about a microsecond each.
"""

from __future__ import annotations

import math
from typing import Final

import re2

from kubesched.cel.errors import CelAbortError
from kubesched.cel.functions.regex_syntax import RegexError, longest_match
from kubesched.cel.limits import LIMIT, LIMIT_EXCEEDED
from kubesched.cel.sized_cache import SizedCache

__all__ = ["TOO_LARGE", "Regex", "RegexError", "RegexTooLargeError", "compile_regex", "known_regex"]

# The most bytes of a program and its cached states in RE2.
_MOST_MEMORY: Final = 1 << 20
_MOST_KEPT: Final = 64 << 20
# A program this small runs on a few cached states, in nanoseconds per byte. A larger one may have to be simulated step
# by step, in some ten nanoseconds per byte and step.
_SMALL: Final = 20
_SMALL_MEMORY: Final = 16 << 10
_BYTES_A_UNIT: Final = 500
_STEPS_A_UNIT: Final = 100

# The steps charged for a pattern that RE2 refuses as too large, for the time that takes.
TOO_LARGE: Final = 20_000


class RegexTooLargeError(RegexError):
    """A pattern whose program would be too large."""


_kept: Final[SizedCache[str, Regex]] = SizedCache(_MOST_KEPT)


def compile_regex(pattern: str) -> Regex:
    """Return the program of a pattern, or raise RegexError."""
    found = _kept.get(pattern)
    if found is None:
        found = Regex(pattern)
        memory = _SMALL_MEMORY if found.size <= _SMALL else _MOST_MEMORY
        _kept.put(pattern, found, memory + len(pattern))
    return found


def known_regex(pattern: str) -> Regex | None:
    """Return the cached program of a pattern, or None."""
    return _kept.get(pattern)


class Regex:
    """A compiled pattern; `size` is the number of steps of its program."""

    __slots__ = ("_longest", "_program", "size")

    def __init__(self, pattern: str) -> None:
        self._longest = longest_match(pattern)
        options = re2.Options()
        options.max_mem = _MOST_MEMORY
        options.never_capture = True
        options.log_errors = False
        try:
            self._program = re2.compile(pattern.encode("utf-8", "surrogatepass"), options)
        except re2.error as error:
            raise _in_words(error, pattern) from None
        finally:
            # RE2's own cache is bounded by number only
            re2.purge()
        self.size: int = max(self._program.programsize, self._program.reverseprogramsize)

    def units(self, text: str) -> int:
        """Return the highest cost of one search in a text."""
        return self._units(len(text))

    def units_of_each(self, text: str) -> int:
        """Return the cost of searching for one more occurrence after the previous one."""
        # if a match may be of any length, each search may read the rest of the text
        return 1 + (self.units(text) if math.isinf(self._longest) else self._units(int(self._longest)))

    def _units(self, length: int) -> int:
        if self.size <= _SMALL:
            return length // _BYTES_A_UNIT
        return length * self.size // _STEPS_A_UNIT

    def matches(self, text: str) -> bool:
        """Return whether the pattern occurs in the text."""
        return self._program.search(_octets(text)) is not None

    def find(self, text: str) -> str:
        """Return the first occurrence, or the empty text."""
        found = self.find_all(text, 1)
        return found[0] if found else ""

    def find_all(self, text: str, most: int = -1) -> list[str]:
        """Return the occurrences from left to right, at most so many if that is not negative."""
        found: list[str] = []
        octets = _octets(text)
        affordable = LIMIT // self.units_of_each(text) + 1
        position, previous_end = 0, -1
        while position <= len(octets) and (most < 0 or len(found) < most):
            match = self._program.search(octets, position)
            if match is None:
                break
            start, end = match.span()
            # an empty occurrence directly after the previous one does not count
            if end > start or start != previous_end:
                found.append(octets[start:end].decode("utf-8", "surrogatepass"))
                if len(found) > affordable:
                    raise CelAbortError(LIMIT_EXCEEDED)
            previous_end = end
            position = end if end > start else end + _width(octets, end)
        return found


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _width(octets: bytes, at: int) -> int:
    """Return how many bytes the character at a place takes."""
    first = octets[at] if at < len(octets) else 0
    return 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def _in_words(error: Exception, pattern: str) -> RegexError:
    text = error.args[0] if error.args else b""
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    if words.startswith("pattern too large"):
        return RegexTooLargeError("error parsing regexp: expression too large: ``")
    problem, _, part = words.partition(": ")
    return RegexError(f"error parsing regexp: {problem}: `{part or pattern}`")
