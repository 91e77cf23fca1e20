"""Regular expressions in RE2's syntax: a pattern in, the length of its longest match out, or its error.

Error texts are the reference's. Character sets are left to RE2; groups capture nothing, since captures are not used.
"""

# upstream: Go's regexp/syntax, with Perl flags, as regexp.Compile uses it

import math
from typing import Final, NamedTuple

_LAST: Final = 0x10FFFF
_MOST_REPEATS: Final = 1000
_DEEPEST: Final = 200
# `{`, two counts, a comma and `}`
_LONGEST_COUNTS: Final = 21

_PERL: Final = frozenset("dswDSW")
_POSIX: Final = frozenset(
    [
        "alnum",
        "alpha",
        "ascii",
        "blank",
        "cntrl",
        "digit",
        "graph",
        "lower",
        "print",
        "punct",
        "space",
        "upper",
        "word",
        "xdigit",
    ]
)
_CONTROL: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PLACES: Final = frozenset("AzbB")


class RegexError(ValueError):
    """A pattern that is no regular expression; the text is the reference's."""


class _Part(NamedTuple):
    """A part of a pattern: the length of its longest match, and how often counted repetitions multiply it."""

    longest: float
    repeats: int = 1


_PLACE: Final = _Part(0)
_CHARACTER: Final = _Part(1)


def longest_match(pattern: str) -> float:
    """Return how many characters the longest match of a pattern has, infinity where there is no bound, or raise."""
    reader = _Reader(pattern)
    found = reader.alternatives(0)
    if reader.position < len(pattern):
        raise _error("unexpected )", pattern)
    return found.longest


def _error(problem: str, text: str) -> RegexError:
    return RegexError(f"error parsing regexp: {problem}: `{text}`")


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._last_named_class = text.rfind(":]")

    def alternatives(self, depth: int) -> _Part:
        """Read alternatives up to the end or a closing bracket."""
        if depth > _DEEPEST:
            raise _error("expression nests too deeply", self.text)
        longest: float = 0
        here: float = 0
        repeats = 1
        while self.position < len(self.text) and self.text[self.position] != ")":
            if self.text[self.position] == "|":
                self.position += 1
                longest, here = max(longest, here), 0
                continue
            part = self._next(depth)
            here += part.longest
            repeats = max(repeats, part.repeats)
        return _Part(max(longest, here), repeats)

    def _next(self, depth: int) -> _Part:
        """Return the next part of a sequence, with its repetition."""
        character = self.text[self.position]
        if character == "(":
            found = self._group(depth)
            return _PLACE if found is None else self._repeated(found)
        if self.text.startswith("\\Q", self.position):
            quoted = self._quoted()
            # a repetition after the quotation repeats its last character
            last = self._repeated(_CHARACTER) if quoted else _PLACE
            return _Part(max(len(quoted) - 1, 0) + last.longest, last.repeats)
        if character in "*+?" or self._counts() is not None:
            raise _error("missing argument to repetition operator", self._operator())
        return self._repeated(self._atom())

    # -- repetition

    def _operator(self) -> str:
        counts = self._counts()
        return self.text[self.position] if counts is None else self.text[self.position : counts[2]]

    def _counts(self) -> tuple[int, int, int] | None:
        """Parse a repetition such as `{2,5}`; return minimum, maximum and end, or None for any other text."""
        text, at = self.text, self.position
        if not text.startswith("{", at):
            return None
        end = text.find("}", at, at + _LONGEST_COUNTS)
        if end < 0:
            return None
        low, comma, high = text[at + 1 : end].partition(",")
        if not _is_count(low) or (high and not _is_count(high)):
            return None
        least = min(int(low), _MOST_REPEATS + 1)
        most = -1 if comma and not high else min(int(high), _MOST_REPEATS + 1) if comma else least
        return least, most, end + 1

    def _repeated(self, part: _Part) -> _Part:
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
            self.position += self.text.startswith("?", self.position)
            if repeated:
                raise _error("invalid nested repetition operator", self.text[before : self.position])
            part = _times(part, least, most)
            if counts is not None and part.repeats > _MOST_REPEATS:
                raise _error("invalid repeat count", self.text[start : self.position])
            repeated, before = True, start
        return part

    # -- groups

    def _group(self, depth: int) -> _Part | None:
        """Return a group, or None if it only sets flags."""
        start = self.position
        if self.text.startswith(("(?P<", "(?<"), start):
            self._name()
        elif self.text.startswith("(?", start):
            if self._flags():
                return None
        else:
            self.position += 1
        found = self.alternatives(depth + 1)
        if self.position >= len(self.text):
            raise _error("missing closing )", self.text)
        self.position += 1
        return found

    def _name(self) -> None:
        start = self.position
        end = self.text.find(">", start)
        if end < 0:
            raise _error("invalid named capture", self.text[start:])
        name = self.text[start:end].partition("<")[2]
        if not name or not all(character.isalnum() or character == "_" for character in name):
            raise _error("invalid named capture", self.text[start : end + 1])
        self.position = end + 1

    def _flags(self) -> bool:
        """Read the flags of a group; return whether the group ends after them."""
        start = self.position
        self.position += 2
        negative = given = False
        while self.position < len(self.text):
            character = self.text[self.position]
            self.position += 1
            if character in "imsU":
                given = True
            elif character == "-" and not negative:
                negative, given = True, False
            elif character in ":)" and (given or not negative):
                return character == ")"
            else:
                raise _error("invalid or unsupported Perl syntax", self.text[start : self.position])
        raise _error("missing closing )", self.text)

    # -- single characters and places

    def _atom(self) -> _Part:
        character = self.text[self.position]
        self.position += 1
        if character in "^$":
            return _PLACE
        if character == "[":
            self._class()
        elif character == "\\":
            if self.text[self.position : self.position + 1] in _PLACES:
                self.position += 1
                return _PLACE
            if not self._is_set():
                self._code()
        return _CHARACTER

    def _quoted(self) -> str:
        start = self.position + 2
        end = self.text.find("\\E", start)
        self.position = end + 2 if end >= 0 else len(self.text)
        return self.text[start : end if end >= 0 else None]

    def _is_set(self) -> bool:
        """Return whether a set like `\\d` or `\\pL` follows the backslash, and skip it."""
        text, at = self.text, self.position
        letter = text[at : at + 1]
        if letter in _PERL:
            self.position += 1
            return True
        if letter not in ("p", "P"):
            return False
        end = text.find("}", at) + 1 if text.startswith("{", at + 1) else min(at + 2, len(text))
        if end <= 0 or at + 1 >= len(text):
            raise _error("invalid character class range", text[at - 1 :])
        self.position = end
        return True

    def _code(self) -> int:
        """Return the character of the escape after the backslash."""
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

    def _class(self) -> None:
        start = self.position - 1
        self.position += self.text.startswith("^", self.position)
        first = True
        while first or not self.text.startswith("]", self.position):
            if self.position >= len(self.text):
                raise _error("missing closing ]", self.text[start:])
            self._class_part(start, first=first)
            first = False
        self.position += 1

    def _class_part(self, start: int, *, first: bool) -> None:
        text, at = self.text, self.position
        if text[at] == "-" and not first and not text.startswith("-]", at):
            # a dash is a literal only at the ends
            raise _error("invalid character class range", text[at : at + 2])
        if text.startswith("[:", at) and at + 2 <= self._last_named_class:
            end = text.index(":]", at + 2) + 2
            if text[at + 2 : end - 2].removeprefix("^") not in _POSIX:
                raise _error("invalid character class range", text[at:end])
            self.position = end
            return
        if text[at] == "\\":
            self.position += 1
            if self._is_set():
                return
            self.position = at
        low = self._class_character(start)
        if text.startswith("-", self.position) and not text.startswith("-]", self.position):
            self.position += 1
            if self.position >= len(text):
                raise _error("missing closing ]", text[start:])
            if self._class_character(start) < low:
                raise _error("invalid character class range", text[at : self.position])

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


def _times(part: _Part, least: int, most: int) -> _Part:
    """Return a part that is repeated, without an upper bound if `most` is negative."""
    bound = math.inf if most < 0 else most
    # an empty match stays empty, however often it is repeated
    longest = part.longest * bound if part.longest and bound else 0
    return _Part(longest, part.repeats * max(least, most, 1))
