"""Numbers, times and values as the reference formats them.

From values to the texts of Go's `%g` and `%v`, of RFC 3339 times and of durations, and back where selectors read
such texts.
"""

import re
from datetime import datetime, timedelta
from typing import Any, Final

from kubesched.api.go_numbers import plain, shortest
from kubesched.api.quantity import Quantity
from kubesched.cel.types import Type
from kubesched.cel.values import (
    MAX_INT,
    CelMap,
    ComputedQuantity,
    Duration,
    Opaque,
    Optional,
    Timestamp,
    type_of,
    weight,
)

SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_SECOND: Final = 10**9
_MOST_SHOWN: Final = 10_000
_EPOCH: Final = datetime(1970, 1, 1)


def duration_text(value: Duration) -> str:
    """Return a duration as CEL formats it: in seconds."""
    seconds, rest = divmod(abs(value.nanoseconds), _SECOND)
    total = float(seconds) + float(rest) / 1e9
    return f"{plain(-total if value.nanoseconds < 0 else total)}s"


def timestamp_text(value: Timestamp) -> str:
    """Return a time as RFC 3339, without trailing zeroes of the fraction."""
    local = _EPOCH + timedelta(seconds=value.seconds + value.offset_seconds)
    fraction = f".{value.nanoseconds:09d}".rstrip("0") if value.nanoseconds else ""
    if not value.offset_seconds:
        zone = "Z"
    else:
        minutes = abs(value.offset_seconds) // 60
        zone = f"{'-' if value.offset_seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{local.year:04d}-{local:%m-%dT%H:%M:%S}{fraction}{zone}"


_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)


def parse_timestamp(text: str) -> Timestamp | None:
    """Return the time that an RFC 3339 text stands for, or None."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    offset = 0
    if found[8]:
        if int(found[9]) > 24 or int(found[10]) >= 60:
            return None
        offset = (int(found[9]) * 60 + int(found[10])) * (-60 if found[8] == "-" else 60)
    year = int(found[1])
    try:
        # Python has no year 0; it is a leap year, as year 4 is
        month, day, hour, minute, second = (int(found[at]) for at in range(2, 7))
        moment = datetime(year or 4, month, day, hour, minute, second)
    except ValueError:
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - offset
    if year == 0:
        seconds -= 4 * 365 * 86400 + 86400
    return Timestamp(seconds, int(f"{found[7] or '0':0<9}"[:9]), offset)


_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_DURATION_PART: Final = re.compile(r"(\d*)(?:\.(\d*))?([^\d.]+)", re.ASCII)


def parse_duration(text: str) -> Duration | None:
    """Return the duration that a text like `1h30m` stands for, or None."""
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return Duration(0)
    total, position = 0, 0
    while position < len(body):
        part = _DURATION_PART.match(body, position)
        if part is None or not (part[1] or part[2]) or part[3] not in _UNITS or len(part[0]) > 64:
            return None
        unit = _UNITS[part[3]]
        fraction = part[2] or ""
        total += int(part[1] or "0") * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        position = part.end()
    negative = text.startswith("-")
    if position == 0 or total > MAX_INT + negative:
        return None
    return Duration(-total if negative else total)


def shown(value: Any) -> str:
    """Return a value as `%v` formats it for messages, or only its type if it is long."""
    if isinstance(value, list | CelMap | Optional) and weight(value) > _MOST_SHOWN:
        return f"({type_of(value)})"
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case float():
            return shortest(value)
        case int():
            return str(int(value))
        case None:
            return "0"
        case bytes():
            return f"[{' '.join(map(str, value))}]"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case CelMap():
            return f"{{{', '.join(f'{shown(key)}: {shown(inner)}' for key, inner in value.items())}}}"
        case Optional():
            return f"optional({shown(value.value)})" if value.present else "optional.none()"
        case Duration():
            return duration_text(value)
        case Timestamp():
            return timestamp_text(value)
        case Type() | Quantity():
            return str(value)
        case ComputedQuantity():
            return str(value.quantity)
        case Opaque():
            return str(value.held)
    return str(value)
