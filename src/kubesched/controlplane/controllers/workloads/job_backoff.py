"""How long a job waits before it makes a pod again after one has failed.

From ends of pods to a number of seconds: ten after the first failure, twice as many after each other one in a row, ten
minutes at most.
"""

# upstream: pkg/controller/job/backoff_utils.go (v1.36)

from collections.abc import Sequence
from datetime import datetime

import msgspec

LEAST_SECONDS, MOST_SECONDS = 10.0, 600.0


class Backoff(msgspec.Struct, frozen=True, order=True):
    """Failures since the last success, and when the last one was."""

    failures: int = 0
    last: datetime | None = None

    def after(self, succeeded: Sequence[datetime], failed: Sequence[datetime]) -> "Backoff":
        """Return it with more pods that have ended."""
        if not succeeded:
            return Backoff(self.failures + len(failed), max(failed)) if failed else self
        success = max(succeeded)
        later = [time for time in failed if time > success]
        return Backoff(len(later), max(later)) if later else Backoff()

    def seconds_left(self, now: datetime) -> float:
        """Return how many seconds are left to wait."""
        if not self.failures or self.last is None:
            return 0.0
        seconds = min(LEAST_SECONDS * (1 << min(self.failures - 1, 10)), MOST_SECONDS)
        return max(0.0, seconds - (now - self.last).total_seconds())
