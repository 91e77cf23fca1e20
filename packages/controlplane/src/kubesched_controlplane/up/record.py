"""The record of a scheduler: results that are not in the objects of the cluster.

From the scheduler's observers to values: the number of bindings, preempted pods, and the reasons why pods are gated or
could not be scheduled (also in their status, unless it could not be written).
"""

import re

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import ERROR, Bound, FailedAttempt, Observer
from kubesched.core.framework.values.status import Status

# pods for which reasons are kept; the oldest are dropped
MOST_REASONS = 10_000
# equal errors of a plugin in a row after which the error is taken for permanent
ENOUGH_FAILURES = 3
_RAISED = re.compile(r'plugin "[^"]*" failed in ')


class Preempted(msgspec.Struct, frozen=True):
    """A preempted pod, its node, and the preemptor (namespace/name)."""

    namespace: str
    name: str
    node: str
    by: str


class SchedulingRecord(Observer):
    """Records bindings, preemptions and reasons."""

    def __init__(self) -> None:
        # the number of bindings
        self.bound = 0
        self.preempted: list[Preempted] = []
        self._reasons: dict[str, str] = {}
        # by UID: attempts of a pod in a row that failed in a plugin with the same error
        self._failures: dict[str, int] = {}

    def pod_bound(self, bound: Bound) -> None:
        """Count a binding, and drop the reason of the pod."""
        self.bound += 1
        self._reasons.pop(bound.pod.uid, None)
        self._failures.pop(bound.pod.uid, None)

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Record a preempted pod; a victim that was still waiting to be bound is not deleted, and not recorded."""
        if not in_memory:
            self.preempted.append(Preempted(victim.namespace, victim.name, node_name, preemptor.full_name))

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """Record why a pod is gated."""
        self._keep(pod.uid, f"{plugin}: {status.message}")

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Record why a pod could not be scheduled, and count equal errors of plugins."""
        uid = failed.pod.uid
        if failed.result == ERROR and _RAISED.search(failed.message):
            again = self._reasons.get(uid) == failed.message
            self._failures[uid] = self._failures.get(uid, 0) + 1 if again else 1
        else:
            self._failures.pop(uid, None)
        self._keep(uid, failed.message)

    def fails_for_good(self, uid: str) -> bool:
        """Return whether the attempts of a pod keep failing in a plugin with the same error."""
        return self._failures.get(uid, 0) >= ENOUGH_FAILURES

    def reason(self, uid: str) -> str:
        """Return why the last attempt of a pod failed, an empty text if unknown."""
        return self._reasons.get(uid, "")

    def _keep(self, uid: str, reason: str) -> None:
        self._reasons.pop(uid, None)
        self._reasons[uid] = reason
        if len(self._reasons) > MOST_REASONS:
            oldest = next(iter(self._reasons))
            del self._reasons[oldest]
            self._failures.pop(oldest, None)
