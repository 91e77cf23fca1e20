"""Literals of an expression: the text of a token in, a value out."""

# upstream: cel-go parser/unescape.go (v0.26)

import math
from typing import Final

from kubesched.cel.values import MAX_INT, MAX_UINT, MIN_INT, Uint

_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_HEX_LENGTH: Final = {"x": 2, "X": 2, "u": 4, "U": 8}


class LiteralError(ValueError):
    """An invalid literal; the text is the reference's."""


def int_literal(text: str, *, negative: bool) -> int:
    """Return the value of an integer literal."""
    value = int(text, 16) if text.startswith("0x") else _decimal(text)
    value = -value if negative else value
    if not MIN_INT <= value <= MAX_INT:
        raise LiteralError("invalid int literal")
    return value


def uint_literal(text: str) -> Uint:
    """Return the value of an unsigned integer literal."""
    digits = text[:-1]
    value = int(digits, 16) if digits.startswith("0x") else _decimal(digits)
    if value > MAX_UINT:
        raise LiteralError("invalid uint literal")
    return Uint(value)


def double_literal(text: str, *, negative: bool) -> float:
    """Return the value of a floating point literal."""
    value = float(text)
    if math.isinf(value):
        raise LiteralError("invalid double literal")
    return -value if negative else value


def string_literal(text: str) -> str:
    """Return the text between the quotes, escapes resolved."""
    body, raw = _between_quotes(text)
    return body if raw or "\\" not in body else "".join(_characters(body))


def bytes_literal(text: str) -> bytes:
    """Return the bytes between the quotes after `b`; octal and hexadecimal escapes are bytes."""
    body, raw = _between_quotes(text[1:])
    if raw or "\\" not in body:
        return body.encode()
    return b"".join(_octets(body))


def _decimal(digits: str) -> int:
    # Python refuses to convert very long digits, which are out of range anyway
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= 20 else MAX_UINT + 1


def _between_quotes(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    quoted = text[1:] if raw else text
    width = 3 if len(quoted) >= 6 and quoted[:3] in ('"""', "'''") else 1
    return quoted[width:-width], raw


def _characters(body: str) -> list[str]:
    found: list[str] = []
    position = 0
    while position < len(body):
        if body[position] != "\\":
            found.append(body[position])
            position += 1
            continue
        code, position = _escape(body, position + 1)
        if isinstance(code, int):
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise LiteralError("invalid unicode code point")
            code = chr(code)
        found.append(code)
    return found


def _octets(body: str) -> list[bytes]:
    found: list[bytes] = []
    position = 0
    while position < len(body):
        if body[position] != "\\":
            found.append(body[position].encode())
            position += 1
            continue
        if body[position + 1] in "uU":
            raise LiteralError("unable to unescape string")
        code, position = _escape(body, position + 1)
        found.append(code.encode() if isinstance(code, str) else bytes([code]))
    return found


def _escape(body: str, position: int) -> tuple[str | int, int]:
    """Return the character or number of an escape, and where it ends; the lexer has checked that it is complete."""
    letter = body[position]
    if letter in _SIMPLE:
        return _SIMPLE[letter], position + 1
    if letter in _HEX_LENGTH:
        end = position + 1 + _HEX_LENGTH[letter]
        return int(body[position + 1 : end], 16), end
    return int(body[position : position + 3], 8), position + 3
