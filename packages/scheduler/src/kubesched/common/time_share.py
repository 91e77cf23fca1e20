"""A share of the time, for deferrable work.

From a clock to whether such work may begin now. Unused time is saved, up to a limit, and spent by the work.
"""

import math
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TimeShare:
    """Saves `share` of the time, at most `most_seconds`; `again_at` is when some of it is available again."""

    __slots__ = ("_clock", "_most_seconds", "_seconds", "_seen", "_share", "again_at")

    def __init__(self, clock: Callable[[], float], share: float, most_seconds: float) -> None:
        self._clock = clock
        self._share = share
        self._most_seconds = self._seconds = most_seconds
        self._seen = self.again_at = -math.inf

    @property
    def available(self) -> bool:
        """Return whether time is available."""
        return self._clock() >= self.again_at

    def spend(self, work: Callable[[], T]) -> T:
        """Do work, and subtract its duration."""
        began = self._clock()
        found = work()
        self.charge(began, self._clock())
        return found

    def charge(self, began: float, ended: float) -> None:
        """Subtract the duration of finished work."""
        saved = min(self._most_seconds, self._seconds + (began - self._seen) * self._share)
        self._seconds = saved - (ended - began)
        self._seen = began
        # waiting pays off a debt
        self.again_at = ended if self._seconds > 0 else began - self._seconds / self._share
