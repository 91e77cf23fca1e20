"""Preemptions that are being carried out, so that their preemptors wait for the outcome.

From whoever evicts to PreEnqueue: a pod whose victims are still being deleted is held back, until only the last
deletion is outstanding and that victim is gone or going.
"""

# upstream: framework/preemption/executor.go, IsPodRunningPreemption (v1.36)

from kubesched.core.cluster.cluster import Cluster


class PreemptionsUnderWay:
    """Preemptor -> the last victim to be deleted, once the others are."""

    def __init__(self, cluster: Cluster) -> None:
        self._table = cluster.table
        self._last_victim: dict[str, str] = {}

    def begin(self, preemptor_uid: str) -> None:
        """Note that victims of a pod are being deleted."""
        self._last_victim[preemptor_uid] = ""

    def last_victim(self, preemptor_uid: str, victim_uid: str) -> None:
        """Note that only this deletion is outstanding."""
        self._last_victim[preemptor_uid] = victim_uid

    def end(self, preemptor_uid: str) -> None:
        """Note that all victims are deleted, or that it failed."""
        self._last_victim.pop(preemptor_uid, None)

    def holds(self, preemptor_uid: str) -> bool:
        """Return whether a pod must wait for its victims."""
        victim_uid = self._last_victim.get(preemptor_uid)
        if not victim_uid:
            return victim_uid is not None
        victim = self._table.pods.get(victim_uid)
        return victim is not None and not victim.terminating
