"""Schedules of cron jobs: `*/5 * * * *`, `@hourly`, `@every 1h30m`, in a time zone.

From a text to a `Schedule`, which returns the next time after another. An invalid text raises ScheduleError with the
reference's message.
"""

# upstream: robfig/cron/v3 {parser,spec,constantdelay}.go, pkg/util/parsers/parsers.go (v1.36)

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo

import msgspec

from kubesched.api.go_text import quote
from kubesched.config.golang import parse_duration
from kubesched.errors import KubeschedError

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_DAYS = {name: number for number, name in enumerate(_DAY_NAMES)}
# least, most, names
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_DESCRIBED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
# the search for the next time ends after so many years
_YEARS = 5


class ScheduleError(KubeschedError):
    """A text is not a valid schedule."""


class Schedule(Protocol):
    """The times of a cron job."""

    def next(self, after: datetime) -> datetime | None:
        """Return the first time after another, None if there is none."""


class Interval(msgspec.Struct, frozen=True):
    """A schedule with a fixed interval (`@every`)."""

    seconds: int

    def next(self, after: datetime) -> datetime | None:
        """Return the first time after another."""
        return after.replace(microsecond=0) + timedelta(seconds=self.seconds)


class Times(msgspec.Struct, frozen=True):
    """A schedule of minutes, hours, days, months and weekdays."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    # whether the day of the month and the weekday must both match; otherwise one of them is enough
    both_days: bool
    zone: tzinfo

    def next(self, after: datetime) -> datetime | None:
        """Return the first time after another, None if there is none within five years."""
        now = after.astimezone(self.zone).replace(microsecond=0) + timedelta(seconds=1)
        limit = now.year + _YEARS
        while now.year <= limit:
            if now.month not in self.months:
                now = self._midnight(now.year + now.month // 12, now.month % 12 + 1, 1)
            elif not self._fits(now):
                tomorrow = now.date() + timedelta(days=1)
                now = self._midnight(tomorrow.year, tomorrow.month, tomorrow.day)
            elif now.hour not in self.hours:
                now = self._later(now.replace(minute=0, second=0), hours=1)
            elif now.minute not in self.minutes:
                now = self._later(now.replace(second=0), minutes=1)
            elif now.second:
                now = self._later(now, seconds=60 - now.second)
            else:
                return now.astimezone(UTC)
        return None

    def _fits(self, moment: datetime) -> bool:
        day, weekday = moment.day in self.days, moment.isoweekday() % 7 in self.weekdays
        return day and weekday if self.both_days else day or weekday

    def _midnight(self, year: int, month: int, day: int) -> datetime:
        # where daylight saving time skips midnight, conversion to UTC and back yields the first time of the day
        return datetime(year, month, day, tzinfo=self.zone).astimezone(UTC).astimezone(self.zone)

    def _later(self, moment: datetime, **delta: int) -> datetime:
        return (moment.astimezone(UTC) + timedelta(**delta)).astimezone(self.zone)


@lru_cache(maxsize=1024)
def parse_schedule(text: str, time_zone: str | None = None) -> Schedule:
    """Return the schedule of a text, in a named time zone unless the text names one. Raises ScheduleError."""
    if not text:
        raise ScheduleError("empty spec string")
    zone: tzinfo = UTC if time_zone is None else zone_of(time_zone)
    if text.startswith(("TZ=", "CRON_TZ=")):
        name, space, rest = text.partition("=")[2].partition(" ")
        if not space:
            raise ScheduleError("invalid schedule format: runtime error: slice bounds out of range [:-1]")
        try:
            zone = zone_of(name)
        except ScheduleError as error:
            raise ScheduleError(f"provided bad location {name}: {error}") from None
        text = rest.strip()
    if text.startswith(_EVERY):
        try:
            duration = parse_duration(text.removeprefix(_EVERY))
        except ValueError as error:
            raise ScheduleError(f"failed to parse duration {text}: {error}") from None
        return Interval(max(1, duration.nanoseconds // 10**9))
    if text.startswith("@"):
        if text not in _DESCRIBED:
            raise ScheduleError(f"unrecognized descriptor: {text}")
        text = _DESCRIBED[text]
    return _times(text, zone)


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name. Raises ScheduleError."""
    if name in ("", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ScheduleError(f"unknown time zone {name}") from None


def _times(text: str, zone: tzinfo) -> Times:
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise ScheduleError(f"expected exactly {len(_FIELDS)} fields, found {len(parts)}: [{' '.join(parts)}]")
    fields = [_field(part, *bounds) for part, bounds in zip(parts, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = (frozenset(numbers) for numbers, _ in fields)
    return Times(minutes, hours, days, months, weekdays, fields[2][1] or fields[4][1], zone)


def _field(text: str, least: int, most: int, names: dict[str, int]) -> tuple[set[int], bool]:
    """Return the numbers of a field, and whether it contains a star."""
    numbers: set[int] = set()
    star = False
    for expression in text.split(","):
        if expression:
            found, any_number = _range(expression, least, most, names)
            numbers.update(found)
            star = star or any_number
    return numbers, star


def _range(text: str, least: int, most: int, names: dict[str, int]) -> tuple[range, bool]:
    limits, *steps = text.split("/")
    low, *high = limits.split("-")
    star = low in ("*", "?")
    if star:
        start, end = least, most
    elif len(high) > 1:
        raise ScheduleError(f"too many hyphens: {text}")
    else:
        start = _number(low, names)
        end = _number(high[0], names) if high else start
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {text}")
    step = _number(steps[0], {}) if steps else 1
    if steps and not high:
        end = most
    if start < least:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({least}): {text}")
    if end > most:
        raise ScheduleError(f"end of range ({end}) above maximum ({most}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if not step:
        raise ScheduleError(f"step of range should be a positive number: {text}")
    return range(start, end + 1, step), star and step == 1


def _number(text: str, names: dict[str, int]) -> int:
    named = names.get(text.lower())
    if named is not None:
        return named
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isascii() or not digits.isdigit():
        raise ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: invalid syntax")
    if len(digits.lstrip("0")) > 18:
        raise ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: value out of range")
    number = int(text)
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number
