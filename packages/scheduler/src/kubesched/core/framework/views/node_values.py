"""Columns of plugins: a value for each node, made from the node or from other objects, and kept up to date by change.

From a plugin's constructor (`ClusterView.node_values`, `ClusterView.object_values`) to `node.value_of(column)` and
`nodes.values_of(column)`. A plugin with a key adds `column.reads` to its own: then an answer is asked for again only
where the column changed. A value must not depend on pods, since a what-if world has other pods.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.changes import ANYTHING, EVERYWHERE, FIRST_OF_COLUMNS, LAST_OF_COLUMNS, Reads
from kubesched.core.cluster.columns import grown
from kubesched.core.cluster.following import RowwiseColumn, most_rows
from kubesched.core.cluster.objects import Objects
from kubesched.core.cluster.restrictions import RESTRICTION, may_read
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.values.texts import described
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.errors import PluginError

Number = int | float | bool
# groups that change with pods
OF_PODS = Reads.RESOURCES | Reads.PORTS | Reads.PODS | Reads.VOLUMES | Reads.DEVICES | Reads.POD_OBJECTS

# the separate groups of columns, assigned on demand
OWN_GROUPS = ANYTHING & ~(FIRST_OF_COLUMNS - 1)

_log = logging.getLogger("kubesched.plugins")


def own_group(table: NodeTable) -> int:
    """Return a group for the changes of one column; after the last number columns share it."""
    number = table.log.own_columns
    table.log.own_columns += 1
    return min(FIRST_OF_COLUMNS << number, LAST_OF_COLUMNS)


class NodeValues(RowwiseColumn, ABC):
    """A number for each node."""

    def __init__(self, table: NodeTable, reads: int, dtype: DTypeLike, default: Number) -> None:
        super().__init__(table, reads)
        table.log.wanted |= reads
        # the separate group of this column, for values that change independently of the table
        self._own_group = reads & OWN_GROUPS
        self._default = default
        self._values: NDArray[Any] = np.full(0, default, dtype)

    def all(self) -> NDArray[Any]:
        """Return the values of all rows; raises PluginError if the plugin's `reads` does not name them."""
        self._check()
        self.refresh()
        return self._values

    def at(self, row: int) -> Number:
        """Return the value of one row as a Python number."""
        self._check()
        self.refresh()
        value: Number = self._values[row].item()
        return value

    def _check(self) -> None:
        if RESTRICTION.get() is not None and self.reads & ~may_read(self.table.log):
            raise PluginError(
                "a column is read whose `reads` the plugin's own `reads` does not name: the answer would be kept "
                "although it changes; set `reads` to what it is, | the column's `reads`"
            )

    def record(self, rows: Sequence[int]) -> None:
        """Log that the values of some rows changed beside the table."""
        log = self.table.log
        if len(rows) > most_rows(self.table.size):
            # many entries would evict older ones from the log
            log.record(EVERYWHERE, self._own_group)
            return
        for row in rows:
            log.record(row, self._own_group)

    def evaluate(self) -> None:
        """Make the whole column."""
        if len(self._values) != self.table.size:
            self._values = grown(self._values[: self.table.size], self.table.size)
        self._values[:] = self._default
        self.evaluate_few(self.table.present_rows().tolist())

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Make the column anew at some rows."""
        self.evaluate_few(rows.tolist())

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Make the column anew at a few rows."""
        nodes, values = self.table.nodes, self._values
        for row in rows:
            values[row] = self._value(row) if nodes[row] is not None else self._default

    @abstractmethod
    def _value(self, row: int) -> Number:
        """Return the value of a row that has a node."""


class ValuesOfNodes(NodeValues):
    """Values that a function makes of each node's object."""

    def __init__(
        self, table: NodeTable, value_of: Callable[[NodeRow], Number], reads: int, dtype: DTypeLike, default: Number
    ) -> None:
        if reads & OF_PODS:
            raise PluginError(
                "a column of values cannot read pods or what they take, which differ in what-if worlds; "
                "read them in the hook: node.pods, node.free, nodes.count_pods, ..., or sum them: cluster.pod_sums"
            )
        super().__init__(table, reads, dtype, default)
        self.restricted_to = reads
        self._value_of = value_of

    def _value(self, row: int) -> Number:
        return self._value_of(NodeRow(self.table, row))


class AssignedValues(NodeValues):
    """Values from outside, by the names of nodes; `assign` them between two cycles (`background.every`)."""

    def __init__(self, table: NodeTable, dtype: DTypeLike, default: Number) -> None:
        super().__init__(table, own_group(table), dtype, default)
        self._by_name: dict[str, Number] = {}

    def _value(self, row: int) -> Number:
        return self._by_name.get(self.table.names[row], self._default)

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Make the column anew at some rows, also at all of them."""
        nodes, names, default, value_of = self.table.nodes, self.table.names, self._default, self._by_name.get
        self._values[rows] = [default if nodes[row] is None else value_of(names[row], default) for row in rows]

    def assign(self, values: Mapping[str, Number]) -> None:
        """Replace all values; nodes that are not named have the default. Raises ValueError for a value that is not a
        number.
        """
        np.array(list(values.values()), self._values.dtype)
        before, self._by_name = self._by_name, dict(values)
        row_of, default = self.table.row_of, self._default
        changed = (name for name, value in values.items() if before.get(name, default) != value)
        dropped = (name for name, value in before.items() if name not in values and value != default)
        rows = (row_of[name] for name in chain(changed, dropped) if name in row_of)
        self.record(list(islice(rows, most_rows(self.table.size) + 1)))


class ValuesOfObjects(NodeValues):
    """Values of objects of another kind, each of which belongs to a node; of several, the last by name counts."""

    def __init__(
        self,
        table: NodeTable,
        objects: Objects,
        kind: str,
        node_of: Callable[[Any], str],
        value_of: Callable[[Any], Number],
        dtype: DTypeLike,
        default: Number,
    ) -> None:
        # a separate group: its changes are logged by row, the changes of the kind as an epoch
        super().__init__(table, own_group(table), dtype, default)
        self._node_of = node_of
        self._value_of = value_of
        # node name -> full name of the object -> value
        self._by_node: dict[str, dict[str, Number]] = {}
        self._node_of_object: dict[str, str] = {}
        self._kind = kind
        for obj in objects.named(kind):
            self._put(obj)
        self.unfollow = objects.follow(kind, self._changed)

    def _value(self, row: int) -> Number:
        values = self._by_node.get(self.table.names[row])
        return values[max(values)] if values else self._default

    def _changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        touched = set()
        if old is not None:
            touched.add(self._drop(old))
        if new is not None:
            touched.add(self._put(new))
        row_of = self.table.row_of
        self.record([row_of[name] for name in touched if name in row_of])

    def _put(self, obj: ApiObject) -> str:
        """Note the value of an object; return its node, or an empty name if the plugin cannot read the object."""
        try:
            name, value = self._node_of(obj), self._value_of(obj)
            np.array([value], self._values.dtype)
        except Exception as error:
            # the object may be wrong without a fault of the plugin, and no attempt is running that could fail
            _log.warning("Object ignored", extra={"kind": self._kind, "object": obj.full_name, "err": described(error)})
            return ""
        self._by_node.setdefault(name, {})[obj.full_name] = value
        self._node_of_object[obj.full_name] = name
        return name

    def _drop(self, obj: ApiObject) -> str:
        """Forget the value of an object; return its node."""
        name = self._node_of_object.pop(obj.full_name, "")
        values = self._by_node.get(name, {})
        values.pop(obj.full_name, None)
        if not values:
            self._by_node.pop(name, None)
        return name
