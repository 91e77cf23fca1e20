"""Columns of plugins that a function computes for many nodes at once, and that may depend on their pods.

From a plugin's constructor (`ClusterView.computed_values`) to `node.value_of(column)` and `nodes.values_of(column)`,
which call the function again in what-if worlds. It is called again for rows whose inputs changed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kubesched.core.cluster.changes import EVERYWHERE
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.views.node_values import NodeValues, Number, own_group
from kubesched.core.framework.views.nodes import Nodes


class ComputedValues(NodeValues):
    """Values that a function computes from the columns of some nodes; `reads` is all that it reads."""

    def __init__(
        self, table: NodeTable, compute: Callable[[Nodes], NDArray[Any]], reads: int, dtype: DTypeLike, default: Number
    ) -> None:
        super().__init__(table, reads | own_group(table), dtype, default)
        self.restricted_to = reads
        self.compute = compute

    def recompute(self) -> None:
        """Recompute all values, after data from outside the cluster has changed."""
        self.table.log.record(EVERYWHERE, self._own_group)

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Compute the values of a few rows."""
        self.evaluate_rows(np.array(rows, np.intp))

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Compute the values of some rows."""
        if not len(rows):
            return
        nodes = self.table.nodes
        there = np.array([row for row in rows.tolist() if nodes[row] is not None], np.intp)
        self._values[rows] = self._default
        self._values[there] = self.compute(Nodes(self.table, there))

    def _value(self, row: int) -> Number:
        value: Number = self.compute(Nodes(self.table, np.array([row])))[0].item()
        return value
