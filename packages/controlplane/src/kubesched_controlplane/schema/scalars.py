"""The canonical form of quantities and times, as Go decodes and encodes them.

From the value in a document to the text that is stored. A malformed value raises `ScalarError` with Go's message.
"""

# upstream: apimachinery/pkg/api/resource/quantity.go, apis/meta/v1/{time,micro_time}.go, apis/core/v1/defaults.go
# (SetDefaults_ResourceList) (v1.36), Go's time/format.go

import re
from calendar import monthrange
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from kubesched.api.quantity import InvalidQuantityError, Quantity, quantity_of

_MILLI = -3


class ScalarError(ValueError):
    """A malformed quantity or time, with Go's message."""


def canonical_quantity(raw: Any) -> str:
    """Return the canonical form of a quantity; raises ScalarError."""
    return _quantity_text(_readable(raw))


def canonical_milli_quantity(raw: Any) -> str:
    """Return the canonical form of a quantity in a resource list: in whole thousandths, rounded away from zero."""
    return _milli_quantity_text(_readable(raw))


def _readable(raw: Any) -> str | int | float:
    """Return a text or a number; other values become a text that is not a quantity."""
    return raw if isinstance(raw, str | int | float) and not isinstance(raw, bool) else "no quantity"


@lru_cache(maxsize=16384)
def _quantity_text(raw: str | int | float) -> str:
    return str(_quantity(raw))


@lru_cache(maxsize=16384)
def _milli_quantity_text(raw: str | int | float) -> str:
    quantity = _quantity(raw)
    if quantity.exponent >= _MILLI:
        return str(quantity)
    divisor: int = 10 ** (_MILLI - quantity.exponent)
    magnitude = -(-abs(quantity.unscaled) // divisor)
    return str(Quantity(magnitude * quantity.sign(), _MILLI, quantity.format, quantity.big))


def _quantity(raw: str | int | float) -> Quantity:
    try:
        return quantity_of(raw)
    except InvalidQuantityError as error:
        raise ScalarError(error.reason) from None


class _Part(NamedTuple):
    """A part of the layout of times, with its pattern, its name for messages and its bounds."""

    layout: str
    pattern: re.Pattern[str]
    what: str = ""
    least: int = 0
    most: int = 0


def _part(layout: str, pattern: str, *bounds: Any) -> _Part:
    return _Part(layout, re.compile(pattern, re.ASCII), *bounds)


_TO_THE_SECOND = (
    _part("2006", r"(\d{4})", "year", 0, 9999),
    _part("-", "-"),
    _part("01", r"(\d\d)", "month", 1, 12),
    _part("-", "-"),
    _part("02", r"(\d\d)", "day", 0, 99),
    _part("T", "T"),
    # Go accepts an hour of one digit
    _part("15", r"(\d\d?)", "hour", 0, 23),
    _part(":", ":"),
    _part("04", r"(\d\d)", "minute", 0, 59),
    _part(":", ":"),
    _part("05", r"(\d\d)", "second", 0, 59),
)
_ZONE = _part("Z07:00", r"(Z|[+-]\d\d:\d\d)")
_SECONDS = ("2006-01-02T15:04:05Z07:00", (*_TO_THE_SECOND, _part("", r"((?:[.,]\d+)?)"), _ZONE))
_MICROSECONDS = ("2006-01-02T15:04:05.000000Z07:00", (*_TO_THE_SECOND, _part(".000000", r"([.,]\d{6})"), _ZONE))
# the zero of Go's times, which equals null
ZERO_TIME = "0001-01-01T00:00:00"


@lru_cache(maxsize=16384)
def canonical_time(raw: str) -> str | None:
    """Return the canonical form of a time: in UTC, to the second; None for the zero time. Raises ScalarError."""
    second, _ = _moment(raw, *_SECONDS)
    return None if second == ZERO_TIME else f"{second}Z"


@lru_cache(maxsize=16384)
def canonical_micro_time(raw: str) -> str | None:
    """Return the canonical form of a time: in UTC, to the microsecond; None for the zero time. Raises ScalarError."""
    second, micros = _moment(raw, *_MICROSECONDS)
    return None if (second, micros) == (ZERO_TIME, "000000") else f"{second}.{micros}Z"


def _moment(raw: str, layout: str, parts: tuple[_Part, ...]) -> tuple[str, str]:
    """Return a time in UTC as `YYYY-MM-DDTHH:MM:SS`, and the digits of its fraction; raises ScalarError."""
    found: list[str] = []
    at = 0
    for part in parts:
        match = part.pattern.match(raw, at)
        if match is None:
            problem = f"cannot parse {_quoted(raw[at:])} as {_quoted(part.layout)}"
            raise ScalarError(f"parsing time {_quoted(raw)} as {_quoted(layout)}: {problem}")
        found += match.groups()
        at = match.end()
        if part.what and not part.least <= int(match[1]) <= part.most:
            raise _out_of_range(raw, part.what)
    *numbers, fraction, zone = found
    offset = _offset(raw, zone)
    if at < len(raw):
        raise ScalarError(f"parsing time {_quoted(raw)}: extra text: {_quoted(raw[at:])}")
    year, month, day, hour, minute, second = map(int, numbers)
    if not 1 <= day <= monthrange(year, month)[1]:
        raise _out_of_range(raw, "day")
    local = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    if offset:
        # differs (D-126): the reference writes years that no client can parse
        try:
            local = (datetime.fromisoformat(local) - offset).isoformat()
        except (OverflowError, ValueError):
            raise _out_of_range(raw, "year") from None
    return local, fraction[1:]


def _offset(raw: str, zone: str) -> timedelta:
    if zone == "Z":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 24 or minutes > 60:
        raise _out_of_range(raw, f"time zone offset {'hour' if hours > 24 else 'minute'}")
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


def _out_of_range(raw: str, what: str) -> ScalarError:
    return ScalarError(f"parsing time {_quoted(raw)}: {what} out of range")


def _quoted(text: str) -> str:
    """Quote a text like Go's time package: bytes that are not printable ASCII in hexadecimal."""
    shown = (
        f"\\{chr(byte)}" if chr(byte) in '"\\' else chr(byte) if 0x20 <= byte < 0x80 else f"\\x{byte:02x}"
        for byte in text.encode(errors="replace")
    )
    return f'"{"".join(shown)}"'
