"""A histogram of times with constant memory, whose figures are the same on any machine.

From seconds to percentiles. A time is stored as its power of two and the first seven bits of its mantissa, so a result
is at most 0.8 % below the true value. Logarithms are not used: their last bit differs between machines.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator

_PARTS = 256


class Histogram:
    """Counts of times by their leading digits."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, int]] = Counter()
        self.count = 0
        self.total = 0.0
        self.largest = 0.0

    def add(self, seconds: float) -> None:
        """Count a time."""
        self.count += 1
        self.total += seconds
        self.largest = max(self.largest, seconds)
        mantissa, exponent = math.frexp(seconds)
        self._counts[exponent, int(mantissa * _PARTS)] += 1

    def mean(self) -> float:
        """Return the mean, 0 without any times."""
        return self.total / self.count if self.count else 0.0

    def percentile(self, percent: float) -> float:
        """Return the time that this percentage of all times does not exceed, 0 without any times."""
        return next(self.percentiles([percent]))

    def percentiles(self, percents: Iterable[float]) -> Iterator[float]:
        """Yield the percentiles for ascending percentages."""
        ordered = iter(sorted(self._counts.items()))
        found, counted = 0.0, 0
        for percent in percents:
            needed = percent / 100 * self.count
            while counted < needed:
                (exponent, part), count = next(ordered)
                found = math.ldexp(part / _PARTS, exponent)
                counted += count
            yield found
