"""Functions of texts. Positions count characters; positions out of range are errors."""

# upstream: cel-go ext/strings.go (v0.26), apiserver/pkg/cel/library/regex.go (v1.36)

from typing import Any, Final

from kubesched.cel.errors import CelValueError, no_such_overload
from kubesched.cel.functions.arithmetic import undefined
from kubesched.cel.functions.regex import RegexError, compile_regex
from kubesched.cel.go_format import SPACE, shown

_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_UPPER: Final = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_QUOTED: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def _out_of_range(index: int) -> CelValueError:
    return CelValueError(f"index out of range: {index}")


def _texts(*values: Any) -> None:
    if any(type(value) is not str for value in values):
        raise no_such_overload()


def contains(text: Any, part: Any) -> bool:
    """Return whether a text contains another."""
    _texts(text, part)
    return bool(part in text)


def starts_with(text: Any, part: Any) -> bool:
    """Return whether a text starts with another."""
    _texts(text, part)
    return bool(text.startswith(part))


def ends_with(text: Any, part: Any) -> bool:
    """Return whether a text ends with another."""
    _texts(text, part)
    return bool(text.endswith(part))


def matches(text: Any, pattern: Any) -> bool:
    """Return whether a regular expression occurs in a text."""
    if type(text) is not str:
        raise undefined("matches", text)
    _texts(pattern)
    try:
        return compile_regex(pattern).matches(text)
    except RegexError as error:
        raise CelValueError(str(error)) from None


def find(text: str, pattern: str) -> str:
    """Return the first occurrence of a regular expression, or the empty text."""
    try:
        return compile_regex(pattern).find(text)
    except RegexError as error:
        raise CelValueError(f"Illegal regex: {error}") from None


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """Return the occurrences of a regular expression."""
    try:
        return compile_regex(pattern).find_all(text, most)
    except RegexError as error:
        raise CelValueError(f"Illegal regex: {error}") from None


def char_at(text: str, index: int) -> str:
    """Return the character at a position; the empty text at the end."""
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    """Return the position of the first occurrence of a part, or -1."""
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def last_index_of(text: str, part: str, *start: int) -> int:
    """Return the position of the last occurrence of a part, at or before a position, or -1."""
    if not start:
        return len(text) if not part else text.rfind(part)
    if not part:
        return start[0]
    if start[0] < 0:
        raise _out_of_range(start[0])
    if start[0] >= len(text):
        return -1
    return text.rfind(part, 0, start[0] + len(part))


def lower_ascii(text: str) -> str:
    """Return the text with ASCII letters in lower case."""
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    """Return the text with ASCII letters in upper case."""
    return text.translate(_UPPER)


def trim(text: str) -> str:
    """Return the text without surrounding space."""
    return text.strip(SPACE)


def replace(text: str, old: str, new: str, most: int = -1) -> str:
    """Return the text with occurrences of a part replaced."""
    return text.replace(old, new, max(most, -1))


def split(text: str, separator: str, most: int = -1) -> list[str]:
    """Return the parts between separators; an empty one separates characters."""
    if most == 0:
        return []
    if separator:
        return text.split(separator, most - 1 if most > 0 else -1)
    characters = list(text)
    if 0 < most < len(characters):
        return [*characters[: most - 1], "".join(characters[most - 1 :])]
    return characters


def substring(text: str, start: int, *end: int) -> str:
    """Return the part from one position up to another or the end."""
    if end and start > end[0]:
        raise CelValueError(f"invalid substring range. start: {start}, end: {end[0]}")
    for index in (start, *end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start : end[0] if end else None]


def join(parts: list[Any], separator: str = "") -> str:
    """Return the parts in one text."""
    for part in parts:
        if type(part) is not str:
            raise CelValueError(f"join: invalid input: {shown(part)}")
    return separator.join(parts)


def quote(text: str) -> str:
    """Return the text in quotes, with control characters escaped."""
    return f'"{text.translate(_QUOTED)}"'
