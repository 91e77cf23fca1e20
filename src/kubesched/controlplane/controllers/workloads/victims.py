"""Which pods go first when there are too many.

From pods to the same pods, the best victims first: not placed, not running, not ready, cheap to delete,
doubled up on a node, ready only lately, restarted often, young.
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

from kubesched.controlplane.api.times import moment
from kubesched.controlplane.controllers.workloads.pods import PodView

_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


class _Candidate(msgspec.Struct):
    """A pod with its sort key."""

    pod: PodView
    # what comes first is settled by these, the rest by times
    order: tuple[int, int, int, int, int]


def in_order_of_deletion(
    pods: Sequence[PodView], now: datetime, most: int, *, neighbours: Iterable[PodView] = ()
) -> list[PodView]:
    """Return this number of pods in the order of deletion; `neighbours` are all pods of the same workload."""
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
    """Ages at a moment, as powers of two; most pods share theirs with others."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._ranks: dict[str, int] = {}

    def rank(self, time: str) -> int:
        """Return the age of what began at a time."""
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
    """Put the younger one first; ages that are alike, as powers of two, are as good as drawn by lot."""
    if not time or not other_time or ages is None:
        return -1 if not time or (other_time and time > other_time) else 1
    rank, other_rank = ages.rank(time), ages.rank(other_time)
    if rank == other_rank:
        return -1 if one.pod.uid < other.pod.uid else 1
    return -1 if rank < other_rank else 1
