"""Go's messages for malformed JSON.

From bytes to a message. Only a text that could not be parsed is scanned here, token by token and without recursion.
"""

# upstream: Go's encoding/json/scanner.go

import re

from kubesched.api.go_text import quote

DEEPEST = 10_000
UNEXPECTED_END = "unexpected end of JSON input"

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX = re.compile(r"[0-9a-fA-F]{0,4}")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)?")
_DIGITS = re.compile(r"[0-9]*")
_LITERALS = {"t": "true", "f": "false", "n": "null"}
# by the bracket around a value: the place for messages, and the next step by the following character
_AFTER = {
    "{": ("after object key:value pair", {",": "key", "}": "after"}),
    "[": ("after array element", {",": "value", "]": "after"}),
    "": ("after top-level value", {}),
}


class _WrongError(Exception):
    """An invalid character."""

    def __init__(self, character: str, where: str) -> None:
        shown = {"'": r"\'", '"': '"'}.get(character) or quote(character)[1:-1]
        super().__init__(f"invalid character '{shown}' {where}")


def syntax_error(body: bytes) -> str:
    """Return Go's message for a malformed text."""
    try:
        # one character per byte, as in Go; the space ends an open number or literal
        _scan(body.decode("latin-1") + " ")
    except _WrongError as wrong:
        return str(wrong)
    return UNEXPECTED_END


def _scan(text: str) -> None:
    """Scan a text; raises _WrongError at the first invalid character."""
    brackets = [""]
    step, at = "value", 0
    while (at := _end(_SPACE, text, at)) < len(text):
        character = text[at]
        if step == "after":
            where, steps = _AFTER[brackets[-1]]
            if character not in steps:
                raise _WrongError(character, where)
            step, at = steps[character], at + 1
            if step == "after":
                brackets.pop()
        elif step == "colon":
            if character != ":":
                raise _WrongError(character, "after object key")
            step, at = "value", at + 1
        elif character in "}]" and step == {"}": "first key", "]": "first element"}[character]:
            brackets.pop()
            step, at = "after", at + 1
        elif step in ("key", "first key"):
            if character != '"':
                raise _WrongError(character, "looking for beginning of object key string")
            step, at = "colon", _string(text, at)
        elif character in "{[":
            if len(brackets) > DEEPEST:
                raise _WrongError(character, "exceeded max depth")
            brackets.append(character)
            step, at = "first key" if character == "{" else "first element", at + 1
        else:
            step, at = "after", _plain_value(text, at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return the end of a pattern's match at a position."""
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _plain_value(text: str, at: int) -> int:
    """Return the end of a string, a number or a literal."""
    character = text[at]
    if character == '"':
        return _string(text, at)
    if character in "-0123456789":
        return _number(text, at)
    if character not in _LITERALS:
        raise _WrongError(character, "looking for beginning of value")
    literal = _LITERALS[character]
    for offset, expected in enumerate(literal):
        if text[at + offset] != expected:
            raise _WrongError(text[at + offset], f"in literal {literal} (expecting '{expected}')")
    return at + len(literal)


def _string(text: str, at: int) -> int:
    at += 1
    while (at := _end(_PLAIN, text, at)) < len(text):
        character = text[at]
        if character == '"':
            return at + 1
        if character != "\\":
            raise _WrongError(character, "in string literal")
        at = _escape(text, at + 1)
    return at


def _escape(text: str, at: int) -> int:
    if text[at] != "u":
        if text[at] not in 'bfnrt\\/"':
            raise _WrongError(text[at], "in string escape code")
        return at + 1
    end = _end(_HEX, text, at + 1)
    if end < at + 5:
        raise _WrongError(text[end], r"in \u hexadecimal character escape")
    return end


def _number(text: str, at: int) -> int:
    at = _end(_WHOLE, text, at)
    if text[at - 1] == "-":
        raise _WrongError(text[at], "in numeric literal")
    if text[at] == ".":
        at = _digits(text, at + 1, "after decimal point in numeric literal")
    if text[at] in "eE":
        sign = text[at + 1] in "+-"
        at = _digits(text, at + 1 + sign, "in exponent of numeric literal")
    return at


def _digits(text: str, at: int, where: str) -> int:
    end = _end(_DIGITS, text, at)
    if end == at:
        raise _WrongError(text[at], where)
    return end
