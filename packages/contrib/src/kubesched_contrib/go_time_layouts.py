"""Layouts of times in Go's notation: by the reference time `Mon Jan 2 15:04:05 MST 2006`.

From a layout such as `2006-01-02T15:04:05Z07:00` to a function from texts to seconds since 1970. A time without a
zone is in UTC.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

_FIRST_HALF = ("January", "February", "March", "April", "May", "June")
_MONTHS = (*_FIRST_HALF, "July", "August", "September", "October", "November", "December")
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_OFFSET = r"[+-]\d{2}"
# element -> name and pattern
_ELEMENTS = {
    "January": ("month_name", "|".join(_MONTHS)),
    "Jan": ("month_name", "|".join(name[:3] for name in _MONTHS)),
    "Monday": ("", "|".join(_DAYS)),
    "Mon": ("", "|".join(name[:3] for name in _DAYS)),
    "MST": ("", "UTC|GMT|Z"),
    "2006": ("year", r"\d{4}"),
    "Z07:00": ("offset", rf"Z|{_OFFSET}:\d{{2}}"),
    "Z0700": ("offset", rf"Z|{_OFFSET}\d{{2}}"),
    "Z07": ("offset", rf"Z|{_OFFSET}"),
    "-07:00": ("offset", rf"{_OFFSET}:\d{{2}}"),
    "-0700": ("offset", rf"{_OFFSET}\d{{2}}"),
    "-07": ("offset", _OFFSET),
    "01": ("month", r"\d{2}"),
    "02": ("day", r"\d{2}"),
    "03": ("hour12", r"\d{2}"),
    "04": ("minute", r"\d{2}"),
    "05": ("second", r"\d{2}"),
    "06": ("year2", r"\d{2}"),
    "15": ("hour", r"\d{2}"),
    "PM": ("half", "AM|PM"),
    "pm": ("half", "am|pm"),
    "_2": ("day", r" ?\d{1,2}"),
    "1": ("month", r"\d{1,2}"),
    "2": ("day", r"\d{1,2}"),
    "3": ("hour12", r"\d{1,2}"),
    "4": ("minute", r"\d{1,2}"),
    "5": ("second", r"\d{1,2}"),
}
_FRACTION = r"[.,](?:0+|9+)(?!\d)"
_ELEMENT = re.compile("|".join([_FRACTION, *map(re.escape, sorted(_ELEMENTS, key=len, reverse=True))]))


def time_reader(layout: str) -> Callable[[str], float]:
    """Return a function from a text to seconds since 1970, which raises ValueError for a text of another form.

    Raises ValueError for a layout without a year, whose times could not be compared.
    """
    pattern, names, end = "", set[str](), 0
    for found in _ELEMENT.finditer(layout):
        pattern += re.escape(layout[end : found.start()])
        end = found.end()
        name, form = _ELEMENTS.get(found[0], ("fraction", r"[.,]\d{1,9}"))
        if name and name in names:
            raise ValueError(f"{layout!r} contains the {name} twice")
        pattern += f"(?P<{name}>{form})" if name else f"(?:{form})"
        # Go reads a fraction behind the seconds, even if the layout has none
        if name == "second" and not re.match(_FRACTION, layout[end:]):
            pattern += r"(?P<fraction>[.,]\d{1,9})?"
            names.add("fraction")
        names.add(name)
    names.discard("")
    if not names & {"year", "year2"}:
        raise ValueError(f"{layout!r} has no year; write the layout as 2006-01-02T15:04:05Z07:00")
    expression = re.compile(pattern + re.escape(layout[end:]), re.ASCII)

    def seconds_of(text: str) -> float:
        matched = expression.fullmatch(text)
        if matched is None:
            raise ValueError(f"{text!r} is not of the form {layout!r}")
        return _moment({name: value for name, value in matched.groupdict().items() if value}).timestamp()

    return seconds_of


def _moment(parts: dict[str, str]) -> datetime:
    year = int(parts.get("year", 0)) or _century(int(parts.get("year2", 0)))
    month = int(parts.get("month", 1))
    if "month_name" in parts:
        month = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(parts["month_name"]))
    hour = int(parts.get("hour", parts.get("hour12", 0)))
    if "half" in parts:
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    fraction = float("0." + parts["fraction"][1:]) if "fraction" in parts else 0.0
    moment = datetime(year, month, int(parts.get("day", 1)), hour, int(parts.get("minute", 0)), tzinfo=_zone(parts))
    return moment + timedelta(seconds=int(parts.get("second", 0)) + fraction)


def _century(year: int) -> int:
    return year + (1900 if year >= 69 else 2000)


def _zone(parts: dict[str, str]) -> timezone:
    offset = parts.get("offset", "Z")
    if offset == "Z":
        return UTC
    minutes = int(offset[1:3]) * 60 + int(offset[3:].lstrip(":") or 0)
    return timezone(timedelta(minutes=-minutes if offset[0] == "-" else minutes))
