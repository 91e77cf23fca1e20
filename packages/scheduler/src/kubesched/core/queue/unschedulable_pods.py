"""Unschedulable and gated pods, indexed by the events that they wait for.

From an event to the pods that it may make schedulable, oldest first, without visiting other pods.
"""

from collections.abc import Collection, Iterator
from math import inf

from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.queue.queueing_hints import WaitsFor


class UnschedulablePods:
    """Pods by UID, and by the events that they wait for."""

    __slots__ = ("_by_wait", "_next", "_oldest", "_pods", "_waits")

    def __init__(self) -> None:
        # uid -> (number, pod), in the order of the numbers
        self._pods: dict[str, tuple[int, QueuedPod]] = {}
        self._waits: dict[str, Collection[WaitsFor]] = {}
        self._by_wait: dict[WaitsFor, set[str]] = {}
        self._next = 0
        # no pod was added before this time
        self._oldest = inf

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, uid: object) -> bool:
        return uid in self._pods

    def __iter__(self) -> Iterator[QueuedPod]:
        return (queued for _, queued in list(self._pods.values()))

    def get(self, uid: str) -> QueuedPod | None:
        """Return the pod under a UID."""
        found = self._pods.get(uid)
        return None if found is None else found[1]

    def put(self, queued: QueuedPod, waits_for: Collection[WaitsFor]) -> None:
        """Add a pod, or update the events that it waits for."""
        uid = queued.uid
        if uid not in self._pods:
            self._pods[uid] = (self._next, queued)
            self._next += 1
        self._oldest = min(self._oldest, _since(queued))
        self._forget(uid)
        self._waits[uid] = waits_for
        for each in waits_for:
            self._by_wait.setdefault(each, set()).add(uid)

    def remove(self, uid: str) -> None:
        """Remove a pod."""
        if self._pods.pop(uid, None) is not None:
            self._forget(uid)

    def waiting_for(self, helped: Collection[WaitsFor] | None) -> list[QueuedPod]:
        """Return the pods that wait for any of these, all pods for None."""
        if helped is None:
            return list(self)
        none: set[str] = set()
        uids = none.union(*(self._by_wait.get(each, none) for each in helped))
        return [queued for _, queued in sorted((self._pods[uid] for uid in uids), key=_number)]

    def stale(self, now: float, limit: float) -> list[QueuedPod]:
        """Return the pods that have been here for longer than `limit` seconds, or that long since the last flush."""
        if not now - self._oldest > limit:
            return []
        found = [queued for queued in self if now - _since(queued) > limit]
        left = (_since(queued) for queued in self if not now - _since(queued) > limit)
        # the flushed pods count as added now
        self._oldest = min(left, default=now)
        return found

    def _forget(self, uid: str) -> None:
        for each in self._waits.pop(uid, ()):
            uids = self._by_wait[each]
            uids.discard(uid)
            if not uids:
                del self._by_wait[each]


def _since(queued: QueuedPod) -> float:
    """Return when a pod's last attempt or its last flush was."""
    return max(queued.timestamp, queued.flushed_at)


def _number(entry: tuple[int, QueuedPod]) -> int:
    return entry[0]
