"""Plugins' views of the table: one row as a `NodeRow`, many rows as `Nodes`.

From the cluster's columns to plugin code. Both are views; nothing is copied until a column is gathered, and neither
may be kept beyond the call it was passed to. All their values are true on real nodes and in what-if worlds alike
(`row_worlds`). The table itself is not: it is for in-tree plugins, which define their worlds (`table_row`,
`table_rows`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Never

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.columns import Rows
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.restrictions import RESTRICTION, may_read
from kubesched.core.cluster.row_amounts import Amounts, allocatable, amounts_by_row, free, requested
from kubesched.core.cluster.table import EPHEMERAL_STORAGE, NodeTable
from kubesched.core.framework.views.pod_matcher import PodMatcher
from kubesched.errors import PluginError

if TYPE_CHECKING:
    from kubesched.core.framework.views.node_values import NodeValues

PODS = "pods"


_GROUPS: dict[int, tuple[str, str]] = {
    Reads.LABELS: ("labels of nodes are", "LABELS"),
    Reads.TAINTS: ("taints and cordons of nodes are", "TAINTS"),
    Reads.PODS: ("pods of nodes are", "PODS"),
    Reads.RESOURCES: ("resources of nodes are", "RESOURCES"),
    Reads.ANNOTATIONS: ("annotations of nodes are", "ANNOTATIONS"),
}


def unnamed(group: int) -> PluginError:
    """Return the error of a plugin that reads what its `reads` does not name."""
    what, name = _GROUPS[group]
    return PluginError(
        f"{what} read, which `reads` does not name: the answer would be kept although they change"
        f"; add Reads.{name}, or leave `reads` as it is by default"
    )


class _Unread(dict[str, str]):
    """Annotations for a plugin whose `reads` does not name them: reading one is an error."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise unnamed(Reads.ANNOTATIONS)

    __getitem__ = __iter__ = __len__ = __contains__ = __eq__ = get = items = keys = values = _refuse
    __hash__ = None


UNREAD = _Unread()


def _no_attribute(view: object, name: str) -> AttributeError:
    """Return the error of a view that lacks an attribute; plugins have no table."""
    why = f"{type(view).__name__} has no attribute {name!r}"
    if name in ("table", "row", "rows"):
        why += ": the table is not that of a what-if world; ask the view itself, such as node.free or nodes.count_pods"
    return AttributeError(why)


class NodeRow:
    """One node with its pods and resources."""

    __slots__ = ("_row", "_table")

    def __init__(self, table: NodeTable, row: int) -> None:
        self._table = table
        self._row = row

    def __repr__(self) -> str:
        return f"<NodeRow {self.name}>"

    def __getattr__(self, name: str) -> Never:
        raise _no_attribute(self, name)

    def _reads(self, groups: int) -> None:
        """Raise PluginError if the plugin that is asked has named none of these groups."""
        if RESTRICTION.get() is not None and not may_read(self._table.log) & groups:
            raise unnamed(Reads.PODS if groups & Reads.PODS else groups)

    # -- the object

    @property
    def name(self) -> str:
        """Return the node's name."""
        return self._table.names[self._row]

    @property
    def node(self) -> Node:
        """Return the Node object."""
        node = self._object
        if RESTRICTION.get() is not None and not may_read(self._table.log) & Reads.ANNOTATIONS:
            metadata = msgspec.structs.replace(node.metadata, annotations=UNREAD)
            node = msgspec.structs.replace(node, metadata=metadata)
        return node

    @property
    def _object(self) -> Node:
        node = self._table.nodes[self._row]
        assert node is not None, "only rows with a Node object are judged"
        return node

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the node's labels."""
        self._reads(Reads.LABELS)
        return self._object.metadata.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """Return the node's annotations; a plugin with `key` and `reads` must name Reads.ANNOTATIONS there."""
        return self.node.metadata.annotations

    @property
    def taints(self) -> tuple[Taint, ...]:
        """Return the node's taints."""
        self._reads(Reads.TAINTS)
        return self._object.spec.taints

    @property
    def unschedulable(self) -> bool:
        """Return whether the node is cordoned."""
        self._reads(Reads.TAINTS)
        return bool(self._table.unschedulable[self._row])

    # -- pods and resources

    @property
    def pods(self) -> Iterable[PodInfo]:
        """Return the pods on the node."""
        self._reads(Reads.PODS | Reads.POD_OBJECTS)
        return self._table.pods_on[self._row].values()

    @property
    def pod_count(self) -> int:
        """Return how many pods are on the node."""
        self._reads(Reads.PODS | Reads.RESOURCES)
        return int(self._table.pod_count[self._row])

    def count_pods(self, match: PodMatcher) -> int:
        """Return how many pods on the node match."""
        return sum(match.matches(pod) for pod in self.pods)

    @property
    def allocatable(self) -> Amounts:
        """Return the node's allocatable resources."""
        self._reads(Reads.RESOURCES)
        return self._amounts(self._table.allocatable, int(self._table.allowed_pods[self._row]))

    @property
    def requested(self) -> Amounts:
        """Return the requests of its pods."""
        self._reads(Reads.RESOURCES)
        return self._amounts(self._table.requested, self.pod_count)

    @property
    def free(self) -> Amounts:
        """Return the free resources; negative if more is requested than allocatable."""
        return Amounts(*(a - b for a, b in zip(self.allocatable, self.requested, strict=True)))

    def allocatable_of(self, resource: str) -> int:
        """Return the allocatable amount of any resource."""
        self._reads(Reads.RESOURCES)
        if resource == PODS:
            return int(self._table.allowed_pods[self._row])
        return self._table.allocatable_of(self._row, resource)

    def requested_of(self, resource: str) -> int:
        """Return the requests of its pods for any resource."""
        self._reads(Reads.RESOURCES)
        return self.pod_count if resource == PODS else self._table.requested_of(self._row, resource)

    def free_of(self, resource: str) -> int:
        """Return the free amount of any resource."""
        return self.allocatable_of(resource) - self.requested_of(resource)

    def _amounts(self, matrix: NDArray[np.int64], pods: int) -> Amounts:
        cpu, memory, storage = matrix[: EPHEMERAL_STORAGE + 1, self._row].tolist()
        return Amounts(cpu, memory, storage, pods)

    # -- columns

    def value_of(self, column: "NodeValues") -> int | float | bool:
        """Return the node's value in a column of the plugin."""
        return column.at(self._row)

    def alone(self) -> "Nodes":
        """Return `Nodes` with this node only."""
        return Nodes(self._table, np.array([self._row]))


class Nodes:
    """Several nodes at once; columns come back as arrays, one value for each node, in one order."""

    __slots__ = ("_rows", "_table")

    def __init__(self, table: NodeTable, rows: Rows | None = None) -> None:
        self._table = table
        self._rows: Rows = slice(0, table.size) if rows is None else rows

    @classmethod
    def all_of(cls, table: NodeTable) -> "Nodes":
        """Return all rows that have a Node object."""
        return cls(table, None if table.node_count == table.size else table.present_rows())

    def _reads(self, groups: int) -> None:
        """Raise PluginError if the plugin that is asked has named none of these groups."""
        if RESTRICTION.get() is not None and not may_read(self._table.log) & groups:
            raise unnamed(Reads.PODS if groups & Reads.PODS else groups)

    def __getattr__(self, name: str) -> Never:
        raise _no_attribute(self, name)

    def __len__(self) -> int:
        return self._rows.stop if isinstance(self._rows, slice) else len(self._rows)

    def __iter__(self) -> Iterator[NodeRow]:
        """Yield the nodes one by one."""
        for _, node in self.numbered():
            yield node

    def numbered(self) -> Iterator[tuple[int, NodeRow]]:
        """Yield each node with its place; rows without a Node object, which no plugin judges, are left out."""
        table = self._table
        for place, row in enumerate(row_numbers(self)):
            if table.nodes[row] is not None:
                yield place, NodeRow(table, row)

    # -- the objects

    @property
    def names(self) -> list[str]:
        """Return the nodes' names."""
        return [self._table.names[row] for row in row_numbers(self)]

    @property
    def unschedulable(self) -> NDArray[np.bool_]:
        """Return which nodes are cordoned."""
        self._reads(Reads.TAINTS)
        return self._table.unschedulable[self._rows]

    def label_codes(self, key: str) -> NDArray[np.int32]:
        """Return a label's values as codes, which `label_values` decodes; 0 means that the node lacks the label.

        Nodes of one topology domain have one code.
        """
        self._reads(Reads.LABELS)
        return self._table.label(key).codes[self._rows]

    def label_values(self, key: str) -> list[str]:
        """Return the texts of a label's codes; that of code 0, the absent label, is empty."""
        self._reads(Reads.LABELS)
        return list(self._table.label(key).values)

    def labels(self, key: str) -> list[str | None]:
        """Return the value of a label on each node, None where it is absent."""
        values: list[str | None] = [*self._table.label(key).values]
        values[0] = None
        return [values[code] for code in self.label_codes(key).tolist()]

    def by_label(self, key: str, value_of: Callable[[str | None], int]) -> NDArray[np.int64]:
        """Return a number for each node, computed once for each value of a label (None: the label is absent)."""
        numbers = [value_of(None), *(value_of(text) for text in self._table.label(key).values[1:])]
        return np.array(numbers, np.int64)[self.label_codes(key)]

    def annotations(self, key: str) -> list[str | None]:
        """Return the value of an annotation on each node, None where it is absent."""
        found: list[str | None] = [None] * len(self)
        for place, node in self.numbered():
            found[place] = node.annotations.get(key)
        return found

    # -- pods and resources

    @property
    def pod_count(self) -> NDArray[np.int64]:
        """Return how many pods are on each node."""
        self._reads(Reads.PODS | Reads.RESOURCES)
        return self._table.pod_count[self._rows]

    def count_pods(self, match: PodMatcher) -> NDArray[np.int64]:
        """Return how many pods on each node match."""
        self._reads(Reads.PODS)
        counts: NDArray[np.int64] = match.column(self._table)[self._rows]
        return counts

    def allocatable(self, resource: str) -> NDArray[np.int64]:
        """Return the nodes' allocatable amounts of a resource."""
        self._reads(Reads.RESOURCES)
        if resource == PODS:
            return self._table.allowed_pods[self._rows]
        return self._of(self._table.allocatable, self._table.scalars.offered, resource)

    def requested(self, resource: str) -> NDArray[np.int64]:
        """Return the requests of the nodes' pods for a resource."""
        self._reads(Reads.RESOURCES)
        if resource == PODS:
            return self.pod_count
        return self._of(self._table.requested, self._table.scalars.asked, resource)

    def free(self, resource: str) -> NDArray[np.int64]:
        """Return the free amounts of a resource."""
        return self.allocatable(resource) - self.requested(resource)

    def _of(self, matrix: NDArray[np.int64], scalars: list[dict[str, int]], resource: str) -> NDArray[np.int64]:
        code = self._table.column_of(resource)
        if code is None:
            return np.array([scalars[row].get(resource, 0) for row in row_numbers(self)], np.int64)
        return matrix[code, self._rows]

    # -- columns

    def values_of(self, column: "NodeValues") -> NDArray[Any]:
        """Return the nodes' values in a column of the plugin."""
        values: NDArray[Any] = column.all()[self._rows]
        return values


class VisitedRow(NodeRow):
    """A view that is moved from row to row; amounts are kept from visit to visit (`row_amounts`)."""

    __slots__ = ("_allocatable", "_free", "_pod_counts", "_requested")

    def __init__(self, table: NodeTable) -> None:
        super().__init__(table, 0)
        # by row; filled on the first request
        self._allocatable: list[Amounts] | None = None
        self._requested: list[Amounts] | None = None
        self._free: list[Amounts] | None = None
        self._pod_counts: list[int] | None = None

    @property
    def allocatable(self) -> Amounts:
        """Return the node's allocatable resources."""
        amounts = self._allocatable
        if amounts is None:
            self._reads(Reads.RESOURCES)
            amounts = self._allocatable = amounts_by_row(self._table, allocatable)
        return amounts[self._row]

    @property
    def requested(self) -> Amounts:
        """Return the requests of its pods."""
        amounts = self._requested
        if amounts is None:
            self._reads(Reads.RESOURCES)
            amounts = self._requested = amounts_by_row(self._table, requested)
        return amounts[self._row]

    @property
    def free(self) -> Amounts:
        """Return the free resources; negative if more is requested than allocatable."""
        amounts = self._free
        if amounts is None:
            self._reads(Reads.RESOURCES)
            amounts = self._free = amounts_by_row(self._table, free)
        return amounts[self._row]

    @property
    def pod_count(self) -> int:
        """Return how many pods are on the node."""
        counts = self._pod_counts
        if counts is None:
            self._reads(Reads.PODS | Reads.RESOURCES)
            counts = self._pod_counts = self._table.pod_count[: self._table.size].tolist()
        return counts[self._row]


def visited(nodes: Nodes) -> Iterator[tuple[int, NodeRow]]:
    """Yield each node of the table with its place, as `numbered` does, for one call each: one view that moves along."""
    table = nodes._table
    view = VisitedRow(table)
    rows = row_numbers(nodes)
    if table.node_count == table.size:
        for place, view._row in enumerate(rows):
            yield place, view
        return
    for place, row in enumerate(rows):
        if table.nodes[row] is not None:
            view._row = row
            yield place, view


# -- for in-tree plugins


def table_row(node: NodeRow) -> tuple[NodeTable, int]:
    """Return the table and the row of a node; their pods are not the pods of a what-if world."""
    return node._table, node._row


def table_rows(nodes: Nodes) -> tuple[NodeTable, Rows]:
    """Return the table and the rows of nodes; their pods are not the pods of a what-if world."""
    return nodes._table, nodes._rows


def row_numbers(nodes: Nodes) -> list[int]:
    """Return the row numbers of nodes."""
    rows = nodes._rows
    return list(range(rows.stop)) if isinstance(rows, slice) else rows.tolist()
