"""Go's durations, floats and base64, so that configurations are read and written as the reference does it.

In: texts and Python values. Out: the results of Go's time, strconv and encoding packages. Pure functions.
"""

from __future__ import annotations

import base64
import re
import struct

import msgspec

from kubesched.api.go_text import quote

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)

_NANOSECOND = 1
_MICROSECOND = 1000
_MILLISECOND = 1000 * _MICROSECOND
_SECOND = 1000 * _MILLISECOND
_UNITS = {
    "ns": _NANOSECOND,
    "us": _MICROSECOND,
    "µs": _MICROSECOND,
    "μs": _MICROSECOND,
    "ms": _MILLISECOND,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_TERM = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")


def parse_bool(text: str) -> bool:
    """Return the result of strconv.ParseBool; raises ValueError with its message."""
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise ValueError(f"strconv.ParseBool: parsing {quote(text)}: invalid syntax")


def decode_base64(text: str) -> bytes:
    """Decode base64 `text`, ignoring line breaks only; raises ValueError if it is not base64."""
    return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)


def float32(value: float) -> float:
    """Return the shortest decimal that is the same float32 as `value`; OverflowError beyond that type."""
    packed = struct.pack("<f", value)
    for digits in range(1, 10):
        shortest = float(f"{value:.{digits}g}")
        if struct.pack("<f", shortest) == packed:
            return shortest
    return value


class Duration(msgspec.Struct, frozen=True, order=True):
    """A span of time as Go counts it: whole nanoseconds in an int64."""

    nanoseconds: int = 0

    @property
    def seconds(self) -> float:
        """Return the span in seconds."""
        return self.nanoseconds / _SECOND

    def __str__(self) -> str:
        return format_duration(self.nanoseconds)

    def __bool__(self) -> bool:
        return self.nanoseconds != 0


def seconds(count: int) -> Duration:
    """Return a span of `count` seconds."""
    return Duration(count * _SECOND)


def _decimal(nanoseconds: int, unit: int) -> str:
    whole, fraction = divmod(nanoseconds, unit)
    if not fraction:
        return str(whole)
    return f"{whole}.{str(fraction).zfill(len(str(unit)) - 1).rstrip('0')}"


def format_duration(nanoseconds: int) -> str:
    """Return the text of Go's Duration.String: `1h0m0s`, `1.5s`, `500ms`, `0s`."""
    if not nanoseconds:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    for unit, name in ((_SECOND, "ms"), (_MILLISECOND, "µs"), (_MICROSECOND, "ns")):
        smaller = unit // 1000
        if smaller <= rest < unit:
            return f"{sign}{_decimal(rest, smaller)}{name}"
    minutes, rest = divmod(rest, 60 * _SECOND)
    text = f"{_decimal(rest, _SECOND)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{minutes}m{text}"
        if hours:
            text = f"{hours}h{text}"
    return sign + text


def parse_duration(text: str) -> Duration:
    """Return the span that Go's time.ParseDuration reads in `text`; ValueError with Go's message otherwise."""
    invalid = ValueError(f"time: invalid duration {quote(text)}")
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return Duration(0)
    if not rest:
        raise invalid
    total = 0
    while rest:
        match = _TERM.match(rest)
        assert match is not None  # every part of the pattern may be empty
        whole, fraction, unit = match[1], match[2] or "", match[3]
        if not whole and not fraction:
            raise invalid
        if not unit:
            raise ValueError(f"time: missing unit in duration {quote(text)}")
        if unit not in _UNITS:
            raise ValueError(f"time: unknown unit {quote(unit)} in duration {quote(text)}")
        # More digits than an int64 has are an overflow whatever their unit; int() refuses to read very many.
        if len(whole.lstrip("0")) > 19:
            raise invalid
        total += int(whole or "0") * _UNITS[unit]
        # Digits past the 18th cannot reach a nanosecond of an hour that int64 could hold.
        total += int(fraction[:18] or "0") * _UNITS[unit] // 10 ** len(fraction[:18])
        if total > INT64_MAX + negative:
            raise invalid
        rest = rest[match.end() :]
    return Duration(-total if negative else total)
