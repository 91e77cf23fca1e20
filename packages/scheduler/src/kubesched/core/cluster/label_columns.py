"""The labels of nodes as columns, for the keys that are used.

From node labels to a column per key. A key that some node has keeps its column; pods can name any number of keys that
no node has, whose columns share one array of zeros and exist as long as they are referenced.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubesched.api.nodes import Node
from kubesched.core.cluster.columns import LabelColumn

_NO_LABELS: Mapping[str, str] = {}


class LabelColumns:
    """Columns by label key."""

    def __init__(self, capacity: int) -> None:
        # shared by all columns of keys that no node has
        self._absent: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self._columns: WeakValueDictionary[str, LabelColumn] = WeakValueDictionary()
        # the columns of keys that some node has
        self._kept: dict[str, LabelColumn] = {}
        self._labels_of: dict[int, Mapping[str, str]] = {}
        # the number of nodes with each key
        self._holders: Counter[str] = Counter()
        # changes with the set of keys that some node has
        self.version = 0

    def __len__(self) -> int:
        """Return the number of columns with a separate array."""
        return sum(column.codes is not self._absent for column in self._columns.values())

    def of(self, key: str, nodes: Sequence[Node | None]) -> LabelColumn:
        """Return the column of a key; it is made from the nodes on first use."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = LabelColumn(key, self._absent)
            if key in self._holders:
                for row, node in enumerate(nodes):
                    if node is not None and key in node.metadata.labels:
                        column.assign(row, node.metadata.labels)
        if key in self._holders:
            self._kept[key] = column
        return column

    def exists(self, key: str) -> bool:
        """Return whether some node has a key. Terms with other keys need no column."""
        return key in self._holders

    def asked_for(self) -> list[LabelColumn]:
        """Return the existing columns."""
        return list(self._columns.values())

    def assign(self, row: int, labels: Mapping[str, str]) -> None:
        """Set the labels of a row."""
        before = self._labels_of.get(row, _NO_LABELS)
        if labels:
            self._labels_of[row] = labels
        else:
            self._labels_of.pop(row, None)
        gone, come = before.keys() - labels.keys(), labels.keys() - before.keys()
        for key in come:
            self._holders[key] += 1
            self.version += self._holders[key] == 1
            known = self._columns.get(key)
            if known is not None:
                self._kept[key] = known
        for column in self._columns.values():
            column.assign(row, labels)
        for key in gone:
            self._holders[key] -= 1
            if not self._holders[key]:
                del self._holders[key]
                self.version += 1
                self._kept.pop(key, None)

    def crowded(self, most: int) -> Iterable[LabelColumn]:
        """Return the columns with more than the given number of values."""
        return [column for column in self._kept.values() if len(column) > most]

    def grow(self, capacity: int) -> None:
        """Grow to more rows."""
        absent = np.zeros(capacity, np.int32)
        for column in self._columns.values():
            column.grow(absent)
        self._absent = absent
