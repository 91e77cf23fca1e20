"""Retries with exponential backoff.

From keys whose reconcile failed to the same keys on the workqueue, after their backoff.
"""

# upstream: client-go/util/workqueue/default_rate_limiters.go (v1.36)

from typing import Final

from kubesched_controlplane.controllers.framework.controller import Key
from kubesched_controlplane.controllers.framework.workqueue import Workqueue

_LEAST_SECONDS: Final = 0.005
_MOST_SECONDS: Final = 1000.0
_MOST_DOUBLINGS: Final = 20


class Retries:
    """The number of failed reconciles of each key."""

    def __init__(self, workqueue: Workqueue[Key]) -> None:
        self._queue = workqueue
        self._failures: dict[Key, int] = {}

    def again(self, key: Key) -> None:
        """Queue a key again after its backoff."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self._queue.add_after(key, min(_LEAST_SECONDS * (1 << min(failures, _MOST_DOUBLINGS)), _MOST_SECONDS))

    def forget(self, key: Key) -> None:
        """Forget the failures of a key."""
        self._failures.pop(key, None)
