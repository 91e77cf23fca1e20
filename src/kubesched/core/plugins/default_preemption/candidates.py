"""Preemption candidates as columns, and the choice between them.

From the victims of each candidate row to the candidates that tie for best. Columns are copied out of the table, so that
what was found stays true to the moment it was found.
"""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.outcomes import Candidate

# Added to priorities, so that a further victim never makes a sum smaller.
ABOVE_ZERO = 2**31


class Candidates(Sequence[Candidate]):
    """Rows on which preemption helps; the victims of row i are `slots[ends[i - 1]:ends[i]]`, most important first."""

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
        """Return candidates whose victims somebody else has chosen, as columns."""
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
