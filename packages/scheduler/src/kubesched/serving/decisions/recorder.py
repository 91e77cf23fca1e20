"""Records the decisions of a scheduler.

From observations to entries of the ring: one for each attempt, gate and skipped pod, with its later outcome. Details
(scores of the best nodes, rejected nodes) are collected as long as that takes a small share of the time; a record
marks whether it has them.
"""

import time
from collections.abc import Callable, Collection, Mapping
from sys import getsizeof

from kubesched.common.time_share import TimeShare
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.decision_details import PlacementScores, RejectedNodes
from kubesched.core.framework.observing.extender_answers import BIND_CALL
from kubesched.core.framework.observing.observer import ATTEMPT_FAILED, Bound, ChosenNode, FailedAttempt, Observer
from kubesched.core.framework.results.outcomes import PostFilterResult
from kubesched.core.framework.values.extenders import ExtenderAnswer
from kubesched.core.framework.values.status import Status
from kubesched.serving.decisions.attempt_asides import (
    MOST_EXTENDERS,
    AttemptAside,
    extender_bytes,
    recorded_candidates,
    recorded_extender,
)
from kubesched.serving.decisions.memory import DEFAULT_BYTES
from kubesched.serving.decisions.records import ASSUMED, BOUND, GATED, SKIPPED
from kubesched.serving.decisions.ring import (
    OBJECT_BYTES,
    DecisionRing,
    EntryMove,
    EntryPreemption,
    EntryReasons,
    RingEntry,
)

# the share of the time for details, and the largest saved time in seconds
DETAIL_SHARE = 0.003
MOST_DETAIL_SECONDS = 0.02
# bounds of what an entry has
MOST_CHARACTERS = 1024
MOST_PLUGINS = 32
MOST_MOVES = 8
MOST_EVICTED = 10
MOST_ASIDES = 1000


class DecisionRecorder(Observer):
    """Adds the decisions of a scheduler to a ring; `clock` measures the time for details, in seconds."""

    def __init__(
        self,
        limit_bytes: int = DEFAULT_BYTES,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.ring = DecisionRing(limit_bytes, now)
        # looked up once: they are called for every pod
        self._latest, self._add, self._close = self.ring.latest, self.ring.add, self.ring.close
        self._reasons = self.ring.reasons
        self._now = now
        self._clock = clock
        self._budget = TimeShare(clock, DETAIL_SHARE, MOST_DETAIL_SECONDS)
        # of the attempts under way, by UID: observations before the attempt has a record
        self._asides: dict[str, AttemptAside] = {}

    # -- attempts

    def node_chosen(self, chosen: ChosenNode) -> None:
        """Record the node that was chosen for a pod, and the scores if it is time for them."""
        pod, attempts = chosen.pod, chosen.attempts
        entry = RingEntry(
            self._now(),
            pod.namespace,
            pod.name,
            pod.uid,
            ASSUMED,
            pod.spec.scheduler_name,
            attempts,
            chosen.seconds,
            0,
            chosen.node_name,
            chosen.feasible_nodes,
        )
        if self._budget.available:
            scores = self._budget.spend(chosen.scores)
            entry.details = scores if scores is not None else ()
            entry.size += _scores_bytes(scores)
        if chosen.generation > 1:
            entry.generation = chosen.generation
        if attempts > 1:
            entry.woken_by = _last_event(self._latest(pod.uid))
        if self._asides:
            self._take_aside(entry)
        self._add(entry)

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Record why an attempt failed; it replaces the chosen node if the failure came later."""
        pod, attempts, message = failed.pod, failed.attempts, failed.message
        before = self._latest(pod.uid)
        reasons = self._reasons(message)
        if reasons is None or reasons.plugins != failed.rejected_by:
            reasons = self._new_reasons(message, failed.rejected_by)
        if before is not None and before.outcome is ASSUMED and before.attempt == attempts:
            before.outcome, before.point = failed.result, failed.point
            self.ring.explain(before, reasons)
            return
        entry = RingEntry(
            self._now(),
            pod.namespace,
            pod.name,
            pod.uid,
            # UNSCHEDULABLE or ERROR
            failed.result,
            failed.profile,
            attempts,
            failed.seconds,
            failed.evaluated_nodes,
        )
        entry.point = failed.point
        if self._asides:
            self._take_aside(entry)
        if failed.generation > 1:
            entry.generation = failed.generation
        if failed.nominated_node_name:
            entry.nominated = failed.nominated_node_name
            entry.size += len(entry.nominated)
        if before is not None:
            entry.woken_by = _last_event(before)
        if failed.rejections is not None and self._budget.available:
            entry.details = rejected = _cut(self._budget.spend(failed.rejections))
            entry.size += _rejected_bytes(rejected)
        self._add(entry, reasons)

    def _new_reasons(self, message: str, plugins: Collection[str]) -> EntryReasons:
        """Return reasons within bounds."""
        return self.ring.new_reasons(message[:MOST_CHARACTERS], frozenset(sorted(plugins)[:MOST_PLUGINS]))

    def extender_answered(self, answer: ExtenderAnswer) -> None:
        """Keep an extender's answer for the record of the attempt; the answer to a binding belongs to the last
        one.
        """
        found = recorded_extender(answer)
        entry = self._latest(answer.uid) if answer.call == BIND_CALL else None
        if entry is not None:
            entry.extenders = (*entry.extenders, found)[:MOST_EXTENDERS]
            self.ring.grow(entry, extender_bytes(found))
            return
        aside = self._aside(answer.uid)
        aside.extenders = (*aside.extenders, found)[:MOST_EXTENDERS]

    def post_filter_ran(self, pod: PodInfo, status: Status, plugins: Mapping[str, PostFilterResult]) -> None:
        """Keep the candidates of a preemption for the record of the attempt, if it is time for them."""
        counts = [len(result.candidates) for result in plugins.values()]
        if any(counts) and self._budget.available:
            aside = self._aside(pod.uid)
            aside.candidates = self._budget.spend(lambda: recorded_candidates(plugins))
            aside.candidate_count = sum(counts)

    def _aside(self, uid: str) -> AttemptAside:
        if len(self._asides) >= MOST_ASIDES:
            # of attempts that were never recorded
            self._asides.clear()
        return self._asides.setdefault(uid, AttemptAside())

    def _take_aside(self, entry: RingEntry) -> None:
        """Attach the observations from before the entry existed to an entry that is not in the ring yet."""
        aside = self._asides.pop(entry.uid, None)
        if aside is not None:
            entry.extenders, entry.candidates = aside.extenders, aside.candidates
            entry.candidate_count = aside.candidate_count
            entry.size += aside.size

    def attempt_skipped(self, pod: PodInfo) -> None:
        """Record a pod that needed no attempt."""
        self._add(self._entry(pod, SKIPPED))

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """Record a gating, unless the pod's last record is an attempt or has the same message."""
        message = f"{plugin}: {status.message}"[:MOST_CHARACTERS]
        known = self._latest(pod.uid)
        if known is not None and (known.outcome is not GATED or (known.reasons and known.reasons.message == message)):
            return
        entry = self._entry(pod, GATED)
        self._add(entry, self._new_reasons(message, (plugin,)))

    def pod_bound(self, bound: Bound) -> None:
        """Record that a pod is bound; a pod of a group has no record of its attempt yet."""
        entry = self._close(bound.pod.uid)
        if entry is None or entry.outcome is not ASSUMED or entry.attempt != bound.attempts:
            entry = self._bound_entry(bound, entry)
        entry.outcome = BOUND
        entry.evaluated = bound.evaluated_nodes
        entry.bound_at = self._now()

    def _bound_entry(self, bound: Bound, before: RingEntry | None) -> RingEntry:
        """Return an entry for a pod without a record of its attempt."""
        entry = self._entry(bound.pod, ASSUMED)
        entry.attempt, entry.node, entry.seconds = bound.attempts, bound.node_name, bound.attempt_seconds
        entry.feasible, entry.woken_by = bound.feasible_nodes, _last_event(before)
        entry.generation = bound.generation
        self._add(entry)
        self._close(bound.pod.uid)
        return entry

    def _entry(self, pod: PodInfo, outcome: str) -> RingEntry:
        entry = RingEntry(self._now(), pod.namespace, pod.name, pod.uid, outcome, pod.spec.scheduler_name)
        entry.woken_by = _last_event(self._latest(pod.uid))
        return entry

    # -- events of the pod until the next attempt

    def pod_queued(self, pod: PodInfo, place: str, event: str, rejected_by: Collection[str]) -> None:
        """Record a move in the queue of a pod that has a record; the last moves are kept."""
        if event is ATTEMPT_FAILED:
            return
        entry = self._latest(pod.uid)
        if entry is not None and entry.outcome is not ASSUMED:
            moves = (*entry.moves, EntryMove(self._now(), event, place))[-MOST_MOVES:]
            more = 0 if len(moves) == len(entry.moves) else 4 * OBJECT_BYTES + getsizeof(event)
            entry.moves = moves
            self.ring.grow(entry, more)

    def pod_put_back(self, pod: PodInfo, place: str, backoff_seconds: float) -> None:
        """Record where a pod waits, and until when it backs off."""
        entry = self._latest(pod.uid)
        if entry is not None:
            entry.place = place
            if backoff_seconds > 0:
                entry.backoff_until = self._now() + backoff_seconds

    def preemption_began(self, preemptor: PodInfo, node_name: str, victims: int, to_evict: int) -> None:
        """Record the node and the number of victims of a preemption."""
        entry = self._latest(preemptor.uid)
        if entry is not None:
            entry.preemption = EntryPreemption(node_name, victims)
            self.ring.grow(entry, 2 * OBJECT_BYTES + len(node_name))

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Record the name of a victim."""
        entry = self._latest(preemptor.uid)
        if entry is not None and entry.preemption is not None and len(entry.preemption.evicted) < MOST_EVICTED:
            known, name = entry.preemption, victim.full_name
            entry.preemption = EntryPreemption(known.node, known.victims, (*known.evicted, name))
            self.ring.grow(entry, 2 * OBJECT_BYTES + len(name))


def _last_event(before: RingEntry | None) -> str:
    """Return the event that moved a pod after its last decision, an empty text if none did."""
    return before.moves[-1].event if before is not None and before.moves else ""


def _cut(rejected: Collection[RejectedNodes]) -> tuple[RejectedNodes, ...]:
    """Return rejected nodes with messages of bounded length."""
    return tuple(
        each
        if len(each.message) <= MOST_CHARACTERS
        else RejectedNodes(each.plugin, each.message[:MOST_CHARACTERS], each.count, each.sample)
        for each in rejected
    )


def _texts_bytes(texts: Collection[str]) -> int:
    # a character may take four bytes
    return OBJECT_BYTES * (1 + len(texts)) + sum(map(getsizeof, texts))


def _rejected_bytes(rejected: Collection[RejectedNodes]) -> int:
    return sum(3 * OBJECT_BYTES + _texts_bytes((each.plugin, each.message, *each.sample)) for each in rejected)


def _scores_bytes(scores: PlacementScores | None) -> int:
    """Return the bytes of scores; numbers above 256 are objects."""
    if scores is None:
        return 0
    nodes = sum(OBJECT_BYTES * 4 + len(each.node) + 40 * len(each.scores) for each in scores.nodes)
    return 3 * OBJECT_BYTES + nodes + _texts_bytes(scores.plugins)
