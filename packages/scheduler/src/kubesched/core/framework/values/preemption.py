"""Preemption by any plugin: candidate nodes, the choice between them, and the preemptions that are running.

From PostFilter plugins, which name nodes and victims, to the loop, which evicts the victims of the chosen node, and
back: a plugin whose constructor has the parameter `preemptions` gets the preemptors that wait for evictions.
"""

# upstream: framework/preemption/preemption.go, executor.go (v1.36)

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.values.extenders import ExtenderArgs, ExtenderResult
from kubesched.core.framework.values.status import Status

# Added to each priority, so that every summand is at least 0 and a further victim never lowers the sum.
ABOVE_ZERO = 2**31

# Tries to place a pod group on the current table; yields the arguments of extenders' calls.
GroupTrial = Callable[[], Generator[ExtenderArgs, ExtenderResult, Status]]


class Candidate(msgspec.Struct, frozen=True):
    """A node that the preemptor fits if `victims`, most important first, are evicted."""

    node_name: str
    victims: Sequence[PodInfo]
    pdb_violations: int


class PodGroupPostFilterResult(msgspec.Struct, frozen=True):
    """Success with the victims for a whole pod group, most important first; or why preemption does not help."""

    status: Status
    victims: Sequence[PodInfo] = ()


class Preemption(msgspec.Struct, frozen=True):
    """The chosen candidate, and the plugin that found it; `node_name` is "cluster" for a pod group."""

    plugin: str
    node_name: str
    victims: Sequence[PodInfo]


class Candidates(Sequence[Candidate]):
    """Candidates as columns; the victims of candidate i are `slots[ends[i - 1]:ends[i]]`, most important first.

    The columns are copies: they stay as they were when the candidates were found.
    """

    def __init__(
        self,
        table: NodeTable,
        rows: NDArray[np.intp],
        violations: NDArray[np.intp],
        slots: NDArray[np.intp],
        counts: NDArray[np.intp],
    ) -> None:
        self._names = [table.names[row] for row in rows.tolist()]
        self._pods: list[PodInfo | None] = [table.slots.pods[slot] for slot in slots.tolist()]
        self._ends = np.cumsum(counts)
        self._counts = counts
        self._violations = violations
        self._priority = table.slots.priority[slots].astype(np.int64)
        self._start = table.slots.start[slots]

    @classmethod
    def of(cls, table: NodeTable, candidates: Sequence[Candidate]) -> "Candidates":
        """Return columns for a sequence of candidates."""
        slots = [victim.slot for candidate in candidates for victim in candidate.victims]
        return cls(
            table,
            np.array([table.row_of[candidate.node_name] for candidate in candidates], np.intp),
            np.array([candidate.pdb_violations for candidate in candidates], np.intp),
            np.array(slots, np.intp),
            np.array([len(candidate.victims) for candidate in candidates], np.intp),
        )

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        end = int(self._ends[index])
        victims = tuple(pod for pod in self._pods[end - int(self._counts[index]) : end] if pod is not None)
        return Candidate(self._names[index], victims, int(self._violations[index]))

    def __iter__(self) -> Iterator[Candidate]:
        return (self[index] for index in range(len(self)))

    def on(self, node_name: str) -> Candidate | None:
        """Return the candidate on a node."""
        return self[self._names.index(node_name)] if node_name in self._names else None

    def cheapest(self, limit: int) -> list[Candidate]:
        """Return the candidates with the fewest violated budgets, the least important victims, the first names."""
        first = self._ends - self._counts
        by_name = np.array(sorted(range(len(self)), key=self._names.__getitem__), np.intp)
        costs = (self._counts, np.add.reduceat(self._priority, first), self._priority[first], self._violations)
        order = by_name[np.lexsort([cost[by_name] for cost in costs])]
        return [self[index] for index in order[:limit].tolist()]

    # upstream: framework/preemption/preemption.go, pickOneNodeForPreemption (v1.36)
    def best(self) -> list[str]:
        """Return, sorted, the names of the candidates that tie for best."""
        if not len(self):
            return []
        first = self._ends - self._counts
        # Victims are in the order of importance: the first has the highest priority, and of those the earliest start.
        criteria = (
            -self._violations,
            -self._priority[first],
            -np.add.reduceat(self._priority + ABOVE_ZERO, first),
            -self._counts,
            self._start[first],
        )
        left = np.arange(len(self))
        for criterion in criteria:
            values = criterion[left]
            left = left[values == values.max()]
        return sorted(self._names[index] for index in left.tolist())


def best_of(table: NodeTable, candidates: Sequence[Candidate]) -> list[str]:
    """Return, sorted, the names of the candidate nodes that tie for best."""
    columns = candidates if isinstance(candidates, Candidates) else Candidates.of(table, candidates)
    return columns.best()


# upstream: framework/preemption/executor.go, IsPodRunningPreemption (v1.36)
class RunningPreemptions:
    """The preemptors whose victims are being evicted, by UID of the pod or pod group.

    A preemptor is gated until only its last victim is left, and that one is terminating or deleted.
    """

    def __init__(self, pods: Mapping[str, PodInfo]) -> None:
        # the pods on nodes, by UID
        self._pods = pods
        # preemptor -> its last victim; empty while others are being deleted
        self._last_victim: dict[str, str] = {}

    def begin(self, preemptor_uid: str) -> None:
        """Gate a preemptor: its victims are being deleted."""
        self._last_victim[preemptor_uid] = ""

    def last_victim(self, preemptor_uid: str, victim_uid: str) -> None:
        """Gate a preemptor for its last victim only."""
        self._last_victim[preemptor_uid] = victim_uid

    def end(self, preemptor_uid: str) -> None:
        """End the gating of a preemptor: all its victims are deleted, or the preemption failed."""
        self._last_victim.pop(preemptor_uid, None)

    def holds(self, preemptor_uid: str) -> bool:
        """Return whether a preemptor must wait for its victims."""
        victim_uid = self._last_victim.get(preemptor_uid)
        if not victim_uid:
            return victim_uid is not None
        victim = self._pods.get(victim_uid)
        return victim is not None and not victim.terminating
