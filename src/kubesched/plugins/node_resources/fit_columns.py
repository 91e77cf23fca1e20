"""NodeResourcesFit's filter over columns: all rows at once, and batches of worlds.

From a request and the table's matrices to objections, one row of bits per kind of objection. Worlds keep what is free
of each amount asked for; a pod that comes or goes is one subtraction or addition per amount.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.cluster.table import NodeTable
from kubesched.framework.nodes import Nodes
from kubesched.framework.questions import FilterWorlds
from kubesched.framework.verdict import Verdict
from kubesched.plugins.node_resources.fit_request import FitRequest

# More than anybody can ask for, with room to add and subtract.
PLENTY = np.iinfo(np.int64).max // 2


def judge_nodes(request: FitRequest, nodes: Nodes, delegated: Sequence[int]) -> Verdict:
    """Return the verdict for many nodes; `delegated` amounts matter only to nodes that offer the resource."""
    table, rows = nodes.table, nodes.rows
    objections = np.empty((len(request.amounts) + 2, len(nodes)), np.bool_)
    beyond = objections[-1]
    beyond[:] = False
    np.greater_equal(table.pod_count[rows], table.allowed_pods[rows], out=objections[0])
    for index, (code, amount) in enumerate(request.amounts):
        offered = table.allocatable[code, rows]
        lacking = objections[index + 1]
        np.less(offered - table.requested[code, rows], amount, out=lacking)
        if index in delegated:
            lacking &= offered > 0
        if lacking.any():
            beyond |= lacking & (offered < amount)
    if table.node_count != table.size:
        objections &= nodes.present
    return request.verdict(objections)


class FitWorlds(FilterWorlds):
    """What is free in each world of what the pod asks for."""

    def __init__(self, request: FitRequest, table: NodeTable, rows: NDArray[np.intp], delegated: Sequence[int]) -> None:
        self._request = request
        self._table = table
        self._wanted = np.array([amount for _, amount in request.amounts], np.int64)[:, np.newaxis]
        self._free_pods: NDArray[np.int64] = table.allowed_pods[rows] - table.pod_count[rows]
        offered = np.empty((len(request.amounts), len(rows)), np.int64)
        self._free: NDArray[np.int64] = np.empty_like(offered)
        for index, (code, _) in enumerate(request.amounts):
            table.allocatable[code].take(rows, out=offered[index])
            np.subtract(offered[index], table.requested[code].take(rows), out=self._free[index])
        for index in delegated:
            self._free[index, offered[index] <= 0] = PLENTY
        # whether a world's node could not take the pod even if it were empty
        self._too_small: NDArray[np.bool_] = offered < self._wanted

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Take from the worlds what the pods ask for (sign 1), or give it back (sign -1)."""
        apply = np.subtract if sign > 0 else np.add
        apply.at(self._free_pods, worlds, 1)
        requests = self._table.slots.requests
        for index, (code, _) in enumerate(self._request.amounts):
            if code < len(requests):
                apply.at(self._free[index], worlds, requests[code].take(slots))

    def verdict(self) -> Verdict:
        """Return what the worlds lack."""
        objections = np.empty((len(self._free) + 2, len(self._free_pods)), np.bool_)
        np.less_equal(self._free_pods, 0, out=objections[0])
        lacking = objections[1:-1]
        np.less(self._free, self._wanted, out=lacking)
        np.any(lacking & self._too_small, axis=0, out=objections[-1])
        return self._request.verdict(objections)

    def select(self, worlds: NDArray[np.intp]) -> "FitWorlds":
        """Return an independent copy of some worlds."""
        copy = object.__new__(FitWorlds)
        copy._request, copy._table, copy._wanted = self._request, self._table, self._wanted
        copy._free_pods = self._free_pods.take(worlds)
        copy._free = self._free.take(worlds, axis=1)
        copy._too_small = self._too_small.take(worlds, axis=1)
        return copy
