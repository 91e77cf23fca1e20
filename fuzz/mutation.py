"""Inputs made of seeds: something inside is replaced, left out, repeated or added, in the text or in its JSON."""

import copy
import json
from typing import Any

from hypothesis import strategies as st

MOST_EDITS = 5
_DEEP_LISTS, _DEEP_OBJECTS = b"[" * 3000 + b"]" * 3000, b'{"a":' * 1500 + b"1" + b"}" * 1500
TOKENS: tuple[bytes, ...] = (
    *(b"\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\\u202e", b"\xff", b"\xf0\x9f\x92\xa9", b"\x00", b"\n", b"\r\n"),
    *(b"null", b"true", b"-0", b"1e400", b"-1e-400", b"9223372036854775808", b"1" * 400, b"0.1", b'""', b"{}", b"[]"),
    *(
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\\",
        b'},{"metadata":',
        b"---\n",
        b"&a [*a]",
        b"!!python/none",
        b"<<:",
    ),
    *(_DEEP_LISTS, _DEEP_OBJECTS, b" " * 5000, b"a" * 70_000),
)
_DEEP: Any = "x"
for _ in range(150):
    _DEEP = {"a": [_DEEP]}
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 2**64, 10**30, 1e308, -0.0, 0.5),
    *("", "x", "ünï☃😀", "\0", "\ud800", "a" * 300, "-1", "1e30", "9223372036854775808", "100Ei", "1e-30", "nan", "/"),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "kubernetes.io/hostname", "In", "NotIn", "Exists", "Gt", "Lt"),
    *([], {}, [None], [[]], {"a": None}, {"": ""}, ["x"], [1], ["x"] * 200, {f"k{n}": "v" for n in range(200)}, _DEEP),
)


@st.composite
def inputs(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """Draw an input."""
    data = draw(st.sampled_from(seeds))
    edit = draw(st.sampled_from((_edit_text, _edit_json)))
    for _ in range(draw(st.integers(0, MOST_EDITS))):
        data = edit(draw, data)
    return data


def _edit_text(draw: st.DrawFn, data: bytes) -> bytes:
    at = draw(st.integers(0, len(data)))
    length = draw(st.sampled_from((0, 0, 1, 2, 4, 16, 64)))
    token = draw(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8), st.just(data[at : at + 40])))
    return data[:at] + token + data[at + length :]


def _edit_json(draw: st.DrawFn, data: bytes) -> bytes:
    try:
        return _edited_json(draw, data)
    except (ValueError, RecursionError):
        # it is no JSON, or nested deeper than Python goes
        return _edit_text(draw, data)


def _edited_json(draw: st.DrawFn, data: bytes) -> bytes:
    # what stands before the first brace chooses kinds and forms
    start = max(0, data.find(b"{"))
    document = json.loads(data[start:])
    inside = _places(document)
    if not inside:
        raise ValueError("there is nothing to edit")
    holder, key = draw(st.sampled_from(inside))
    match draw(st.sampled_from(("replace", "replace", "remove", "repeat", "rename", "swap"))):
        case "remove":
            del holder[key]
        case "repeat" if isinstance(holder, list):
            holder.extend([copy.deepcopy(holder[key])] * draw(st.sampled_from((1, 3, 50))))
        case "rename" if isinstance(holder, dict):
            holder[draw(st.sampled_from(("", "x", key.upper(), "\ud800", "a" * 300)))] = holder.pop(key)
        case "swap":
            other, place = draw(st.sampled_from(inside))
            holder[key] = copy.deepcopy(other[place])
        case _:
            holder[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    return data[:start] + json.dumps(document).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return (holder, key) of everything inside a value."""
    found, waiting = [], [value]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        found += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return found
