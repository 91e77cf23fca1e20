"""Functions that read parts of times and durations."""

# upstream: cel-go common/stdlib/standard.go (v0.26)

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from kubesched.cel.errors import CelAbortError
from kubesched.cel.functions.arithmetic import truncated
from kubesched.cel.values import Duration, Timestamp

_EPOCH: Final = datetime(1970, 1, 1)
_OFFSET: Final = re.compile(r"([+-]?[0-9]{1,2}):([0-9]{1,2})")


def _local(moment: Timestamp, zone: str) -> datetime:
    return _EPOCH + timedelta(seconds=moment.seconds + _offset_seconds(zone), microseconds=moment.nanoseconds // 1000)


def _offset_seconds(zone: str) -> int:
    if zone in ("", "UTC"):
        return 0
    found = _OFFSET.fullmatch(zone)
    if found is None:
        # differs (D-029): the reference reads the machine's time zone files, which a device selector does not need
        raise CelAbortError(f"kubesched knows time zones by offset only: {zone}")
    hours, minutes = int(found[1]), int(found[2])
    return (hours * 60 + (-minutes if zone.startswith("-") else minutes)) * 60


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "year": lambda local: local.year,
    "month": lambda local: local.month - 1,
    "day_of_year": lambda local: local.timetuple().tm_yday - 1,
    "day_of_month": lambda local: local.day - 1,
    "day_of_month_1_based": lambda local: local.day,
    "day_of_week": lambda local: local.isoweekday() % 7,
    "hours": lambda local: local.hour,
    "minutes": lambda local: local.minute,
    "seconds": lambda local: local.second,
    "milliseconds": lambda local: local.microsecond // 1000,
}
_UNITS: Final = {"hours": 3600 * 10**9, "minutes": 60 * 10**9, "seconds": 10**9, "milliseconds": 10**6}

TIME_PARTS: Final = tuple(_PARTS)
DURATION_PARTS: Final = tuple(_UNITS)


def timestamp_part(part: str) -> Callable[..., int]:
    """Return the function that reads a part of a point in time, in UTC or at an offset."""
    read = _PARTS[part]

    def apply(moment: Timestamp, zone: str = "") -> int:
        return read(_local(moment, zone))

    return apply


def duration_part(part: str) -> Callable[[Duration], int]:
    """Return the function that counts the units of a duration."""
    unit = _UNITS[part]

    def apply(duration: Duration) -> int:
        return truncated(duration.nanoseconds, unit)

    return apply
