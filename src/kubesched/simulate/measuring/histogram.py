"""A histogram of times whose memory does not grow with their number, and whose figures are the same on any machine.

From seconds to percentiles. A time is kept as its power of two and the first seven bits of its mantissa: what comes out
is at most 0.8 % below what went in. No logarithm is used, whose last bit differs between machines.
"""

import math
from collections import Counter

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
        """Return the mean, 0 of none."""
        return self.total / self.count if self.count else 0.0

    def percentile(self, percent: float) -> float:
        """Return the time that so many percent of all do not exceed, 0 of none."""
        left = percent / 100 * self.count
        zero = self._counts.get((0, 0), 0)
        left -= zero
        if left <= 0:
            return 0.0
        found = 0.0
        for (exponent, part), count in sorted(self._counts.items()):
            if part:
                found = math.ldexp(part / _PARTS, exponent)
                left -= count
                if left <= 0:
                    break
        return found
