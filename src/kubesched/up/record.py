"""What a scheduler did that cannot be read from the objects it leaves behind.

From the scheduler's observers to values: how many were bound, who had to go for whom, why pods are held back or could
not be placed (which their status says, too, unless it could not be written).
"""

import re

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observer import ERROR, Bound, FailedAttempt, Observer
from kubesched.core.framework.status import Status

# reasons are kept for so many pods, the last ones
MOST_REASONS = 10_000
# an error of a plugin that comes so often in a row is taken to come every time
ENOUGH_FAILURES = 3
_RAISED = re.compile(r'plugin "[^"]*" failed in ')


class Preempted(msgspec.Struct, frozen=True):
    """A pod that had to go, from where, and for whom (namespace/name)."""

    namespace: str
    name: str
    node: str
    by: str


class SchedulingRecord(Observer):
    """Keeps what happened."""

    def __init__(self) -> None:
        # how many bindings there were
        self.bound = 0
        self.preempted: list[Preempted] = []
        self._reasons: dict[str, str] = {}
        # how often in a row a pod's attempts failed in a plugin with the same error, by UID
        self._failures: dict[str, int] = {}

    def pod_bound(self, bound: Bound) -> None:
        """Count it."""
        self.bound += 1
        self._reasons.pop(bound.pod.uid, None)
        self._failures.pop(bound.pod.uid, None)

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Keep who had to go; one that was called back before it was bound is still there."""
        if not in_memory:
            self.preempted.append(Preempted(victim.namespace, victim.name, node_name, preemptor.full_name))

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """Keep why a pod is held back."""
        self._keep(pod.uid, f"{plugin}: {status.message}")

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Keep why a pod could not be placed, and how often a plugin is to blame for that."""
        uid = failed.pod.uid
        if failed.result == ERROR and _RAISED.search(failed.message):
            again = self._reasons.get(uid) == failed.message
            self._failures[uid] = self._failures.get(uid, 0) + 1 if again else 1
        else:
            self._failures.pop(uid, None)
        self._keep(uid, failed.message)

    def fails_for_good(self, uid: str) -> bool:
        """Return whether attempts of a pod fail in a plugin, again and again, with the same error."""
        return self._failures.get(uid, 0) >= ENOUGH_FAILURES

    def reason(self, uid: str) -> str:
        """Return why a pod was not placed when it was last looked at, an empty text if that is not known."""
        return self._reasons.get(uid, "")

    def _keep(self, uid: str, reason: str) -> None:
        self._reasons.pop(uid, None)
        self._reasons[uid] = reason
        if len(self._reasons) > MOST_REASONS:
            oldest = next(iter(self._reasons))
            del self._reasons[oldest]
            self._failures.pop(oldest, None)
