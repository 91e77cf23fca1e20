"""Why each node does not take a pod: the rejections of every filter, not only of the first one.

From an evaluation to columns of status indices, one a filter, the rows that lack least, and the lacks of a row. The
other filters also judge a pod that PreFilter rejects: `pre_filter` is added to the lacks of each row.
"""

import heapq
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.table import NodeTable
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.columns.questions import FilterQuestion
from kubesched.core.framework.values.status import Code, Status, unresolvable
from kubesched.core.plugins.node_resources.fit import NodeResourcesFit
from kubesched.core.plugins.node_resources.fit_request import TOO_MANY_PODS, FitRequest

PODS = "pods"
# stands for a plugin's name if only nominated pods are in the way
NOMINATED = ""


class Shortage(NamedTuple):
    """A resource of which a row has less than the pod wants; amounts in the units of the table (milli-CPU, bytes)."""

    resource: str
    wanted: int
    free: int

    @property
    def missing(self) -> int:
        """Return how much is missing."""
        return self.wanted - self.free


class FilterColumn(NamedTuple):
    """The statuses of one filter for every row: indices, 0 where it does not reject.

    `plugin` is NOMINATED for rows that the pod would pass without nominated pods: the statuses name their plugins.
    """

    plugin: str
    ids: NDArray[np.int16]


class Rejections:
    """The rejections of a pod by every filter on every row.

    `pre_filter` are the statuses with which PreFilter rejects the pod on all nodes, `columns` the filters that reject
    some row, in the profile's order.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.table: NodeTable = evaluation.table
        self.present: NDArray[np.bool_] = evaluation.present()
        questions = [question for question in evaluation.pod_class.pre_filters if not question.skip]
        self.pre_filter: tuple[Status, ...] = tuple(q.rejection for q in questions if q.rejection is not None)
        self.columns: tuple[FilterColumn, ...] = tuple(self._columns(questions))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Return the number of filters that reject each row."""
        counts = np.zeros(self.table.size, np.int64)
        for column in self.columns:
            counts += column.ids != 0
        return counts

    @cached_property
    def unresolvable(self) -> NDArray[np.bool_]:
        """Return the rows with a rejection that evicting pods cannot resolve."""
        beyond = np.array([s.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for s in self.evaluation.statuses.statuses])
        found = np.zeros(self.table.size, np.bool_)
        for column in self.columns:
            found |= beyond[column.ids]
        return found

    def near_rows(self, limit: int) -> list[int]:
        """Return the rejected rows that lack least, the nearest first; all rows if PreFilter rejects the pod.

        Fewer rejecting filters come first, rows without an unresolvable rejection before others, then the smallest
        shortage of resources (the missing parts of the requests, added up), then names.
        """
        rows = np.flatnonzero(self.present & ((self.counts > 0) | bool(self.pre_filter)))
        names = self.table.names
        if limit >= len(rows):
            # by name first: sorting by distance keeps the order of rows at the same distance
            rows = np.array(sorted(rows.tolist(), key=names.__getitem__), np.intp)
        order = np.lexsort((self._shortfall[rows], self.unresolvable[rows], self.counts[rows]))
        rows = rows[order]
        if limit >= len(rows):
            return rows.tolist()
        # ties with the last row that counts are resolved by name
        tied = np.flatnonzero(self._same_as(rows[limit - 1], rows))
        nearer = sorted(rows[: tied[0]].tolist(), key=lambda row: (*self._distance(row), names[row]))
        return nearer + heapq.nsmallest(limit - len(nearer), rows[tied].tolist(), key=names.__getitem__)

    def of_row(self, row: int) -> tuple[Status, ...]:
        """Return the statuses of all filters that reject a row, in order; each names its plugin and its reasons."""
        statuses = self.evaluation.statuses
        return tuple(statuses[index] for column in self.columns if (index := int(column.ids[row])))

    def shortages(self, row: int) -> tuple[Shortage, ...]:
        """Return the resources that NodeResourcesFit lacks on a row, with their amounts."""
        if self._fit is None:
            return ()
        plugin, ids = self._fit
        reasons = self.evaluation.statuses[int(ids[row])].reasons
        table = self.table
        found = []
        if TOO_MANY_PODS in reasons:
            found.append(Shortage(PODS, 1, int(table.allowed_pods[row] - table.pod_count[row])))
        for name, wanted in _lacking(plugin.request_of(self.evaluation.pod), reasons):
            found.append(Shortage(name, wanted, table.allocatable_of(row, name) - table.requested_of(row, name)))
        return tuple(found)

    # -- columns

    def _columns(self, pre_filters: list[FilterQuestion]) -> Iterator[FilterColumn]:
        found = {q.plugin.name: self._outside(q) for q in pre_filters if q.node_names is not None}
        for question in self.evaluation.active_filters:
            # without its PreFilter a filter cannot be asked
            if question.rejection is None:
                ids = np.where(self.present, self.evaluation.column(question), 0).astype(np.int16)
                outside = found.pop(question.plugin.name, 0)
                found[question.plugin.name] = np.where(ids == 0, outside, ids).astype(np.int16)
        if not self.pre_filter and len(self.evaluation.cluster.nominations):
            passing = self.present.copy()
            for ids in found.values():
                passing &= ids == 0
            found[NOMINATED] = np.where(passing, self.evaluation.first_objectors(), 0).astype(np.int16)
        return (FilterColumn(plugin, ids) for plugin, ids in found.items() if ids.any())

    def _outside(self, question: FilterQuestion) -> NDArray[np.int16]:
        """Return the column of a plugin whose PreFilter leaves only some nodes."""
        names = question.node_names or ()
        name = question.plugin.name
        status = unresolvable(f"node(s) didn't satisfy plugin(s) [{name}]")
        ids = np.where(self.present, self.evaluation.statuses.intern(status, name), 0).astype(np.int16)
        ids[[row for each in names if (row := self.table.row_of.get(each)) is not None]] = 0
        return ids

    # -- nearness

    @cached_property
    def _fit(self) -> tuple[NodeResourcesFit, NDArray[np.int16]] | None:
        by_name = {column.plugin: column.ids for column in self.columns}
        for question in self.evaluation.active_filters:
            if isinstance(question.plugin, NodeResourcesFit) and question.plugin.name in by_name:
                return question.plugin, by_name[question.plugin.name]
        return None

    @cached_property
    def _shortfall(self) -> NDArray[np.float64]:
        """Return the missing parts of the requests of each row, added up."""
        total = np.zeros(self.table.size)
        if self._fit is None:
            return total
        plugin, ids = self._fit
        request = plugin.request_of(self.evaluation.pod)
        for index in np.unique(ids).tolist():
            rows = np.flatnonzero(ids == index)
            reasons = self.evaluation.statuses[index].reasons
            total[rows] += TOO_MANY_PODS in reasons
            for name, wanted in _lacking(request, reasons):
                total[rows] += np.minimum(1 - self._free(name, rows) / wanted, 1)
        return total

    def _free(self, resource: str, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        table = self.table
        code = table.column_of(resource)
        if code is not None:
            column: NDArray[np.int64] = table.allocatable[code, rows] - table.requested[code, rows]
            return column
        free = np.zeros(table.size, np.int64)
        for row in table.scalars.rows_offering(resource):
            free[row] = table.scalars.free(row, resource)
        return free[rows]

    def _distance(self, row: int) -> tuple[int, bool, float]:
        return int(self.counts[row]), bool(self.unresolvable[row]), float(self._shortfall[row])

    def _same_as(self, row: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        columns = (self.counts, self.unresolvable, self._shortfall)
        same = np.ones(len(rows), np.bool_)
        for column in columns:
            same &= column[rows] == column[row]
        return same


def _lacking(request: FitRequest, reasons: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Return the requested amounts that the reasons of NodeResourcesFit name."""
    given = set(reasons)
    for name, wanted in zip(request.names, request.wanted, strict=True):
        if f"Insufficient {name}" in given:
            yield name, wanted
