"""Worlds: a batch of what-ifs, judged by all filters of a pod.

From the active filters of an evaluation to the first rejection per world. World i is the table with some pods taken off
and some put on row `rows[i]`, and is judged only on that row. Nominated pods (the first filter pass) and preemption's
dry run are such batches.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.columns.questions import FilterQuestion, FilterWorlds, shallow_copy
from kubesched.core.framework.values.status import StatusTable


class Worlds:
    """One `FilterWorlds` per active filter, changed together; `ahead` are the nominated pods that count, by row."""

    def __init__(
        self,
        statuses: StatusTable,
        filters: Sequence[FilterQuestion],
        rows: NDArray[np.intp],
        ahead: Mapping[int, Sequence[PodInfo]],
    ) -> None:
        self.rows = rows
        self.statuses = statuses
        self._ahead = ahead
        self._filters = filters
        self._parts: list[FilterWorlds] = [question.worlds(rows) for question in filters]

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add pod `slots[k]` to world `worlds[k]` (sign 1), or remove it (sign -1)."""
        for part in self._parts:
            part.change(worlds, slots, sign)

    # upstream: framework/runtime/framework.go, RunFilterPluginsWithNominatedPods (v1.36)
    def judge(self, worlds: NDArray[np.intp] | None = None) -> NDArray[np.int16]:
        """Return the status index of the first rejection in all (or some) worlds, with nominated pods counted."""
        batch = self if worlds is None else self._select(worlds)
        ids = batch._first_objectors()
        ahead = self._ahead
        if not ahead:
            return ids
        crowded = np.flatnonzero(np.isin(batch.rows, list(ahead)))
        if len(crowded):
            with_nominated = batch._select(crowded).judge_with(ahead)
            ids[crowded] = np.where(with_nominated != 0, with_nominated, ids[crowded])
        return ids

    def judge_with(self, added: Mapping[int, Sequence[PodInfo]]) -> NDArray[np.int16]:
        """Add pods by row, then return the status indices of the first rejections."""
        most = max((len(pods) for pods in added.values()), default=0)
        rows = self.rows.tolist()
        for turn in range(most):
            pairs = [(i, added[row][turn].slot) for i, row in enumerate(rows) if turn < len(added.get(row, ()))]
            if pairs:
                worlds, slots = np.array(pairs, np.intp).T
                self.change(worlds, slots, 1)
        return self._first_objectors()

    def _first_objectors(self) -> NDArray[np.int16]:
        ids = np.zeros(len(self.rows), np.int16)
        for question, part in zip(self._filters, self._parts, strict=True):
            verdict = question.indices(part.verdict())
            np.copyto(ids, verdict, where=ids == 0)
        return ids

    def _select(self, worlds: NDArray[np.intp]) -> "Worlds":
        """Return an independent copy of some worlds."""
        selected = shallow_copy(self)
        selected.rows = self.rows[worlds]
        selected._parts = [part.select(worlds) for part in self._parts]
        return selected
