"""Worlds for a filter over columns: all worlds of a batch are judged in one call.

From a column-form plugin to a batch verdict. The plugin gets `Nodes` with one node for each world; values that depend
on pods are the world's: the table's columns with the world's changes.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NATIVE, NodeTable
from kubesched.core.framework.calling.hooks import filter_nodes
from kubesched.core.framework.columns.questions import FilterWorlds, shallow_copy
from kubesched.core.framework.columns.row_worlds import WorldRow
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.computed_values import ComputedValues
from kubesched.core.framework.views.node_values import NodeValues
from kubesched.core.framework.views.nodes import PODS, NodeRow, Nodes
from kubesched.core.framework.views.pod_matcher import PodMatcher
from kubesched.core.framework.views.pod_sums import PodSums


class WorldChanges:
    """The pods that were put into worlds (sign 1) or taken out of them (sign -1), in order."""

    def __init__(self) -> None:
        self.worlds: NDArray[np.intp] = np.zeros(0, np.intp)
        self.slots: NDArray[np.intp] = np.zeros(0, np.intp)
        self.signs: NDArray[np.int64] = np.zeros(0, np.int64)

    def add(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> "WorldChanges":
        """Return these changes with some more."""
        more = WorldChanges()
        more.worlds = np.concatenate([self.worlds, worlds])
        more.slots = np.concatenate([self.slots, slots])
        more.signs = np.concatenate([self.signs, np.full(len(slots), sign, np.int64)])
        return more

    def of(self, worlds: NDArray[np.intp]) -> "WorldChanges":
        """Return the changes of some worlds, which are numbered anew; a world may be named more than once."""
        by_world = np.argsort(self.worlds, kind="stable")
        ordered = self.worlds[by_world]
        first, end = np.searchsorted(ordered, worlds, "left"), np.searchsorted(ordered, worlds, "right")
        counts = end - first
        # the places of each world's changes, one world after the other
        before = np.repeat(np.cumsum(counts) - counts, counts)
        places = by_world[np.repeat(first, counts) + np.arange(counts.sum()) - before]
        selected = WorldChanges()
        selected.worlds = np.repeat(np.arange(len(worlds)), counts)
        selected.slots, selected.signs = self.slots[places], self.signs[places]
        return selected

    def summed(self, amounts: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """Return the sum of some amounts, one for each change, by world."""
        sums = np.zeros(count, np.int64)
        np.add.at(sums, self.worlds, self.signs * amounts)
        return sums


class NodesOfWorlds(Nodes):
    """One node for each world."""

    __slots__ = ("_changes",)

    def __init__(self, table: NodeTable, rows: NDArray[np.intp], changes: WorldChanges) -> None:
        super().__init__(table, rows)
        self._changes = changes

    def numbered(self) -> Iterator[tuple[int, NodeRow]]:
        """Yield each world's node with its place."""
        changed: dict[int, list[tuple[PodInfo, int]]] = {}
        changes = self._changes
        for world, slot, sign in zip(
            changes.worlds.tolist(), changes.slots.tolist(), changes.signs.tolist(), strict=True
        ):
            changed.setdefault(world, []).append((self._pod(slot), sign))
        for place, node in super().numbered():
            yield place, WorldRow.changed(node, changed.get(place, ()))

    def _pod(self, slot: int) -> PodInfo:
        pod = self._table.slots.pods[slot]
        assert pod is not None, "a world is changed by pods that have a slot"
        return pod

    @property
    def pod_count(self) -> NDArray[np.int64]:
        """Return how many pods are on each world's node."""
        return super().pod_count + self._changes.summed(np.ones(len(self._changes.slots), np.int64), len(self))

    def count_pods(self, match: PodMatcher) -> NDArray[np.int64]:
        """Return how many pods on each world's node match."""
        matching = np.array([match.matches(self._pod(slot)) for slot in self._changes.slots.tolist()], np.int64)
        return super().count_pods(match) + self._changes.summed(matching, len(self))

    def requested(self, resource: str) -> NDArray[np.int64]:
        """Return the requests of the pods on each world's node for a resource."""
        if resource == PODS:
            return self.pod_count
        slots, changed = self._table.slots, self._changes.slots
        amounts = (
            slots.requests[NATIVE.index(resource), changed]
            if resource in NATIVE
            else slots.scalar_requests(changed, resource)
        )
        return super().requested(resource) + self._changes.summed(amounts, len(self))

    def values_of(self, column: NodeValues) -> NDArray[Any]:
        """Return the value of each world's node in a column of the plugin; what follows from pods is the world's."""
        if isinstance(column, ComputedValues):
            return column.compute(self)
        values = super().values_of(column)
        if not isinstance(column, PodSums):
            return values
        amounts = np.array([column.over([self._pod(slot)]) for slot in self._changes.slots.tolist()], np.int64)
        return values + self._changes.summed(amounts, len(self))


class ColumnWorlds(FilterWorlds):
    """A batch of worlds that the column form of a filter judges in one call."""

    def __init__(
        self, plugin: FilterPlugin, pod: PodInfo, cycle: CycleState, table: NodeTable, rows: NDArray[np.intp]
    ) -> None:
        self._plugin = plugin
        self._pod = pod
        self._cycle = cycle
        self._table = table
        self._rows = rows
        self._changes = WorldChanges()

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add or remove one pod in each of some worlds."""
        self._changes = self._changes.add(worlds, slots, sign)

    def verdict(self) -> Verdict:
        """Call the plugin for all worlds."""
        return filter_nodes(self._plugin, self._cycle, self._pod, NodesOfWorlds(self._table, self._rows, self._changes))

    def select(self, worlds: NDArray[np.intp]) -> "ColumnWorlds":
        """Return copies of some worlds."""
        selected = shallow_copy(self)
        selected._rows = self._rows[worlds]
        selected._changes = self._changes.of(worlds)
        return selected
