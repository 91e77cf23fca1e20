"""Worlds for a filter written for one node: each world is asked by itself.

From a one-node plugin to a batch verdict. A world keeps its own cycle state, told of each pod through the plugin's
`add_pod` and `remove_pod`, and shows the plugin a node with the pods of that world.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kubesched.cluster.pod_info import PodInfo
from kubesched.cluster.table import NodeTable
from kubesched.framework.cycle import CycleState
from kubesched.framework.nodes import Amounts, NodeRow
from kubesched.framework.plugin import FilterPlugin, PreFilterPlugin
from kubesched.framework.questions import FilterWorlds
from kubesched.framework.status import Code, Status
from kubesched.framework.verdict import Verdict


class WorldRow(NodeRow):
    """A node with other pods on it than the table says."""

    __slots__ = ("world_pods",)

    def __init__(self, table: NodeTable, row: int, pods: dict[str, PodInfo] | None = None) -> None:
        super().__init__(table, row)
        self.world_pods = dict(table.pods_on[row]) if pods is None else dict(pods)

    @property
    def pods(self) -> Iterable[PodInfo]:
        """Return the pods of this world."""
        return self.world_pods.values()

    @property
    def requested(self) -> Amounts:
        """Return what the pods of this world ask for."""
        resources = [pod.resources for pod in self.world_pods.values()]
        return Amounts(
            sum(r.milli_cpu for r in resources),
            sum(r.memory for r in resources),
            sum(r.ephemeral_storage for r in resources),
            len(resources),
        )

    def free_of(self, resource: str) -> int:
        """Return what this world leaves of any resource."""
        asked = sum(pod.resources.scalar.get(resource, 0) for pod in self.world_pods.values())
        code = self.table.resources.codes.get(resource)
        known = code is not None and code < self.table.allocatable.shape[0]
        return (int(self.table.allocatable[code, self.row]) if known else 0) - asked


class RowWorlds(FilterWorlds):
    """One cycle state and one node per world."""

    def __init__(
        self, plugin: FilterPlugin, pod: PodInfo, cycle: CycleState, table: NodeTable, rows: NDArray[np.intp]
    ) -> None:
        self._plugin = plugin
        self._pod = pod
        self._table = table
        self._worlds = [(cycle.clone(), WorldRow(table, int(row))) for row in rows]

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add or remove one pod in each of some worlds."""
        for world, slot in zip(worlds.tolist(), slots.tolist(), strict=True):
            cycle, node = self._worlds[world]
            other = self._table.slots.pods[slot]
            assert other is not None, "a world is changed by pods that have a slot"
            if sign > 0:
                node.world_pods[other.uid] = other
            else:
                node.world_pods.pop(other.uid, None)
            if isinstance(self._plugin, PreFilterPlugin):
                hook = self._plugin.add_pod if sign > 0 else self._plugin.remove_pod
                hook(cycle, self._pod, other, node)

    def verdict(self) -> Verdict:
        """Ask the plugin about every world."""
        statuses: dict[Status | None, int] = {None: 0}
        which = np.zeros(len(self._worlds), np.int16)
        for index, (cycle, node) in enumerate(self._worlds):
            status = self._plugin.filter(cycle, self._pod, node)
            if status is not None and status.code is not Code.SUCCESS:
                which[index] = statuses.setdefault(status, len(statuses))
        return Verdict(which, tuple(statuses))

    def select(self, worlds: NDArray[np.intp]) -> "RowWorlds":
        """Return copies of some worlds."""
        copy = object.__new__(RowWorlds)
        copy._plugin, copy._pod, copy._table = self._plugin, self._pod, self._table
        copy._worlds = []
        for world in worlds.tolist():
            cycle, node = self._worlds[world]
            copy._worlds.append((cycle.clone(), WorldRow(self._table, node.row, node.world_pods)))
        return copy
