"""How much time details of decisions may take: a small share of all time, and a moment at once after a pause.

From a clock to whether details may be gathered now. A scheduler with little to do has details of every decision; in a
long burst some decisions go without.
"""

from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")
SHARE: Final = 0.003
# what a burst may take at once, which a pause of some seconds saves up
MOST_SECONDS: Final = 0.02


class DetailBudget:
    """Saves up a share of the time, and spends it on details; `again_at` is when there is something to spend."""

    __slots__ = ("_clock", "_seconds", "_seen", "again_at")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds = MOST_SECONDS
        self._seen = self.again_at = clock()

    def spend(self, gather: Callable[[], T]) -> T:
        """Gather details, and take off what that takes."""
        began = self._clock()
        found = gather()
        ended = self._clock()
        saved = min(MOST_SECONDS, self._seconds + (began - self._seen) * SHARE)
        self._seconds = saved - (ended - began)
        self._seen = began
        # a debt is paid off by waiting
        self.again_at = ended if self._seconds > 0 else began - self._seconds / SHARE
        return found
