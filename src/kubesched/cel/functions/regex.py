"""Regular expressions that take time in proportion to the text, whatever the pattern.

From a pattern to an automaton, from a text to whether and where it matches: leftmost, and of the choices at one place
the first, as in the reference. States are found while texts are read, and remembered within bounds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from kubesched.cel.functions.regex_syntax import (
    DIGIT,
    WORD,
    Assertion,
    Characters,
    Choice,
    Pattern,
    Ranges,
    RegexError,
    Repeat,
    Sequence,
    parse_regex,
)

__all__ = ["DIGIT", "Regex", "RegexError", "compile_regex"]

_MOST_STEPS: Final = 50_000
_MOST_REMEMBERED: Final = 20_000
_ANYTHING: Final[Ranges] = ((0, 0x10FFFF),)
# What stands before or behind a place.
_EDGE, _NEWLINE, _WORD, _OTHER = "edge", "newline", "word", "other"


class _Step(NamedTuple):
    """One instruction: read a character, go two ways, be at a place, or be done."""

    kind: str
    ranges: Ranges = ()
    first: int = 0
    second: int = 0
    place: str = ""


# The steps to go on from, before the next character is known, and what stands before it.
_State = tuple[tuple[int, ...], str]


@lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Regex:
    """Return the automaton of a pattern, or raise RegexError."""
    return Regex(pattern)


class Regex:
    """A compiled pattern."""

    __slots__ = ("_anchored", "_remembered", "_search", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        tree = parse_regex(pattern)
        self._anchored = _program(tree)
        self._search = _program(Sequence((Repeat(Characters(_ANYTHING), 0, -1, greedy=False), tree)))
        self._remembered: dict[tuple[bool, _State, str], tuple[bool, _State]] = {}

    def matches(self, text: str) -> bool:
        """Return whether the pattern occurs in the text."""
        state: _State = ((0,), _EDGE)
        for position in range(len(text) + 1):
            matched, state = self._next(True, state, text[position : position + 1])
            if matched:
                return True
            if not state[0]:
                break
        return False

    def find_all(self, text: str, most: int = -1) -> list[str]:
        """Return the occurrences from left to right, at most so many if that is not negative."""
        found: list[str] = []
        position = 0
        previous_end = -1
        while position <= len(text) and (most < 0 or len(found) < most):
            start, end = self._find(text, position)
            if start < 0:
                break
            # an empty occurrence right behind the one before is none
            if end > start or start != previous_end:
                found.append(text[start:end])
            previous_end = end
            position = end if end > start else end + 1
        return found

    def find(self, text: str) -> str:
        """Return the first occurrence, or the empty text."""
        start, end = self._find(text, 0)
        return text[start:end] if start >= 0 else ""

    def _find(self, text: str, position: int) -> tuple[int, int]:
        for start in range(position, len(text) + 1):
            end = self._end(text, start)
            if end >= 0:
                return start, end
        return -1, -1

    def _end(self, text: str, start: int) -> int:
        """Return where the best match from a place ends, or -1."""
        state: _State = ((0,), _kind(text[start - 1]) if start else _EDGE)
        end = -1
        for position in range(start, len(text) + 1):
            matched, state = self._next(False, state, text[position : position + 1])
            if matched:
                end = position
            if not state[0]:
                break
        return end

    def _next(self, search: bool, state: _State, character: str) -> tuple[bool, _State]:
        """Return whether a match ends before the character (none at the text's end), and the state behind it."""
        key = (search, state, character)
        known = self._remembered.get(key)
        if known is None:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            known = _advance(self._search if search else self._anchored, state, character)
            self._remembered[key] = known
        return known


def _advance(program: list[_Step], state: _State, character: str) -> tuple[bool, _State]:
    steps, before = state
    behind = _kind(character) if character else _EDGE
    matched = False
    going: dict[int, None] = {}
    seen: set[int] = set()
    pending = list(reversed(steps))
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        step = program[at]
        if step.kind == "done":
            # what comes after is less wanted than this match
            matched = True
            break
        if step.kind == "split":
            pending += (step.second, step.first)
        elif step.kind == "place":
            if _holds(step.place, before, behind):
                pending.append(at + 1)
        elif character and _within(step.ranges, ord(character)):
            going[at + 1] = None
    return matched, (tuple(going), behind)


def _kind(character: str) -> str:
    if character == "\n":
        return _NEWLINE
    return _WORD if _within(WORD, ord(character)) else _OTHER


def _holds(place: str, before: str, behind: str) -> bool:
    match place:
        case "text_start":
            return before == _EDGE
        case "text_end":
            return behind == _EDGE
        case "line_start":
            return before in (_EDGE, _NEWLINE)
        case "line_end":
            return behind in (_EDGE, _NEWLINE)
    edge = (before == _WORD) != (behind == _WORD)
    return edge == (place == "word_edge")


def _within(ranges: Ranges, code: int) -> bool:
    low, high = 0, len(ranges)
    while low < high:
        middle = (low + high) // 2
        if code > ranges[middle][1]:
            low = middle + 1
        else:
            high = middle
    return low < len(ranges) and ranges[low][0] <= code


def _program(tree: Pattern) -> list[_Step]:
    """Return the steps of a tree."""
    steps: list[_Step] = []
    _write(tree, steps)
    steps.append(_Step("done"))
    return steps


def _write(tree: Pattern, steps: list[_Step]) -> None:
    if len(steps) > _MOST_STEPS:
        raise RegexError("error parsing regexp: expression too large: ``")
    match tree:
        case Characters():
            steps.append(_Step("read", ranges=tree.ranges))
        case Assertion():
            steps.append(_Step("place", place=tree.kind))
        case Sequence():
            for part in tree.parts:
                _write(part, steps)
        case Choice():
            _write_choice(tree.parts, steps)
        case Repeat():
            for _ in range(tree.least):
                _write(tree.part, steps)
            if tree.most < 0:
                start = len(steps)
                steps.append(_Step("split"))
                _write(tree.part, steps)
                steps.append(_jump(start))
                steps[start] = _split(start + 1, len(steps), greedy=tree.greedy)
            else:
                _write_optional(tree, tree.most - tree.least, steps)


def _write_choice(parts: tuple[Pattern, ...], steps: list[_Step]) -> None:
    ends: list[int] = []
    for part in parts[:-1]:
        start = len(steps)
        steps.append(_Step("split"))
        _write(part, steps)
        ends.append(len(steps))
        steps.append(_Step("split"))
        steps[start] = _split(start + 1, len(steps), greedy=True)
    _write(parts[-1], steps)
    for end in ends:
        steps[end] = _jump(len(steps))


def _write_optional(tree: Repeat, times: int, steps: list[_Step]) -> None:
    starts: list[int] = []
    for _ in range(times):
        starts.append(len(steps))
        steps.append(_Step("split"))
        _write(tree.part, steps)
    for start in starts:
        steps[start] = _split(start + 1, len(steps), greedy=tree.greedy)


def _jump(target: int) -> _Step:
    return _Step("split", first=target, second=target)


def _split(inside: int, outside: int, *, greedy: bool) -> _Step:
    return _Step("split", first=inside if greedy else outside, second=outside if greedy else inside)
