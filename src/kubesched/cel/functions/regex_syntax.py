"""Regular expressions in RE2's syntax: a pattern in, a tree out, or the reference's words for what is wrong with it.

Groups capture nothing, since nobody asks for them. Sets of characters are sorted ranges of code points.
"""

# upstream: Go's regexp/syntax, with Perl flags, as regexp.Compile uses it

import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

_LAST: Final = 0x10FFFF
_MOST_REPEATS: Final = 1000
_DEEPEST: Final = 200

Ranges = tuple[tuple[int, int], ...]


class RegexError(ValueError):
    """A pattern that is no regular expression; the text is the reference's."""


class Characters(NamedTuple):
    """One character of a set."""

    ranges: Ranges


class Assertion(NamedTuple):
    """A place in the text: `text_start`, `text_end`, `line_start`, `line_end`, `word_edge`, `no_word_edge`."""

    kind: str


class Sequence(NamedTuple):
    """One after the other; nothing matches the empty text."""

    parts: "tuple[Pattern, ...]"


class Choice(NamedTuple):
    """The first that leads to a match."""

    parts: "tuple[Pattern, ...]"


class Repeat(NamedTuple):
    """A part several times; without an upper bound if `most` is negative."""

    part: "Pattern"
    least: int
    most: int
    greedy: bool


Pattern = Characters | Assertion | Sequence | Choice | Repeat


def normalised(ranges: list[tuple[int, int]]) -> Ranges:
    """Return ranges in order, without overlaps."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: Ranges) -> Ranges:
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)


def _set(text: str) -> Ranges:
    """Return the ranges written as `azAZ09`."""
    return normalised([(ord(text[at]), ord(text[at + 1])) for at in range(0, len(text), 2)])


DIGIT: Final = _set("09")
SPACE: Final = _set("\t\n\f\r  ")
WORD: Final = _set("09AZaz__")
_PERL: Final = {"d": DIGIT, "s": SPACE, "w": WORD}
_POSIX: Final = {
    "alnum": _set("09AZaz"),
    "alpha": _set("AZaz"),
    "ascii": _set("\0\x7f"),
    "blank": _set("\t\t  "),
    "cntrl": _set("\0\x1f\x7f\x7f"),
    "digit": DIGIT,
    "graph": _set("!~"),
    "lower": _set("az"),
    "print": _set(" ~"),
    "punct": _set("!/:@[`{~"),
    "space": _set("\t\r  "),
    "upper": _set("AZ"),
    "word": WORD,
    "xdigit": _set("09AFaf"),
}
_CONTROL: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ASSERTIONS: Final = {"A": "text_start", "z": "text_end", "b": "word_edge", "B": "no_word_edge"}
# Letters outside ASCII that are another case of one inside.
_MORE_CASES: Final = {"k": 0x212A, "K": 0x212A, "s": 0x17F, "S": 0x17F}
# Above this a range is too large to look for other cases letter by letter, and has them all.
_LARGE: Final = 5000


def _with_cases(ranges: Ranges) -> Ranges:
    found = list(ranges)
    for low, high in ranges:
        if high - low > _LARGE:
            continue
        for code in range(low, high + 1):
            character = chr(code)
            for other in (character.lower(), character.upper()):
                if len(other) == 1:
                    found.append((ord(other), ord(other)))
            if character in _MORE_CASES:
                found.append((_MORE_CASES[character], _MORE_CASES[character]))
    return normalised(found)


@lru_cache(maxsize=64)
def _category(name: str) -> Ranges | None:
    """Return the characters of a general category of Unicode, or None for what is none."""
    if name == "Any":
        return ((0, _LAST),)
    known = {unicodedata.category(chr(code)) for code in range(0x3000)} | {"Co", "Cs", "Cn", "So"}
    if len(name) > 2 or not any(each.startswith(name) for each in known):
        return None
    codes = (code for code in range(_LAST + 1) if unicodedata.category(chr(code)).startswith(name))
    found: list[tuple[int, int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return tuple(found)


def parse_regex(pattern: str) -> Pattern:
    """Return the tree of a pattern, or raise RegexError."""
    reader = _Reader(pattern)
    found = reader.alternatives(frozenset(), 0)
    if reader.position < len(pattern):
        raise _error("unexpected )", pattern)
    return found


def _error(problem: str, text: str) -> RegexError:
    return RegexError(f"error parsing regexp: {problem}: `{text}`")


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def alternatives(self, flags: frozenset[str], depth: int) -> Pattern:
        """Return what stands up to the end or a closing bracket; flags set on the way hold to its end."""
        if depth > _DEEPEST:
            raise _error("expression nests too deeply", self.text)
        choices: list[Pattern] = []
        parts: list[Pattern] = []
        while self.position < len(self.text) and self.text[self.position] != ")":
            character = self.text[self.position]
            if character == "|":
                self.position += 1
                choices.append(_sequence(parts))
                parts = []
            elif character == "(":
                found, flags = self._group(flags, depth)
                if found is not None:
                    parts.append(self._repeated(found, flags))
            elif self.text.startswith("\\Q", self.position):
                quoted = [_literal(each, flags) for each in self._quoted()]
                parts += quoted[:-1]
                # a repetition behind the quotation is one of its last character
                parts += [self._repeated(last, flags) for last in quoted[-1:]]
            else:
                if character in "*+?" or self._counts() is not None:
                    raise _error("missing argument to repetition operator", self._operator())
                parts.append(self._repeated(self._atom(flags), flags))
        choices.append(_sequence(parts))
        return choices[0] if len(choices) == 1 else Choice(tuple(choices))

    # -- repetition

    def _operator(self) -> str:
        counts = self._counts()
        return self.text[self.position] if counts is None else self.text[self.position : counts[2]]

    def _counts(self) -> tuple[int, int, int] | None:
        """Return least, most and end of `{2,5}` at hand, or None if it is no such thing."""
        text, at = self.text, self.position
        end = text.find("}", at)
        if at >= len(text) or text[at] != "{" or end < 0:
            return None
        low, comma, high = text[at + 1 : end].partition(",")
        if not _is_count(low) or (high and not _is_count(high)):
            return None
        least = min(int(low), _MOST_REPEATS + 1)
        most = -1 if comma and not high else min(int(high), _MOST_REPEATS + 1) if comma else least
        return least, most, end + 1

    def _repeated(self, part: Pattern, flags: frozenset[str]) -> Pattern:
        before = self.position
        repeated = False
        while self.position < len(self.text):
            character = self.text[self.position]
            counts = self._counts()
            if character not in ("*", "+", "?") and counts is None:
                break
            start = self.position
            if counts is None:
                least, most = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[character]
                self.position += 1
            else:
                least, most, self.position = counts
                too_many = least > _MOST_REPEATS or most > _MOST_REPEATS or 0 <= most < least
                if too_many:
                    raise _error("invalid repeat count", self.text[start : self.position])
            lazy = self.text[self.position : self.position + 1] == "?"
            self.position += lazy
            if repeated:
                raise _error("invalid nested repetition operator", self.text[before : self.position])
            part = Repeat(part, least, most, greedy=lazy == ("U" in flags))
            if counts is not None and _repeats(part) > _MOST_REPEATS:
                raise _error("invalid repeat count", self.text[start : self.position])
            repeated, before = True, start
        return part

    # -- groups

    def _group(self, flags: frozenset[str], depth: int) -> tuple[Pattern | None, frozenset[str]]:
        """Return a group, or None for one that only sets flags, and the flags from here on."""
        start = self.position
        inner = flags
        if self.text.startswith(("(?P<", "(?<"), start):
            self._name()
        elif self.text.startswith("(?", start):
            closed, inner = self._flags(flags)
            if closed:
                return None, inner
        else:
            self.position += 1
        found = self.alternatives(inner, depth + 1)
        if self.position >= len(self.text):
            raise _error("missing closing )", self.text)
        self.position += 1
        return found, flags

    def _name(self) -> None:
        start = self.position
        end = self.text.find(">", start)
        if end < 0:
            raise _error("invalid named capture", self.text[start:])
        name = self.text[start:end].partition("<")[2]
        if not name or not all(character.isalnum() or character == "_" for character in name):
            raise _error("invalid named capture", self.text[start : end + 1])
        self.position = end + 1

    def _flags(self, flags: frozenset[str]) -> tuple[bool, frozenset[str]]:
        """Return whether the group ends behind its flags, and the flags."""
        start = self.position
        self.position += 2
        negative = given = False
        while self.position < len(self.text):
            character = self.text[self.position]
            self.position += 1
            if character in "imsU":
                given = True
                flags = flags - {character} if negative else flags | {character}
            elif character == "-" and not negative:
                negative, given = True, False
            elif character in ":)" and (given or not negative):
                return character == ")", flags
            else:
                raise _error("invalid or unsupported Perl syntax", self.text[start : self.position])
        raise _error("missing closing )", self.text)

    # -- single characters and places

    def _atom(self, flags: frozenset[str]) -> Pattern:
        character = self.text[self.position]
        self.position += 1
        if character == ".":
            return Characters(((0, _LAST),) if "s" in flags else _complement(((10, 10),)))
        if character == "^":
            return Assertion("line_start" if "m" in flags else "text_start")
        if character == "$":
            return Assertion("line_end" if "m" in flags else "text_end")
        if character == "[":
            return self._class(flags)
        if character == "\\":
            return self._escaped(flags)
        return _literal(character, flags)

    def _escaped(self, flags: frozenset[str]) -> Pattern:
        letter = self.text[self.position : self.position + 1]
        if letter in _ASSERTIONS and letter:
            self.position += 1
            return Assertion(_ASSERTIONS[letter])
        found = self._character_set(flags)
        return Characters(found) if found is not None else _literal(chr(self._code()), flags)

    def _quoted(self) -> str:
        start = self.position + 2
        end = self.text.find("\\E", start)
        self.position = end + 2 if end >= 0 else len(self.text)
        return self.text[start : end if end >= 0 else None]

    def _character_set(self, flags: frozenset[str]) -> Ranges | None:
        """Return the set that `\\d` or `\\pL` stands for behind the backslash, or None for a single character."""
        letter = self.text[self.position : self.position + 1]
        if letter.lower() in _PERL and letter:
            self.position += 1
            ranges = _PERL[letter.lower()]
            return ranges if letter.islower() else _complement(ranges)
        if letter not in ("p", "P"):
            return None
        start = self.position - 1
        rest = self.text[self.position + 1 :]
        braced = rest.startswith("{")
        if not rest or (braced and "}" not in rest):
            raise _error("invalid character class range", self.text[start:])
        name = rest[1 : rest.index("}")] if braced else rest[0]
        self.position += 1 + (len(name) + 2 if braced else 1)
        negative = (letter == "P") != name.startswith("^")
        ranges_or_none = _category(name.removeprefix("^"))
        if ranges_or_none is None:
            # differs: scripts are no part of Python's Unicode tables
            raise _error("invalid character class range", self.text[start : self.position])
        ranges = _with_cases(ranges_or_none) if "i" in flags else ranges_or_none
        return _complement(ranges) if negative else ranges

    def _code(self) -> int:
        """Return the character that an escape stands for, behind the backslash."""
        text, start = self.text, self.position - 1
        if self.position >= len(text):
            raise RegexError("error parsing regexp: trailing backslash at end of expression: ``")
        letter = text[self.position]
        self.position += 1
        if letter in _CONTROL:
            return ord(_CONTROL[letter])
        if letter.isascii() and not letter.isalnum():
            return ord(letter)
        if letter in "01234567" and (letter == "0" or text[self.position : self.position + 1] in tuple("01234567")):
            while self.position < min(start + 4, len(text)) and text[self.position] in "01234567":
                self.position += 1
            return int(text[start + 1 : self.position], 8)
        if letter == "x":
            return self._hexadecimal(start)
        raise _error("invalid escape sequence", text[start : self.position])

    def _hexadecimal(self, start: int) -> int:
        text = self.text
        braced = text.startswith("{", self.position)
        end = text.find("}", self.position) if braced else self.position + 2
        digits = text[self.position + braced : end] if end >= 0 else ""
        self.position = end + braced
        valid = digits and all(digit in "0123456789abcdefABCDEF" for digit in digits) and (braced or len(digits) == 2)
        if not valid or (code := int(digits, 16)) > _LAST:
            raise _error("invalid escape sequence", text[start : max(start + 2, min(self.position, len(text)))])
        return code

    # -- classes

    def _class(self, flags: frozenset[str]) -> Pattern:
        start = self.position - 1
        negative = self.text.startswith("^", self.position)
        self.position += negative
        found: list[tuple[int, int]] = []
        first = True
        while first or not self.text.startswith("]", self.position):
            if self.position >= len(self.text):
                raise _error("missing closing ]", self.text[start:])
            found.extend(self._class_part(start, flags, first=first))
            first = False
        self.position += 1
        ranges = normalised(found)
        if "i" in flags:
            ranges = _with_cases(ranges)
        return Characters(_complement(ranges) if negative else ranges)

    def _class_part(self, start: int, flags: frozenset[str], *, first: bool) -> Ranges:
        text, at = self.text, self.position
        if text[at] == "-" and not first and not text.startswith("-]", at):
            # a dash is itself only at the ends
            raise _error("invalid character class range", text[at : at + 2])
        if text.startswith("[:", at) and (end := text.find(":]", at + 2)) >= 0:
            name = text[at + 2 : end]
            known = _POSIX.get(name.removeprefix("^"))
            if known is None:
                raise _error("invalid character class range", text[at : end + 2])
            self.position = end + 2
            return _complement(known) if name.startswith("^") else known
        if text[at] == "\\":
            self.position += 1
            found = self._character_set(flags)
            if found is not None:
                return found
            self.position = at
        low = self._class_character(start)
        high = low
        if text.startswith("-", self.position) and not text.startswith("-]", self.position):
            self.position += 1
            if self.position >= len(text):
                raise _error("missing closing ]", text[start:])
            high = self._class_character(start)
            if high < low:
                raise _error("invalid character class range", text[at : self.position])
        return ((low, high),)

    def _class_character(self, start: int) -> int:
        character = self.text[self.position]
        self.position += 1
        if character != "\\":
            return ord(character)
        if self.position >= len(self.text):
            raise _error("missing closing ]", self.text[start:])
        return self._code()


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and (len(text) == 1 or text[0] != "0") and len(text) < 10


def _literal(character: str, flags: frozenset[str]) -> Pattern:
    ranges: Ranges = ((ord(character), ord(character)),)
    return Characters(_with_cases(ranges) if "i" in flags else ranges)


def _sequence(parts: list[Pattern]) -> Pattern:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _repeats(part: Pattern) -> int:
    """Return how often counted repetitions within each other multiply a part."""
    if isinstance(part, Repeat):
        counted = max(part.most, part.least, 1)
        return counted * _repeats(part.part)
    if isinstance(part, Sequence | Choice):
        return max(map(_repeats, part.parts), default=1)
    return 1
