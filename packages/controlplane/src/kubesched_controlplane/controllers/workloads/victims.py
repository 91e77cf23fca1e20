"""The order in which surplus pods are deleted.

From pods to the same pods, sorted: first pods that are not bound, not running, not ready, with a low deletion cost,
with many neighbours on their node, ready for a short time, restarted often, young.
"""

# upstream: pkg/controller/controller_utils.go (ActivePodsWithRanks, ActivePods) (v1.36)

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cmp_to_key
from heapq import nsmallest
from math import log2
from typing import Final

import msgspec

from kubesched_controlplane.api.times import moment
from kubesched_controlplane.controllers.workloads.pods import PodView

_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


class _Candidate(msgspec.Struct):
    """A pod with its sort key."""

    pod: PodView
    # compared first; equal pods are compared by restarts and times
    order: tuple[int, int, int, int, int]


def in_order_of_deletion(
    pods: Sequence[PodView], now: datetime, most: int, *, neighbours: Iterable[PodView] = ()
) -> list[PodView]:
    """Return the first pods to delete, `most` at most; `neighbours` are all pods of the same workload."""
    on_node = Counter(pod.node for pod in neighbours if pod.active)
    return _ordered([_candidate(pod, pod.deletion_cost, on_node[pod.node]) for pod in pods], now, most)


def in_order_of_end(pods: Sequence[PodView]) -> list[PodView]:
    """Return pods in the order in which jobs delete them: without deletion costs and neighbours, ages to the second."""
    return _ordered([_candidate(pod, 0, 0) for pod in pods], None, len(pods))


def _candidate(pod: PodView, cost: int, doubled: int) -> _Candidate:
    return _Candidate(pod, (int(bool(pod.node)), _PHASES.get(pod.phase, 0), int(pod.ready), cost, -doubled))


def _ordered(candidates: list[_Candidate], now: datetime | None, most: int) -> list[PodView]:
    ages = None if now is None else _Ages(now)

    def compare(one: _Candidate, other: _Candidate) -> int:
        return _compare(one, other, ages)

    chosen = nsmallest(most, candidates, key=cmp_to_key(compare))
    return [candidate.pod for candidate in chosen]


class _Ages:
    """Ages at one time, as powers of two, remembered by timestamp."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._ranks: dict[str, int] = {}

    def rank(self, time: str) -> int:
        """Return the binary logarithm of the age of a timestamp."""
        rank = self._ranks.get(time)
        if rank is None:
            nanoseconds = (self._now - moment(time)).total_seconds() * 1e9
            rank = self._ranks[time] = int(log2(nanoseconds)) if nanoseconds > 0 else -1
        return rank


def _compare(one: _Candidate, other: _Candidate, ages: _Ages | None) -> int:
    if one.order != other.order:
        return -1 if one.order < other.order else 1
    if one.pod.ready and one.pod.ready_since != other.pod.ready_since:
        return _by_age(one, other, one.pod.ready_since or "", other.pod.ready_since or "", ages)
    if one.pod.most_restarts != other.pod.most_restarts:
        return -1 if one.pod.most_restarts > other.pod.most_restarts else 1
    if one.pod.created != other.pod.created:
        return _by_age(one, other, one.pod.created, other.pod.created, ages)
    return 0


def _by_age(one: _Candidate, other: _Candidate, time: str, other_time: str, ages: _Ages | None) -> int:
    """Compare two pods by age, the younger first; ages with the same power of two are ordered by UID."""
    if not time or not other_time or ages is None:
        return -1 if not time or (other_time and time > other_time) else 1
    rank, other_rank = ages.rank(time), ages.rank(other_time)
    if rank == other_rank:
        return -1 if one.pod.uid < other.pod.uid else 1
    return -1 if rank < other_rank else 1
