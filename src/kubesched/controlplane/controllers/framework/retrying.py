"""Trying again, later each time.

From keys of what could not be seen to, to times on an agenda.
"""

# upstream: client-go/util/workqueue/default_rate_limiters.go (v1.36)

from typing import Final

from kubesched.controlplane.controllers.framework.controller import Key
from kubesched.controlplane.controllers.framework.workqueue import Workqueue

_LEAST_SECONDS: Final = 0.005
_MOST_SECONDS: Final = 1000.0
_MOST_DOUBLINGS: Final = 20


class Retries:
    """How often keys could not be seen to."""

    def __init__(self, workqueue: Workqueue[Key]) -> None:
        self._agenda = workqueue
        self._failures: dict[Key, int] = {}

    def again(self, key: Key) -> None:
        """Have a key looked at again that could not be seen to."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self._agenda.add_after(key, min(_LEAST_SECONDS * (1 << min(failures, _MOST_DOUBLINGS)), _MOST_SECONDS))

    def forget(self, key: Key) -> None:
        """Forget that a key could not be seen to."""
        self._failures.pop(key, None)
