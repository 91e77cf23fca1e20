"""How much time details of decisions may take: a small share of all time, and a moment at once after a pause.

From a clock to whether details may be gathered now. A scheduler with little to do has details of every decision; in a
long burst some decisions go without.
"""

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")
SHARE: Final = 0.005
# what a burst may take at once, which a pause of four seconds saves up
MOST_SECONDS: Final = 0.02


class DetailBudget:
    """Saves up a share of the time, and spends it on details."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds = MOST_SECONDS
        self._seen = clock()

    def affords(self) -> bool:
        """Return whether details may be gathered now."""
        now = self._clock()
        seconds = self._seconds + (now - self._seen) * SHARE
        self._seconds = seconds if seconds < MOST_SECONDS else MOST_SECONDS
        self._seen = now
        return seconds > 0

    def spend(self, gather: Callable[[], T]) -> T:
        """Gather details, and take off what that takes."""
        found = gather()
        now = self._clock()
        self._seconds -= now - self._seen
        self._seen = now
        return found
