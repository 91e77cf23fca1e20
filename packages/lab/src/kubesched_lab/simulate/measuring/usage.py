"""The usage of a cluster over time: exact integrals, for any times between changes.

From amounts that change (requests of bound pods, allocatable of nodes, waiting pods) to their means over time.
"""

from collections.abc import Mapping


class Gauge:
    """A number that changes in steps, and its integral over time."""

    __slots__ = ("_area", "_since", "value")

    def __init__(self) -> None:
        self.value = 0
        self._area = 0.0
        self._since = 0.0

    def add(self, change: int, now: float) -> None:
        """Change the number."""
        self._area += self.value * (now - self._since)
        self._since = now
        self.value += change

    def area(self, now: float) -> float:
        """Return the integral up to now."""
        return self._area + self.value * (now - self._since)

    def restart(self, now: float) -> None:
        """Reset the integral."""
        self._area, self._since = 0.0, now


class Gauges:
    """Gauges by name, created at their first change."""

    def __init__(self) -> None:
        self.of: dict[str, Gauge] = {}

    def add(self, amounts: Mapping[str, int], sign: int, now: float) -> None:
        """Add amounts, or subtract them."""
        for name, amount in amounts.items():
            if amount:
                gauge = self.of.get(name)
                if gauge is None:
                    gauge = self.of[name] = Gauge()
                    gauge.restart(now)
                gauge.add(sign * amount, now)

    def restart(self, now: float) -> None:
        """Reset all integrals."""
        for gauge in self.of.values():
            gauge.restart(now)
