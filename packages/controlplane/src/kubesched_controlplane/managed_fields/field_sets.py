"""Sets of fields, in the form of FieldsV1.

A set is a tree of dicts, keyed as in FieldsV1: `f:NAME` is a field, `k:{...}` an element of a list by its keys,
`v:VALUE` an element of a set. An empty dict is a member with no members below it; `.` marks a member that has some.
Sets are not changed once they are made, so that they share their parts.
"""

# upstream: structured-merge-diff/v6/fieldpath/{set,path,element,serialize,serialize-pe}.go

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from kubesched.api.go_text import quote

Fields = dict[str, Any]

MEMBER: Fields = {}
SELF = "."
NOTHING: Fields = {}

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class FieldsError(ValueError):
    """A malformed set of fields."""


def is_member(node: Fields) -> bool:
    """Return whether the field of a node is itself in the set."""
    return not node or SELF in node


# -- set operations


def union(first: Fields, second: Fields) -> Fields:
    """Return the union of two sets."""
    if not first or not second:
        return first or second
    return _both(first, second)


def _both(first: Fields, second: Fields) -> Fields:
    if first is second:
        return first
    if not first or not second:
        other = first or second
        return other if is_member(other) else {SELF: MEMBER, **other}
    found = dict(first)
    for key, below in second.items():
        mine = found.get(key)
        found[key] = below if mine is None else _both(mine, below)
    return found


def difference(first: Fields, second: Fields) -> Fields:
    """Return the first set without the members of the second; paths below a member of the second stay."""
    if not first or not second:
        return first
    return _only_first(first, second) or NOTHING


def _only_first(first: Fields, second: Fields, member: bool = False) -> Fields | None:
    """Return the rest of a node, None if nothing is left; `member`: whether the field itself stays in the set."""
    left = dict(first)
    left.pop(SELF, None)
    for key, other in second.items():
        below = left.get(key)
        if below is None:
            continue
        rest = _only_first(below, other, is_member(below) and not is_member(other))
        if rest is None:
            del left[key]
        else:
            left[key] = rest
    return _node(left, member)


def intersection(first: Fields, second: Fields) -> Fields:
    """Return the intersection of two sets."""
    return _common(first, second) or NOTHING if first and second else NOTHING


def _common(first: Fields, second: Fields, member: bool = False) -> Fields | None:
    found: Fields = {}
    for key, below in first.items():
        other = second.get(key)
        if other is None or key == SELF:
            continue
        rest = _common(below, other, is_member(below) and is_member(other))
        if rest is not None:
            found[key] = rest
    return _node(found, member)


def without(fields: Fields, excluded: Fields) -> Fields:
    """Return a set without the members of another and everything below them."""
    if not fields or not excluded:
        return fields
    left: Fields = {}
    for key, below in fields.items():
        other = excluded.get(key)
        if other is None:
            left[key] = below
        elif not is_member(other):
            rest = without(below, other)
            if rest or is_member(below):
                left[key] = rest if rest.keys() != {SELF} else MEMBER
    return left


def covers(fields: Fields, others: Fields) -> bool:
    """Return whether a set contains all members of another."""
    for key, below in others.items():
        mine = fields.get(key)
        if mine is None:
            return False
        if mine is below:
            continue
        if not below:
            if mine and SELF not in mine:
                return False
        elif not covers(mine, below):
            return False
    return True


def _node(found: Fields, member: bool) -> Fields | None:
    if not found:
        return MEMBER if member else None
    if member:
        found[SELF] = MEMBER
    return found


# -- to and from text


# few, since each set is many small dicts, which the garbage collector has to traverse
@lru_cache(maxsize=128)
def decoded(text: bytes) -> Fields:
    """Return the set of a text that `encoded` made."""
    return _decode(text)


def encoded(fields: Fields) -> bytes:
    """Return a set as text; equal sets share one text."""
    return _interned(_encode(fields))


@lru_cache(maxsize=4096)
def _interned(text: bytes) -> bytes:
    return text


def read(raw: Any) -> Fields:
    """Read a set that a client sent; raises FieldsError if it is malformed."""
    if not isinstance(raw, dict):
        raise FieldsError("fields are no map")
    found: Fields = {}
    for key, below in raw.items():
        if key == SELF:
            found[SELF] = MEMBER
        else:
            element = _element(key)
            if element:
                found[element] = read(below)
    return found if found.keys() != {SELF} else MEMBER


def _element(text: str) -> str:
    """Return a path element in its canonical form, an empty text for an unknown kind; raises FieldsError."""
    kind, value = text[:2], text[2:]
    if len(text) < 2 or kind[1] != ":":
        raise FieldsError(f"missing colon: {text}")
    if kind == "f:":
        return text
    if kind not in ("k:", "v:", "i:"):
        return ""
    try:
        parsed = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise FieldsError(f"parsing key as path element: {text}") from None
    if (kind == "k:" and not isinstance(parsed, dict)) or (kind == "i:" and not isinstance(parsed, int)):
        raise FieldsError(f"parsing key as path element: {text}")
    return kind + _encode(parsed).decode()


# -- messages


def paths(fields: Fields, start: str = "") -> Iterator[str]:
    """Yield the paths of a set's members for messages: one level first, in order."""
    keys = sorted((key for key in fields if key != SELF), key=_rank)
    for key in keys:
        if is_member(fields[key]):
            yield start + words(key)
    for key in keys:
        yield from paths(fields[key], start + words(key))


def _rank(key: str) -> tuple[str, Any]:
    """Return the sort key of a path element."""
    if key.startswith("k:"):
        return "k", [(name, isinstance(value, str), value) for name, value in msgspec.json.decode(key[2:]).items()]
    return key[:1], key


def words(key: str) -> str:
    """Return a path element for messages."""
    if key.startswith("f:"):
        return f".{key[2:]}"
    value = msgspec.json.decode(key[2:])
    if key.startswith("k:"):
        return f"[{','.join(f'{name}={_shown(each)}' for name, each in value.items())}]"
    return f"[={_shown(value)}]" if key.startswith("v:") else f"[{value}]"


def _shown(value: Any) -> str:
    return quote(value) if isinstance(value, str) else _encode(value).decode()
