"""The slow JSON parser, which reports duplicate fields and Go's messages for errors.

From bytes to values. Bytes and escapes that are no characters become U+FFFD; a body can raise nothing but `JsonError`.
"""

# upstream: sigs.k8s.io/json (a copy of Go's encoding/json), scanner.go

import json
import re
from math import isinf
from typing import Any

from kubesched_controlplane.schema.json_syntax import syntax_error

MOST_DIGITS = 4000
# differs (D-122): the reference reads 10 000 levels; here all stored objects must be encoded and decoded within
# Python's stack
DEEPEST = 200

# texts that make the count of `":` useless: spaces before a colon, escaped quotes and colons; each with its first
# byte, for which searching is much faster
_UNUSUAL = tuple((mark[:1], mark) for mark in (b" :", b"\t:", b"\n:", b"\r:", b"\\u0022", b"\\u003a", b"\\u003A"))
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)
_SURROGATES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL
)


class JsonError(ValueError):
    """Malformed JSON, with Go's message."""


class Twice(dict[str, Any]):
    """An object with duplicate fields; `pairs` has all of them."""

    pairs: list[tuple[str, Any]]


def parse(body: bytes) -> Any:
    """Parse a body; objects with duplicate fields are `Twice`. Raises JsonError."""
    text = body.decode(errors="replace")
    if "\\u" in text:
        text = _SURROGATES.sub(lambda found: r"\ufffd" if len(found[0]) == 6 else found[0], text)
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=_whole, parse_float=_fraction, parse_constant=_no_constant
        )
    except JsonError:
        raise
    except ValueError:
        raise JsonError(syntax_error(body)) from None


def check_depth(body: bytes) -> None:
    """Raise JsonError if a body is nested too deeply."""
    if body.count(b"{") + body.count(b"[") <= DEEPEST:
        return
    depth = 0
    for found in _BRACKETS.finditer(body):
        if found[0] in b"{[":
            depth += 1
            if depth > DEEPEST:
                raise JsonError(f"invalid character '{found[0].decode()}' exceeded max depth")
        elif found[0] in b"}]":
            depth -= 1


def may_have_doubles(body: bytes, again: bytes) -> bool:
    """Return whether a body may have duplicate fields; `again` is its value, decoded and encoded again.

    False is certain: each field has one `":`, so has each such text inside a string, and decoding drops duplicates.
    """
    return body.count(b'":') != again.count(b'":') or any(first in body and mark in body for first, mark in _UNUSUAL)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = Twice(found)
    twice.pairs = pairs
    return twice


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise JsonError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return int(text)


def _fraction(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise JsonError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _no_constant(text: str) -> None:
    raise ValueError(text)
