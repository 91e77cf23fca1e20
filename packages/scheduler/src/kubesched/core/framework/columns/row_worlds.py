"""Worlds for a filter of single nodes: each world is judged alone.

From a one-node plugin to a batch verdict. A world has its own cycle state, which the plugin's `add_pod` and
`remove_pod` update, and passes the plugin a node with the pods of that world.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.row_amounts import Amounts
from kubesched.core.cluster.table import NATIVE, NodeTable
from kubesched.core.framework.calling.answers import checked_status
from kubesched.core.framework.calling.hooks import ask, filter_node
from kubesched.core.framework.columns.questions import FilterWorlds, shallow_copy
from kubesched.core.framework.plugin import FilterPlugin, PreFilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Code, Status, error
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.computed_values import ComputedValues
from kubesched.core.framework.views.node_values import NodeValues
from kubesched.core.framework.views.nodes import PODS, NodeRow, Nodes, table_row
from kubesched.core.framework.views.pod_matcher import PodMatcher
from kubesched.core.framework.views.pod_sums import PodSums


class WorldRow(NodeRow):
    """A node with other pods than in the table."""

    __slots__ = ("world_pods",)

    def __init__(self, table: NodeTable, row: int, pods: dict[str, PodInfo] | None = None) -> None:
        super().__init__(table, row)
        self.world_pods = dict(table.pods_on[row]) if pods is None else dict(pods)

    @classmethod
    def changed(cls, node: NodeRow, changes: Iterable[tuple[PodInfo, int]]) -> "WorldRow":
        """Return a node with some pods put there (sign 1) or taken off (sign -1)."""
        world = cls(*table_row(node))
        for pod, sign in changes:
            if sign > 0:
                world.world_pods[pod.uid] = pod
            else:
                world.world_pods.pop(pod.uid, None)
        return world

    @property
    def row(self) -> int:
        """Return the number of the row."""
        return self._row

    @property
    def pods(self) -> Iterable[PodInfo]:
        """Return the pods of this world."""
        return self.world_pods.values()

    def alone(self) -> Nodes:
        """Return `Nodes` with this node only, for column forms."""
        return WorldNodes(self)

    @property
    def requested(self) -> Amounts:
        """Return the requests of the pods in this world."""
        resources = [pod.resources for pod in self.world_pods.values()]
        return Amounts(
            sum(r.milli_cpu for r in resources),
            sum(r.memory for r in resources),
            sum(r.ephemeral_storage for r in resources),
            len(resources),
        )

    @property
    def pod_count(self) -> int:
        """Return how many pods are on the node in this world."""
        return len(self.world_pods)

    def requested_of(self, resource: str) -> int:
        """Return the requests of the pods in this world for any resource."""
        if resource == PODS:
            return self.pod_count
        if resource in NATIVE:
            return self.requested[NATIVE.index(resource)]
        return sum(pod.resources.scalar.get(resource, 0) for pod in self.world_pods.values())

    def value_of(self, column: NodeValues) -> int | float | bool:
        """Return the node's value in a column of the plugin; what follows from pods is that of this world."""
        if isinstance(column, PodSums):
            return column.over(self.world_pods.values())
        if isinstance(column, ComputedValues):
            value: int | float | bool = column.compute(self.alone())[0].item()
            return value
        return super().value_of(column)


class WorldNodes(Nodes):
    """One node with other pods, for the column form of a filter: values that depend on pods are the world's."""

    __slots__ = ("_node",)

    def __init__(self, node: WorldRow) -> None:
        table, row = table_row(node)
        super().__init__(table, np.array([row]))
        self._node = node

    def numbered(self) -> Iterator[tuple[int, NodeRow]]:
        """Yield the node of the world."""
        yield 0, self._node

    @property
    def pod_count(self) -> NDArray[np.int64]:
        """Return how many pods are on the node in this world."""
        return np.array([self._node.pod_count], np.int64)

    def count_pods(self, match: PodMatcher) -> NDArray[np.int64]:
        """Return how many pods on the node in this world match."""
        return np.array([self._node.count_pods(match)], np.int64)

    def requested(self, resource: str) -> NDArray[np.int64]:
        """Return the requests of the pods in this world for a resource."""
        return np.array([self._node.requested_of(resource)], np.int64)

    def values_of(self, column: NodeValues) -> NDArray[Any]:
        """Return the node's value in a column of the plugin."""
        if isinstance(column, PodSums | ComputedValues):
            return np.array([self._node.value_of(column)])
        return super().values_of(column)


class RowWorlds(FilterWorlds):
    """One cycle state and one node per world."""

    def __init__(
        self, plugin: FilterPlugin, pod: PodInfo, cycle: CycleState, table: NodeTable, rows: NDArray[np.intp]
    ) -> None:
        self._plugin = plugin
        self._pod = pod
        self._table = table
        self._worlds = [(cycle.clone(), WorldRow(table, int(row))) for row in rows]
        # world -> the first failure of `add_pod` or `remove_pod`
        self._failures: dict[int, Status] = {}

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add or remove one pod in each of some worlds."""
        for world, slot in zip(worlds.tolist(), slots.tolist(), strict=True):
            _, node = self._worlds[world]
            other = self._table.slots.pods[slot]
            assert other is not None, "a world is changed by pods that have a slot"
            if sign > 0:
                node.world_pods[other.uid] = other
            else:
                node.world_pods.pop(other.uid, None)
            if isinstance(self._plugin, PreFilterPlugin):
                self._tell(self._plugin, world, other, added=sign > 0)

    def _tell(self, plugin: PreFilterPlugin, world: int, other: PodInfo, *, added: bool) -> None:
        """Call `add_pod` or `remove_pod` of the plugin; a failure becomes the world's verdict."""
        cycle, node = self._worlds[world]
        hook = "add_pod" if added else "remove_pod"
        status = ask(plugin, hook, checked_status, cycle, self._pod, other, node)
        if status is not None and status.code is not Code.SUCCESS:
            # upstream: framework/runtime/framework.go, RunPreFilterExtensionAddPod (v1.36): no rejections here
            verb = "AddPod" if added else "RemovePod"
            failure = error(f'running {verb} on PreFilter plugin "{plugin.name}": {status.message}')
            self._failures.setdefault(world, failure)

    def verdict(self) -> Verdict:
        """Call the plugin for every world."""
        statuses: dict[Status | None, int] = {None: 0}
        which = np.zeros(len(self._worlds), np.int16)
        for index, (cycle, node) in enumerate(self._worlds):
            status = self._failures.get(index)
            if status is None:
                status = filter_node(self._plugin, cycle, self._pod, node)
            if status is not None and status.code is not Code.SUCCESS:
                which[index] = statuses.setdefault(status, len(statuses))
        return Verdict(which, tuple(statuses))

    def select(self, worlds: NDArray[np.intp]) -> "RowWorlds":
        """Return copies of some worlds."""
        selected = shallow_copy(self)
        selected._worlds, selected._failures = [], {}
        for index, world in enumerate(worlds.tolist()):
            if world in self._failures:
                selected._failures[index] = self._failures[world]
            cycle, node = self._worlds[world]
            selected._worlds.append((cycle.clone(), WorldRow(self._table, node.row, node.world_pods)))
        return selected
