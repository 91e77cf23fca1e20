"""NodeResourcesFit's filter over columns: all rows at once, and batches of worlds.

From a request and the table's matrices to objections, one row of bits per kind of objection. Worlds keep the free
amount of each requested resource; a pod that is added or removed is one subtraction or addition per resource.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.columns.questions import FilterWorlds, shallow_copy
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import Nodes, row_numbers, table_rows
from kubesched.core.plugins.node_resources.fit_request import FitRequest

# More than any request, with room to add and subtract.
PLENTY = np.iinfo(np.int64).max // 2


def judge_nodes(request: FitRequest, nodes: Nodes, delegated: tuple[int, ...]) -> Verdict:
    """Return the verdict for many nodes; `delegated` amounts count only on nodes that offer the resource."""
    table, rows = table_rows(nodes)
    codes = [(index, code) for index, (code, _) in enumerate(request.native)]
    sparse: list[int] = []
    for index in request.scalars:
        column = table.column_of(request.names[index])
        if column is None:
            sparse.append(index)
        else:
            codes.append((index, column))
    objections = np.empty((len(codes) + 2, len(nodes)), np.bool_)
    beyond = objections[-1]
    beyond[:] = False
    np.greater_equal(table.pod_count[rows], table.allowed_pods[rows], out=objections[0])
    for place, (index, code) in enumerate(codes, 1):
        amount = request.wanted[index]
        offered = table.allocatable[code, rows]
        lacking = objections[place]
        np.less(offered - table.requested[code, rows], amount, out=lacking)
        if index in delegated:
            lacking &= offered > 0
        if lacking.any():
            beyond |= lacking & (offered < amount)
    if table.node_count != table.size:
        objections &= table.present[rows]
    indices = [index for index, _ in codes]
    if not sparse:
        return request.verdict(objections, indices)
    everywhere = request.verdict(objections, indices, request.absent(sparse, delegated))
    return _with_exceptions(request, nodes, delegated, sparse, everywhere)


def _with_exceptions(
    request: FitRequest, nodes: Nodes, delegated: tuple[int, ...], sparse: Sequence[int], everywhere: Verdict
) -> Verdict:
    """Return a verdict in which rows that offer one of the sparse resources are judged one by one."""
    table, rows = table_rows(nodes)
    offering: set[int] = set()
    for index in sparse:
        offering |= table.scalars.rows_offering(request.names[index])
    which = everywhere.which.astype(np.int16)
    # a status may be listed twice
    statuses = list(everywhere.statuses)
    places: dict[Status | None, int] = {}
    for place, status in enumerate(statuses):
        places.setdefault(status, place)
    if table.node_count != table.size:
        which[~table.present[rows]] = places[None]
    if offering:
        for position, row in enumerate(row_numbers(nodes)):
            if row in offering:
                status = request.status(request.objection(table, row, delegated))
                if status not in places:
                    places[status] = len(statuses)
                    statuses.append(status)
                which[position] = places[status]
    return Verdict(which, tuple(statuses))


class FitWorlds(FilterWorlds):
    """The free amounts in each world of the resources that the pod requests."""

    def __init__(
        self, request: FitRequest, table: NodeTable, rows: NDArray[np.intp], delegated: tuple[int, ...]
    ) -> None:
        self._request = request
        self._table = table
        scalars = table.scalars
        offered_somewhere = [index for index in request.scalars if scalars.rows_offering(request.names[index])]
        self._indices = (*range(len(request.native)), *offered_somewhere)
        nowhere = set(request.scalars).difference(offered_somewhere)
        # the objection of every world
        self._absent = request.absent(sorted(nowhere), delegated) if nowhere else 0
        wanted = [request.wanted[index] for index in self._indices]
        self._wanted = np.array(wanted, np.int64)[:, np.newaxis]
        self._free_pods: NDArray[np.int64] = table.allowed_pods[rows] - table.pod_count[rows]
        offered = np.empty((len(self._indices), len(rows)), np.int64)
        self._free: NDArray[np.int64] = np.empty_like(offered)
        for place, (code, _) in enumerate(request.native):
            table.allocatable[code].take(rows, out=offered[place])
            np.subtract(offered[place], table.requested[code].take(rows), out=self._free[place])
        for place, index in enumerate(offered_somewhere, len(request.native)):
            name = request.names[index]
            offered[place] = [scalars.offered[row].get(name, 0) for row in rows.tolist()]
            self._free[place] = [scalars.free(row, name) for row in rows.tolist()]
            if index in delegated:
                self._free[place, offered[place] <= 0] = PLENTY
        # whether the pod does not fit a world's node even if it were empty
        self._too_small: NDArray[np.bool_] = offered < self._wanted

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Subtract the requests of the pods from the worlds (sign 1), or add them (sign -1)."""
        apply = np.subtract if sign > 0 else np.add
        apply.at(self._free_pods, worlds, 1)
        request, pods = self._request, self._table.slots
        for place, (code, _) in enumerate(request.native):
            apply.at(self._free[place], worlds, pods.requests[code].take(slots))
        for place in range(len(request.native), len(self._indices)):
            name = request.names[self._indices[place]]
            apply.at(self._free[place], worlds, pods.scalar_requests(slots, name))

    def verdict(self) -> Verdict:
        """Return a verdict with the resources that the worlds lack."""
        objections = np.empty((len(self._free) + 2, len(self._free_pods)), np.bool_)
        np.less_equal(self._free_pods, 0, out=objections[0])
        lacking = objections[1:-1]
        np.less(self._free, self._wanted, out=lacking)
        np.any(lacking & self._too_small, axis=0, out=objections[-1])
        return self._request.verdict(objections, self._indices, self._absent)

    def select(self, worlds: NDArray[np.intp]) -> "FitWorlds":
        """Return an independent copy of some worlds."""
        selected = shallow_copy(self)
        selected._free_pods = self._free_pods.take(worlds)
        selected._free = self._free.take(worlds, axis=1)
        selected._too_small = self._too_small.take(worlds, axis=1)
        return selected
