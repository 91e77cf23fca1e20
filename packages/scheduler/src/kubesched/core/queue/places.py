"""The places where pods wait: activeQ, backoffQ, the backoffQ of errors, and the unschedulable pods.

activeQ is a heap by QueueSort, the backoff queues are heaps by expiry, unschedulable pods have no order. A pod is in at
most one place.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.calling.answers import checked_sort_key
from kubesched.core.framework.calling.hooks import ask
from kubesched.core.framework.values.queue_order import active_order
from kubesched.core.framework.values.status import Status
from kubesched.core.queue.backoff import (
    BackoffPolicy,
    backoff_expiry,
    backoff_order,
    error_backoff_order,
    is_backing_off,
)
from kubesched.core.queue.keyed_heap import KeyedHeap
from kubesched.core.queue.queued_pod import Place, QueuedPod
from kubesched.core.queue.queueing_hints import QueueingHints
from kubesched.core.queue.unschedulable_pods import UnschedulablePods


class Places:
    """Active, backoff, unschedulable and gated pods by UID."""

    def __init__(self, profiles: Mapping[str, Profile], policy: BackoffPolicy, hints: QueueingHints) -> None:
        self._profiles = profiles
        self._hints = hints
        self._policy = policy
        self.active: KeyedHeap[QueuedPod] = KeyedHeap()
        self.backoff: KeyedHeap[QueuedPod] = KeyedHeap()
        # pods that are not popped before their backoff ends: the last attempt ended in an error, or was slow
        self.error_backoff: KeyedHeap[QueuedPod] = KeyedHeap()
        self.unschedulable = UnschedulablePods()

    def __iter__(self) -> Iterator[QueuedPod]:
        yield from (*self.active, *self.backoff, *self.error_backoff)
        yield from self.unschedulable

    @property
    def wait_for_time(self) -> bool:
        """Return whether any pod backs off or is unschedulable."""
        return bool(self.unschedulable or self.backoff or self.error_backoff)

    def first(self, limit: int) -> dict[Place, list[QueuedPod]]:
        """Return the first pods of each place: in the order of the heaps, or of arrival."""
        backing_off = heapq.merge(self.backoff.first(limit), self.error_backoff.first(limit), key=self.expiry)
        parked = {Place.UNSCHEDULABLE: list[QueuedPod](), Place.GATED: list[QueuedPod]()}
        for queued in self.unschedulable:
            if len(parked[queued.place]) < limit:
                parked[queued.place].append(queued)
        return {Place.ACTIVE: self.active.first(limit), Place.BACKOFF: list(islice(backing_off, limit)), **parked}

    def counts(self) -> Counter[Place]:
        """Return how many pods are in each place."""
        parked = Counter(queued.place for queued in self.unschedulable)
        return Counter(
            {Place.ACTIVE: len(self.active), Place.BACKOFF: len(self.backoff) + len(self.error_backoff), **parked}
        )

    def get(self, uid: str) -> QueuedPod | None:
        """Return the pod under a UID."""
        found = self.active.get(uid) or self.backoff.get(uid) or self.error_backoff.get(uid)
        return found or self.unschedulable.get(uid)

    def put(self, queued: QueuedPod, place: Place) -> None:
        """Move a pod to a place, with its current key."""
        self.remove(queued)
        queued.place = place
        self.update(queued)

    def update(self, queued: QueuedPod) -> None:
        """Give a pod its current key in its place, or update the events that it waits for."""
        place = queued.place
        if place is Place.ACTIVE:
            self.active.put(queued.uid, self._sort_key(queued), queued)
        elif place is Place.BACKOFF and queued.rejected and not queued.was_slow:
            key = backoff_order(self._policy, self.expiry(queued), self._sort_key(queued))
            self.backoff.put(queued.uid, key, queued)
        elif place is Place.BACKOFF:
            self.error_backoff.put(queued.uid, error_backoff_order(self.expiry(queued)), queued)
        else:
            self.park(queued)

    def park(self, queued: QueuedPod) -> None:
        """Add a pod to the unschedulable pods, or update the events that it waits for."""
        self.unschedulable.put(queued, self._hints.waits_for(queued))

    def remove(self, queued: QueuedPod) -> None:
        """Remove a pod from its place."""
        uid = queued.uid
        self.active.remove(uid)
        self.backoff.remove(uid)
        self.error_backoff.remove(uid)
        self.unschedulable.remove(uid)

    def expiry(self, queued: QueuedPod) -> float:
        """Return when a pod's backoff ends."""
        if queued.backoff_expiry is None:
            usual = backoff_expiry(
                self._policy, queued.timestamp, queued.unschedulable_count, queued.consecutive_errors
            )
            held = queued.held_until
            queued.backoff_expiry = usual if usual >= held else held
        return queued.backoff_expiry

    def is_backing_off(self, queued: QueuedPod, now: float) -> bool:
        """Return whether a pod is backing off."""
        return is_backing_off(self._policy, self.expiry(queued), now)

    def is_held(self, queued: QueuedPod, now: float) -> bool:
        """Return whether a pod may not be retried yet because its last attempt was slow."""
        return queued.was_slow and queued.held_until > now

    def _sort_key(self, queued: QueuedPod) -> tuple[float, ...]:
        # all profiles have the same QueueSort plugin, which the configuration ensures
        profile = self._profiles.get(queued.pod.spec.scheduler_name) or next(iter(self._profiles.values()))
        plugin = profile.queue_sort[0]
        key = ask(plugin, "sort_key", checked_sort_key, queued.pod, queued.timestamp)
        # a pod whose plugin fails is sorted by priority
        return active_order(queued.pod.priority, queued.timestamp) if isinstance(key, Status) else key

    def validate(self) -> None:
        """Raise AssertionError unless every pod is in one place, and its `place` is that one."""
        places = (
            (self.active, (Place.ACTIVE,)),
            (self.backoff, (Place.BACKOFF,)),
            (self.error_backoff, (Place.BACKOFF,)),
            (self.unschedulable, (Place.UNSCHEDULABLE, Place.GATED)),
        )
        seen: set[str] = set()
        for pods, allowed in places:
            for queued in pods:
                assert queued.place in allowed, f"{queued!r} is kept among {allowed}"
                assert queued.uid not in seen, f"{queued!r} is in two places"
                seen.add(queued.uid)
