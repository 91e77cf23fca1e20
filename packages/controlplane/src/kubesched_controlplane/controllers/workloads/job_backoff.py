"""The backoff of jobs after failed pods.

From the times of terminal pods to the seconds until the next pod: ten after the first failure, doubled with each
further failure in a row, ten minutes at most.
"""

# upstream: pkg/controller/job/backoff_utils.go (v1.36)

from collections.abc import Sequence
from datetime import datetime

import msgspec

LEAST_SECONDS, MOST_SECONDS = 10.0, 600.0


class Backoff(msgspec.Struct, frozen=True, order=True):
    """The number of failures since the last success, and the time of the last failure."""

    failures: int = 0
    last: datetime | None = None

    def after(self, succeeded: Sequence[datetime], failed: Sequence[datetime]) -> "Backoff":
        """Return the backoff after further pods have succeeded and failed at these times."""
        if not succeeded:
            return Backoff(self.failures + len(failed), max(failed)) if failed else self
        success = max(succeeded)
        later = [time for time in failed if time > success]
        return Backoff(len(later), max(later)) if later else Backoff()

    def seconds_left(self, now: datetime) -> float:
        """Return the seconds until the next pod may be created."""
        if not self.failures or self.last is None:
            return 0.0
        seconds = min(LEAST_SECONDS * (1 << min(self.failures - 1, 10)), MOST_SECONDS)
        return max(0.0, seconds - (now - self.last).total_seconds())
