"""Amounts of resources by row, as Python values, for plugins that judge nodes one by one.

From the table's columns to a list with one `Amounts` for each row. It is made when it is first asked for, and kept:
only rows that changed are rebuilt.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.columns import Rows
from kubesched.core.cluster.following import RowwiseColumn
from kubesched.core.cluster.table import EPHEMERAL_STORAGE, NodeTable

Matrix = NDArray[np.int64]


class Amounts(NamedTuple):
    """CPU, memory and ephemeral storage; `pods` counts pods."""

    milli_cpu: int
    memory_bytes: int
    ephemeral_storage_bytes: int
    pods: int


def allocatable(table: NodeTable, rows: Rows) -> Matrix:
    """Return what some rows offer, a column each."""
    return np.vstack([table.allocatable[: EPHEMERAL_STORAGE + 1, rows], table.allowed_pods[rows]])


def requested(table: NodeTable, rows: Rows) -> Matrix:
    """Return the requests of the pods of some rows, one array for each resource."""
    return np.vstack([table.requested[: EPHEMERAL_STORAGE + 1, rows], table.pod_count[rows]])


def free(table: NodeTable, rows: Rows) -> Matrix:
    """Return free CPU, memory, storage and pod slots (one array each) of the given rows."""
    return allocatable(table, rows) - requested(table, rows)


def amounts_by_row(table: NodeTable, which: Callable[[NodeTable, Rows], Matrix]) -> list[Amounts]:
    """Return `allocatable`, `requested` or `free` of every row of a table; for reading, until the table changes."""
    kept = table.kept_amounts.get(which)
    if kept is None:
        kept = table.kept_amounts[which] = KeptAmounts(table, which)
    kept.refresh()
    return kept.rows


class KeptAmounts(RowwiseColumn):
    """The amounts of all rows of a table."""

    def __init__(self, table: NodeTable, which: Callable[[NodeTable, Rows], Matrix]) -> None:
        super().__init__(table, Reads.RESOURCES)
        self._which = which
        self.rows: list[Amounts] = []

    def evaluate(self) -> None:
        """Make the amounts of all rows."""
        self.rows = self._amounts(slice(0, self.table.size))

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Make the amounts of some rows anew."""
        for row, amounts in zip(rows.tolist(), self._amounts(rows), strict=True):
            self.rows[row] = amounts

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Make the amounts of a few rows anew."""
        self.evaluate_rows(np.array(rows, np.intp))

    def _amounts(self, rows: Rows) -> list[Amounts]:
        """Return the amounts of some rows; `tuple.__new__` skips the constructor's Python code."""
        matrix = self._which(self.table, rows)
        return list(map(partial(tuple.__new__, Amounts), zip(*matrix.tolist(), strict=True)))
