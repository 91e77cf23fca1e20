"""Axes: round numbers to mark on them, and times in words.

From the range of values to marks. The same range has the same marks on any machine.
"""

from collections.abc import Sequence
from math import log2
from typing import NamedTuple


class Mark(NamedTuple):
    """A position on an axis, and its label."""

    value: float
    text: str


_STEPS = (1, 2, 5, 10)
# marks of waiting times; an axis uses those in its range
_WAITING = (
    Mark(0, "0"),
    Mark(1, "1 s"),
    Mark(10, "10 s"),
    Mark(60, "1 min"),
    Mark(600, "10 min"),
    Mark(3600, "1 h"),
    Mark(36_000, "10 h"),
    Mark(864_000, "10 d"),
)
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def round_marks(largest: float, most: int = 5) -> list[Mark]:
    """Return marks from zero to at least the largest value, at round distances."""
    if largest <= 0:
        return [Mark(0, "0"), Mark(1, "1")]
    step = _step(largest / most)
    count = int(-(-largest // step))
    return [Mark(number * step, _plain(number * step)) for number in range(count + 1)]


def time_marks(seconds: float, most: int = 6) -> list[Mark]:
    """Return marks of simulated time, up to its end."""
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= 2 * size), (1, "s"))
    step = max(_step(seconds / size / most), 1 if size == 1 else 0.5) * size
    return [
        Mark(number * step, f"{_plain(number * step / size)} {unit}" if number else "0")
        for number in range(int(seconds // step) + 1)
    ]


def waiting_marks(largest: float) -> Sequence[Mark]:
    """Return marks of waiting times, up to the first one beyond the largest."""
    needed = next((index for index, mark in enumerate(_WAITING) if mark.value >= largest), len(_WAITING) - 1)
    return _WAITING[: max(needed, 1) + 1]


def waiting_place(seconds: float) -> float:
    """Return the position of a waiting time on its axis, which stretches short times."""
    return log2(1 + seconds)


def _step(least: float) -> float:
    """Return the smallest round number that is not below `least`."""
    if least <= 0:
        return 1.0
    power = 1.0
    while power > least:
        power /= 10
    while power * 10 <= least:
        power *= 10
    return next(factor * power for factor in _STEPS if factor * power >= least * 0.999999)


def _plain(value: float) -> str:
    return f"{value:.6g}"
