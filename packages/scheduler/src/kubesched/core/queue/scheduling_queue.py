"""The scheduling queue: every pod that waits for a node, in exactly one place.

                     rejected                       an event of the gating plugin
      add ──PreEnqueue──────────▶ GATED ───────────────────PreEnqueue────────────┐
             │ passes                                                            │ passes
             ▼                                                                   ▼
          ACTIVE ◀──────────────────────────────────────────────────────────── ACTIVE
          ▲  ▲ │ pop: by QueueSort
          │  │ ▼
          │  │ IN_FLIGHT ──bound, skipped, deleted──▶ GONE
          │  │   │ │ rejected, and no event meanwhile helps
          │  │   │ └───────────────▶ UNSCHEDULABLE ──event with a hint, flush after 5 min──▶ BACKOFF or ACTIVE
          │  │   │ an error, an event meanwhile helps, or the rest of its group was placed
          │  │   ▼
          │  └─ BACKOFF   (until the backoff is over; rejected pods are popped earlier if ACTIVE is empty)
          └──── any place, by `activate`

A pod whose attempt took longer than a second waits in BACKOFF for ten times as long, regardless of events.

From pods and cluster events to the next pod to schedule. Pods are identified by UID: one that is re-created under its
name is another pod. Time is passed in as `now`; the queue has no clock and never waits.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import msgspec

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing.observer import (
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    CONFIGURATION_CHANGED,
    FORCE_ACTIVATED,
    NOBODY,
    POPPED_FROM_BACKOFF,
    TIMED_OUT,
    Observers,
)
from kubesched.core.framework.values.events import Action, ClusterEvent, Resource
from kubesched.core.queue.backoff import BackoffPolicy, slow_backoff_seconds
from kubesched.core.queue.in_flight_pods import InFlightPods
from kubesched.core.queue.places import Places
from kubesched.core.queue.pre_enqueue import PreEnqueueGate
from kubesched.core.queue.queued_pod import NEVER, Place, QueuedPod
from kubesched.core.queue.queueing_hints import WILDCARD, QueueingHints, QueueingStrategy, is_wildcard, matches_any
from kubesched.core.queue.update_events import is_pod_updated

FLUSH_AFTER_SECONDS = 300.0
WAITING_POD_ADDED = ClusterEvent(Resource.UNSCHEDULED_POD, Action.ADD)
WAITING_POD_UPDATED = ClusterEvent(Resource.UNSCHEDULED_POD, Action.UPDATE)


class QueueOptions(msgspec.Struct, frozen=True):
    """The options of the queue; `pop_from_backoff` is the gate SchedulerPopFromBackoffQ."""

    backoff: BackoffPolicy = BackoffPolicy()
    max_in_unschedulable_seconds: float = FLUSH_AFTER_SECONDS
    pop_from_backoff: bool = True


class SchedulingQueue:
    """Pods that wait and pods in flight; the module's docstring shows how they move."""

    def __init__(
        self,
        profiles: Mapping[str, Profile],
        cluster: ClusterState,
        hints: QueueingHints,
        options: QueueOptions | None = None,
        observers: Observers = NOBODY,
    ) -> None:
        self._cluster = cluster
        self._in_flight = InFlightPods()
        self._observers = observers
        # the number of moved pods by event, source and target; new pods are not counted
        self.moves: Counter[tuple[str, Place, Place]] = Counter()
        self._configure(profiles, hints, options or QueueOptions())

    def _configure(self, profiles: Mapping[str, Profile], hints: QueueingHints, options: QueueOptions) -> None:
        self.options = options
        self._profiles = profiles
        self._hints = hints
        self._places = Places(profiles, options.backoff, hints)
        self._gate = PreEnqueueGate(profiles, hints, self._observers)

    def reconfigure(
        self, profiles: Mapping[str, Profile], hints: QueueingHints, options: QueueOptions, now: float
    ) -> None:
        """Order, gate and requeue all waiting pods anew under other profiles; pods without a profile leave.

        Unschedulable pods are retried after their backoff; pods in flight are, too, if their attempts fail.
        """
        waiting = list(self._places)
        self._configure(profiles, hints, options)
        for queued in waiting:
            if queued.pod.spec.scheduler_name not in profiles:
                self._cluster.clear_nomination(queued.uid)
                queued.place = Place.GONE
                continue
            queued.backoff_expiry = None
            # the other plugins that rejected a gated pod decide which events help it
            queued.unschedulable_plugins.discard(queued.gating_plugin)
            before, at_once = queued.place, queued.place in (Place.ACTIVE, Place.GATED)
            # gated unless it passes the new PreEnqueue plugins
            queued.place = Place.GONE
            strategy = QueueingStrategy.IMMEDIATELY if at_once else QueueingStrategy.AFTER_BACKOFF
            self._requeue(queued, strategy, now, CONFIGURATION_CHANGED)
            if queued.place is not before:
                self.moves[CONFIGURATION_CHANGED, before, queued.place] += 1
        self._in_flight.note(WILDCARD, None, None)

    # -- reading

    def get(self, uid: str) -> QueuedPod | None:
        """Return the pod under a UID, wherever it is."""
        return self._places.get(uid) or self._in_flight.get(uid)

    def pods(self) -> list[QueuedPod]:
        """Return all pods."""
        return [*self._places, *self._in_flight]

    def counts(self) -> Counter[Place]:
        """Return how many pods are in each place that has any."""
        return +Counter({**self._places.counts(), Place.IN_FLIGHT: len(self._in_flight)})

    def first(self, limit: int) -> dict[Place, list[QueuedPod]]:
        """Return the first pods of each place."""
        return {Place.IN_FLIGHT: list(self._in_flight)[:limit], **self._places.first(limit)}

    def rejections(self) -> Counter[tuple[str, str]]:
        """Return how many waiting pods each plugin rejected, by plugin and profile."""
        return Counter(
            (plugin, queued.pod.spec.scheduler_name) for queued in self._places for plugin in queued.rejected_by
        )

    @property
    def waits_for_flush(self) -> bool:
        """Return whether `flush` may have anything to do, now or later."""
        return self._places.wait_for_time

    def kept_events(self) -> Counter[str]:
        """Return how many events are kept for pods in flight, by label."""
        return self._in_flight.labels()

    def validate(self) -> None:
        """Raise AssertionError unless every pod is in exactly one place, and its `place` is that one."""
        self._places.validate()
        for queued in self._in_flight:
            assert queued.place is Place.IN_FLIGHT, f"{queued!r} is kept in flight"
            assert self._places.get(queued.uid) is None, f"{queued!r} is in two places"
        assert self._in_flight or not self._in_flight.kept_events, "events are kept for no pod"

    # -- adding, updating and deleting pods

    def add(self, pod: PodInfo, now: float) -> None:
        """Add a new pod; a known pod is updated."""
        self.update(pod, (), now)

    def update(self, pod: PodInfo, events: Collection[ClusterEvent], now: float) -> None:
        """Update a pod; `events` are the cluster events of the update. An unknown pod is added."""
        queued = self.get(pod.uid)
        if queued is None:
            # differs (D-045): the reference ignores the nomination of a new pod that is gated
            self._renominate(pod)
            self._activate(QueuedPod(pod, now), now, (WAITING_POD_UPDATED if events else WAITING_POD_ADDED).label)
            return
        old, queued.pod = queued.pod, pod
        if not self._hints.asks_plugins:
            events = (WAITING_POD_UPDATED,) if is_pod_updated(old.pod, pod.pod) else ()
        else:
            events = [event for event in events if self._hints.of_interest(event)]
        if queued.place is Place.IN_FLIGHT:
            self._in_flight.update(queued)
            for event in events:
                self._in_flight.note(event, old, pod)
            return
        self._renominate(pod)
        self._places.update(queued)
        if queued.place in (Place.ACTIVE, Place.BACKOFF):
            return
        for event in events:
            asked = self._hints.asking(event, old, pod)
            strategy = asked.strategy(queued) if self._hints.asks_plugins else QueueingStrategy.AFTER_BACKOFF
            if strategy is not QueueingStrategy.SKIP and self._requeue(queued, strategy, now, event.label):
                return

    def delete(self, uid: str) -> None:
        """Remove a pod; the outcome of a running attempt is ignored."""
        self._cluster.clear_nomination(uid)
        queued = self.get(uid)
        if queued is not None:
            self._in_flight.end(uid)
            self._places.remove(queued)
            queued.place = Place.GONE

    # -- scheduling

    def pop(self) -> QueuedPod | None:
        """Return the next pod to schedule, now in flight, or None if there is none."""
        return self.pop_active() or self.pop_backing_off()

    def pop_active(self) -> QueuedPod | None:
        """Return the next pod of activeQ, now in flight, or None if there is none."""
        queued = self._places.active.pop()
        if queued is not None:
            self._begin(queued)
        return queued

    def pop_backing_off(self) -> QueuedPod | None:
        """Return the next pod of backoffQ before its backoff is over; None if there is none, or the gate is off."""
        if not self.options.pop_from_backoff:
            return None
        # An early attempt is better than an idle scheduler. Pods whose attempt ended in an error still wait.
        queued = self._places.backoff.pop()
        if queued is not None:
            self.moves[POPPED_FROM_BACKOFF, Place.BACKOFF, Place.ACTIVE] += 1
            self._tell(queued, Place.ACTIVE, POPPED_FROM_BACKOFF)
            self._begin(queued)
        return queued

    def pop_specific(self, uid: str, now: float) -> QueuedPod | None:
        """Return a waiting pod out of turn, now in flight, or None if it does not wait or PreEnqueue gates it."""
        queued = self._places.get(uid)
        if queued is None or (queued.place is not Place.ACTIVE and not self._activate(queued, now, FORCE_ACTIVATED)):
            return None
        self._places.remove(queued)
        self._begin(queued)
        return queued

    def _begin(self, queued: QueuedPod) -> None:
        """Begin an attempt with a pod that was removed from its place."""
        queued.place = Place.IN_FLIGHT
        queued.attempts += 1
        queued.forget_rejections()
        self._in_flight.begin(queued)

    def done(self, uid: str) -> None:
        """End an attempt after which the pod leaves the queue."""
        queued = self._in_flight.get(uid)
        if queued is not None:
            self._in_flight.end(uid)
            queued.place = Place.GONE

    def resume(self, queued: QueuedPod) -> None:
        """Put a pod whose binding failed back in flight, after its attempt had ended."""
        if self.get(queued.uid) is None:
            queued.place = Place.IN_FLIGHT
            self._in_flight.begin(queued)

    # upstream: backend/queue/scheduling_queue.go, AddUnschedulableIfNotPresent (v1.36)
    def fail(self, queued: QueuedPod, now: float, *, again: bool = False) -> None:
        """End a failed attempt; `queued` has the plugins that rejected the pod, none after an error.

        With `again` the pod backs off and is retried, regardless of events.
        """
        if queued.place is not Place.IN_FLIGHT:
            # deleted meanwhile
            return
        if queued.pod.spec.scheduler_name not in self._profiles:
            # the profile was removed from the configuration during the attempt
            self.delete(queued.uid)
            return
        if queued.rejected:
            queued.unschedulable_count += 1
            queued.consecutive_errors = 0
        else:
            queued.consecutive_errors += 1
        queued.timestamp = now
        held = slow_backoff_seconds(queued.took_seconds)
        queued.held_until = now + held if held else NEVER
        queued.backoff_expiry = None
        queued.was_flushed = False
        queued.flushed_at = NEVER
        strategy = QueueingStrategy.AFTER_BACKOFF if again else self._strategy_after_flight(queued)
        self._in_flight.end(queued.uid)
        self._renominate(queued.pod)
        if strategy is QueueingStrategy.SKIP:
            self._put(queued, Place.UNSCHEDULABLE, ATTEMPT_FAILED)
        else:
            self._requeue(queued, strategy, now, ATTEMPT_FAILED)
        if "pod_put_back" in self._observers.heard:
            self._observers.pod_put_back(queued.pod, queued.place.text, self._places.expiry(queued) - now)

    def _strategy_after_flight(self, queued: QueuedPod) -> QueueingStrategy:
        """Return how the events since the pod was popped requeue it."""
        if not queued.rejected:
            return QueueingStrategy.AFTER_BACKOFF
        found = QueueingStrategy.SKIP
        for event, old, new in self._in_flight.since(queued.uid):
            if not self._hints.asks_plugins and not is_wildcard(event):
                # upstream: scheduling_queue.go, addUnschedulableWithoutQueueingHint (v1.36)
                return QueueingStrategy.AFTER_BACKOFF
            strategy = self._hints.asking(event, old, new).strategy(queued)
            if strategy is QueueingStrategy.IMMEDIATELY:
                return strategy
            if strategy is QueueingStrategy.AFTER_BACKOFF:
                if not queued.pending_plugins:
                    return strategy
                found = strategy
        return found

    # -- events and time

    def on_event(
        self,
        event: ClusterEvent,
        old: Any,
        new: Any,
        now: float,
        concerns: Callable[[PodInfo], bool] | None = None,
    ) -> int:
        """Requeue the pods that an event helps, of those for which `concerns` holds; return how many were moved."""
        if not self._hints.of_interest(event) or not (self._places.unschedulable or self._in_flight):
            return 0
        helped, moved = self._hints.helps(event, old, new), 0
        candidates = self._places.unschedulable.waiting_for(helped)
        if concerns is not None:
            candidates = [queued for queued in candidates if concerns(queued.pod)]
        if candidates:
            moved = self._move(candidates, event, old, new, now, event.label)
        if self._in_flight.may_wait_for(helped, self._hints.may_wait_for):
            self._in_flight.note(event, old, new)
        return moved

    def _move(
        self, candidates: Iterable[QueuedPod], event: ClusterEvent, old: Any, new: Any, now: float, label: str
    ) -> int:
        moved = 0
        hints = self._hints.asking(event, old, new)
        for queued in candidates:
            gated = queued.place is Place.GATED
            if gated and not is_wildcard(event) and not matches_any(event, queued.gating_events):
                continue
            strategy = hints.strategy(queued)
            if strategy is not QueueingStrategy.SKIP:
                self._places.remove(queued)
                moved += self._requeue(queued, strategy, now, label)
        return moved

    def activate(self, uids: Iterable[str], now: float) -> None:
        """Move pods to activeQ; a pod in flight is retried after its attempt has failed."""
        for uid in uids:
            queued = self.get(uid)
            if queued is None or queued.place is Place.ACTIVE:
                continue
            if queued.place is Place.IN_FLIGHT:
                self._in_flight.note(WILDCARD, None, queued.pod)
            elif queued.place is not Place.BACKOFF or not self._places.is_held(queued, now):
                self._requeue(queued, QueueingStrategy.IMMEDIATELY, now, FORCE_ACTIVATED)

    def flush(self, now: float) -> int:
        """Move pods whose backoff is over, or that have been unschedulable for too long; return how many."""
        moved = 0
        for heap in (self._places.backoff, self._places.error_backoff):
            while (queued := heap.peek()) is not None and not self._places.is_backing_off(queued, now):
                moved += self._activate(queued, now, BACKOFF_COMPLETE)
        stale = self._places.unschedulable.stale(now, self.options.max_in_unschedulable_seconds)
        for queued in stale:
            queued.was_flushed = True
            queued.flushed_at = now
        return moved + self._move(stale, WILDCARD, None, None, now, TIMED_OUT)

    # -- moving

    def _requeue(self, queued: QueuedPod, strategy: QueueingStrategy, now: float, event: str) -> bool:
        """Move a pod to the place of a strategy; return False if PreEnqueue gates it."""
        backing_off = strategy is QueueingStrategy.AFTER_BACKOFF and self._places.is_backing_off(queued, now)
        if not backing_off and not self._places.is_held(queued, now):
            return self._activate(queued, now, event)
        if self.options.pop_from_backoff and self._is_gated(queued, event):
            return False
        self._put(queued, Place.BACKOFF, event)
        return True

    def _activate(self, queued: QueuedPod, now: float, event: str) -> bool:
        """Move a pod to activeQ unless PreEnqueue gates it; return whether it was moved."""
        # a pod that can be popped from backoffQ has passed PreEnqueue already
        passed = queued.place is Place.BACKOFF and self.options.pop_from_backoff
        if not passed and self._is_gated(queued, event):
            return False
        if queued.initial_attempt_at is None:
            queued.initial_attempt_at = now
        self._put(queued, Place.ACTIVE, event)
        return True

    def _is_gated(self, queued: QueuedPod, event: str) -> bool:
        """Return whether PreEnqueue gates a pod; a gated pod is moved to GATED."""
        if not self._gate.holds_back(queued):
            return False
        if queued.uid in self._places.unschedulable:
            # it was among the unschedulable pods already, so observers are not called
            self._places.put(queued, Place.GATED)
        else:
            self._put(queued, Place.GATED, event)
        return True

    def _put(self, queued: QueuedPod, place: Place, event: str) -> None:
        if queued.place is not Place.GONE:
            self.moves[event, queued.place, place] += 1
        self._places.put(queued, place)
        self._tell(queued, place, event)

    def _tell(self, queued: QueuedPod, place: Place, event: str) -> None:
        self._observers.pod_queued(queued.pod, place.text, event, queued.rejected_by)

    def _renominate(self, pod: PodInfo) -> None:
        """Nominate a pod to the node of its status, else to the node it was nominated to before (not written yet)."""
        nominated = pod.status.nominated_node_name or self._cluster.nominations.node_of(pod.uid)
        self._cluster.nominate(pod, nominated)
