"""Plugins' views of the table: one row as a `NodeRow`, many rows as `Nodes`.

From the cluster's columns to plugin code. Both are views; nothing is copied until a column is gathered, and neither
may be kept beyond the call it was passed to.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import CPU, EPHEMERAL_STORAGE, MEMORY, NodeTable
from kubesched.errors import PluginError

Rows = slice | NDArray[np.intp]


class Amounts(NamedTuple):
    """CPU, memory and ephemeral storage; `pods` counts pods."""

    milli_cpu: int
    memory_bytes: int
    ephemeral_storage_bytes: int
    pods: int


class _Unread(dict[str, str]):
    """Annotations for a plugin whose `reads` does not name them: reading one is an error."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise PluginError(
            "annotations of nodes are read, which `reads` does not name: the answer would be kept although they change"
            "; add Reads.ANNOTATIONS, or leave `reads` as it is by default"
        )

    __getitem__ = __iter__ = __len__ = __contains__ = __eq__ = get = items = keys = values = _refuse
    __hash__ = None


UNREAD = _Unread()


class NodeRow:
    """One node with its pods and resources."""

    __slots__ = ("row", "table")

    def __init__(self, table: NodeTable, row: int) -> None:
        self.table = table
        self.row = row

    def __repr__(self) -> str:
        return f"<NodeRow {self.name}>"

    @property
    def name(self) -> str:
        """Return the node's name."""
        return self.table.names[self.row]

    @property
    def node(self) -> Node:
        """Return the Node object."""
        node = self._object
        if not self.table.log.may_read & Reads.ANNOTATIONS:
            metadata = msgspec.structs.replace(node.metadata, annotations=UNREAD)
            node = msgspec.structs.replace(node, metadata=metadata)
        return node

    @property
    def _object(self) -> Node:
        node = self.table.nodes[self.row]
        assert node is not None, "only rows with a Node object are judged"
        return node

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the node's labels."""
        return self._object.metadata.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """Return the node's annotations; a plugin with `key` and `reads` must name Reads.ANNOTATIONS there."""
        return self.node.metadata.annotations

    @property
    def taints(self) -> tuple[Taint, ...]:
        """Return the node's taints."""
        return self._object.spec.taints

    @property
    def pods(self) -> Iterable[PodInfo]:
        """Return the pods on the node."""
        return self.table.pods_on[self.row].values()

    @property
    def allocatable(self) -> Amounts:
        """Return the node's allocatable resources."""
        return self._amounts(self.table.allocatable, int(self.table.allowed_pods[self.row]))

    @property
    def requested(self) -> Amounts:
        """Return the requests of its pods."""
        return self._amounts(self.table.requested, int(self.table.pod_count[self.row]))

    @property
    def free(self) -> Amounts:
        """Return the free resources; negative if more is requested than allocatable."""
        return Amounts(*(a - b for a, b in zip(self.allocatable, self.requested, strict=True)))

    def alone(self) -> "Nodes":
        """Return `Nodes` with this node only."""
        return Nodes(self.table, np.array([self.row]))

    def free_of(self, resource: str) -> int:
        """Return the free amount of any resource."""
        return self.table.allocatable_of(self.row, resource) - self.table.requested_of(self.row, resource)

    def _amounts(self, matrix: NDArray[np.int64], pods: int) -> Amounts:
        cpu, memory, storage = matrix[: EPHEMERAL_STORAGE + 1, self.row].tolist()
        return Amounts(cpu, memory, storage, pods)


class Nodes:
    """Several rows at once; columns come back as arrays in the order of `rows`."""

    __slots__ = ("rows", "table")

    def __init__(self, table: NodeTable, rows: Rows | None = None) -> None:
        self.table = table
        self.rows: Rows = slice(0, table.size) if rows is None else rows

    @classmethod
    def all_of(cls, table: NodeTable) -> "Nodes":
        """Return all rows that have a Node object."""
        return cls(table, None if table.node_count == table.size else table.present_rows())

    def __len__(self) -> int:
        return self.rows.stop if isinstance(self.rows, slice) else len(self.rows)

    def __iter__(self) -> Iterator[NodeRow]:
        """Yield the rows that have a Node object, one by one; plugins judge no others."""
        table = self.table
        for row in self.row_numbers():
            if table.nodes[row] is not None:
                yield NodeRow(table, row)

    def row_numbers(self) -> list[int]:
        """Return the row numbers."""
        rows = self.rows
        return list(range(rows.stop)) if isinstance(rows, slice) else rows.tolist()

    def gather(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column of the table (or the rows of a matrix) at these rows."""
        return column[..., self.rows]

    @property
    def names(self) -> list[str]:
        """Return the nodes' names."""
        return [self.table.names[row] for row in self.row_numbers()]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Return which rows have a Node object."""
        return self.table.present[self.rows]

    def allocatable(self, resource: str) -> NDArray[np.int64]:
        """Return the nodes' allocatable amounts of a resource."""
        return self._of(self.table.allocatable, self.table.scalars.offered, resource)

    def requested(self, resource: str) -> NDArray[np.int64]:
        """Return the requests of the nodes' pods for a resource."""
        return self._of(self.table.requested, self.table.scalars.asked, resource)

    def free(self, resource: str) -> NDArray[np.int64]:
        """Return the free amounts of a resource."""
        return self.allocatable(resource) - self.requested(resource)

    def label_codes(self, key: str) -> NDArray[np.int32]:
        """Return the codes of a label's values; `table.label(key).values` decodes them, 0 means absent."""
        return self.table.label(key).codes[self.rows]

    def _of(self, matrix: NDArray[np.int64], scalars: list[dict[str, int]], resource: str) -> NDArray[np.int64]:
        code = self.table.column_of(resource)
        if code is None:
            return np.array([scalars[row].get(resource, 0) for row in self.row_numbers()], np.int64)
        return matrix[code, self.rows]


__all__ = ["CPU", "EPHEMERAL_STORAGE", "MEMORY", "Amounts", "NodeRow", "Nodes", "Rows"]
