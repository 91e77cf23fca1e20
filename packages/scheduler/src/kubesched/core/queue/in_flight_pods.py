"""In-flight pods, and the events since they were popped.

An event may come too late for the running attempt, and yet make the pod schedulable. So events are kept as long as any
pod that was popped before them is in flight. Events about objects that no pod in flight uses are not kept.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Set
from typing import Any, NamedTuple

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import FORCE_ACTIVATED
from kubesched.core.framework.values.events import ClusterEvent, Resource
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.queue.queueing_hints import ANYTHING, WaitsFor


class SeenEvent(NamedTuple):
    """An event with its objects."""

    event: ClusterEvent
    old: Any
    new: Any


class InFlightPods:
    """Pods in the order in which they were popped, and the events since the oldest of them."""

    __slots__ = ("_events", "_next", "_pods", "_unread", "_users", "_waits")

    def __init__(self) -> None:
        self._next = 0
        # uid -> (number of the first event after the pop, pod)
        self._pods: dict[str, tuple[int, QueuedPod]] = {}
        self._events: deque[SeenEvent] = deque()
        # by pod, the objects for which it may wait; and the number of such pods by object
        self._waits: dict[str, Collection[WaitsFor]] = {}
        self._users: Counter[WaitsFor] = Counter()
        # the pods whose objects are not in `_waits` yet; the next event about an object adds them
        self._unread: dict[str, QueuedPod] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, uid: object) -> bool:
        return uid in self._pods

    def __iter__(self) -> Iterator[QueuedPod]:
        return (pod for _, pod in list(self._pods.values()))

    @property
    def kept_events(self) -> int:
        """Return how many events are kept."""
        return len(self._events)

    def labels(self) -> Counter[str]:
        """Return how many events are kept, by label."""
        return Counter(
            FORCE_ACTIVATED if seen.event.resource == Resource.WILDCARD else seen.event.label
            for seen in list(self._events)
        )

    def get(self, uid: str) -> QueuedPod | None:
        """Return the pod in flight under a UID."""
        found = self._pods.get(uid)
        return None if found is None else found[1]

    def begin(self, pod: QueuedPod) -> None:
        """Keep events for a pod from now on."""
        self._pods[pod.uid] = (self._next, pod)
        self.update(pod)

    def update(self, pod: QueuedPod) -> None:
        """Forget which objects a pod may wait for, since its version changed."""
        self._forget(pod.uid)
        self._unread[pod.uid] = pod

    def may_wait_for(self, helped: Set[WaitsFor] | None, waits_of: Callable[[PodInfo], Collection[WaitsFor]]) -> bool:
        """Return whether any pod in flight may wait for one of these; None stands for anything.

        Any plugin may reject a pod in flight; `waits_of` returns the objects that the pod then waits for.
        """
        if not self._pods:
            return False
        if helped is None or any(isinstance(each, str) and each != ANYTHING for each in helped):
            return True
        for uid, queued in self._unread.items():
            self._waits[uid] = waits = waits_of(queued.pod)
            self._users.update(waits)
        self._unread.clear()
        return any(each in self._users for each in helped)

    def note(self, event: ClusterEvent, old: Any, new: Any) -> None:
        """Keep an event if any pod is in flight."""
        if self._pods:
            self._events.append(SeenEvent(event, old, new))
            self._next += 1

    def since(self, uid: str) -> list[SeenEvent]:
        """Return the events since a pod was popped."""
        start, _ = self._pods[uid]
        skip = start - (self._next - len(self._events))
        return [event for index, event in enumerate(self._events) if index >= skip]

    def end(self, uid: str) -> None:
        """Stop keeping events for a pod; drop the events that no pod in flight needs."""
        self._pods.pop(uid, None)
        self._forget(uid)
        oldest = next(iter(self._pods.values()))[0] if self._pods else self._next
        while self._events and self._next - len(self._events) < oldest:
            self._events.popleft()

    def _forget(self, uid: str) -> None:
        self._unread.pop(uid, None)
        for each in self._waits.pop(uid, ()):
            self._users[each] -= 1
            if not self._users[each]:
                del self._users[each]
