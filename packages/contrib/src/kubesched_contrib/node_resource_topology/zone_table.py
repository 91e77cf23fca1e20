"""The available amounts of NUMA zones, as matrices: a slot for each NodeResourceTopology, a row for each zone.

From changed objects (`put`) to arrays that are gathered by slot. The matrix of a resource is created when a pod first
asks for it, and is updated from then on. Slot 0 is for nodes without an object.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched_contrib.node_resource_topology.topology import (
    SINGLE_NUMA_NODE,
    NodeTopology,
    NumaZone,
    TopologyScope,
    read_topology,
)

# the zone does not have the resource, which differs from 0
ABSENT = -1
UNKNOWN_DISTANCE = 255
# limit on the resources with matrices
MOST_RESOURCES = 64
NO_TOPOLOGY = NodeTopology("none", TopologyScope.NOTHING, 1, (), None)


class ZoneTable:
    """The topologies of all nodes; `names` contains the nodes that still have an object."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names
        self._slot_of: dict[str, int] = {}
        self._topologies: list[NodeTopology] = [NO_TOPOLOGY]
        self._free: list[int] = []
        # the most zones of a node
        self.width = 1
        self._amounts: dict[str, NDArray[np.int64]] = {}
        self._costs: NDArray[np.int64] | None = None
        self._grow()

    def put(self, obj: Any) -> int:
        """Store an object's data; return its slot. Raises InvalidObjectError if the object is invalid."""
        topology = read_topology(obj)
        slot = self._slot_of.get(obj.name)
        if slot is None:
            if not self._free:
                self._grow()
            slot = self._slot_of[obj.name] = self._free.pop()
        self._topologies[slot] = topology
        self.scopes[slot] = topology.scope
        self.single[slot] = topology.policy == SINGLE_NUMA_NODE
        self.max_numa_nodes[slot] = topology.max_numa_nodes
        self.zone_count[slot] = len(topology.zones)
        if len(topology.zones) > self.width:
            self.width = len(topology.zones)
            self._forget()
        for name, amounts in self._amounts.items():
            amounts[:, slot] = self._column(topology, name)
        if self._costs is not None:
            self._costs[:, :, slot] = self._distances(topology)
        return slot

    def last_write(self, node_name: str) -> datetime | None:
        """Return the last write time of a node's object, None if unknown."""
        return self._topologies[self._slot_of.get(node_name, 0)].written

    def amounts(self, resource: str) -> NDArray[np.int64]:
        """Return the available amounts of a resource, by zone and slot; ABSENT where a zone does not have it."""
        amounts = self._amounts.get(resource)
        if amounts is None:
            if len(self._amounts) >= MOST_RESOURCES:
                self._amounts.clear()
            columns = [self._column(topology, resource) for topology in self._topologies]
            amounts = self._amounts[resource] = np.ascontiguousarray(np.array(columns, np.int64).T)
        return amounts

    def costs(self) -> NDArray[np.int64]:
        """Return the distances between zones, by zone, other zone and slot."""
        if self._costs is None:
            distances = [self._distances(topology) for topology in self._topologies]
            self._costs = np.ascontiguousarray(np.array(distances, np.int64).transpose(1, 2, 0))
        return self._costs

    def _column(self, topology: NodeTopology, resource: str) -> list[int]:
        found = [zone.available.get(resource, ABSENT) for zone in topology.zones]
        return found + [ABSENT] * (self.width - len(found))

    def _distances(self, topology: NodeTopology) -> list[list[int]]:
        zones = topology.zones
        beyond = [UNKNOWN_DISTANCE] * (self.width - len(zones))
        known = [[_cost(zone, other) for other in zones] + beyond for zone in zones]
        return known + [[UNKNOWN_DISTANCE] * self.width for _ in beyond]

    def _grow(self) -> None:
        """Free the slots of deleted objects; if they are few, double the slots."""
        alive = set(self._names())
        for name in [name for name in self._slot_of if name not in alive]:
            slot = self._slot_of.pop(name)
            self._topologies[slot] = NO_TOPOLOGY
            self._free.append(slot)
        size = len(self._topologies)
        if len(self._free) <= size // 4:
            more = max(size, 63)
            self._free += range(size + more - 1, size - 1, -1)
            self._topologies += [NO_TOPOLOGY] * more
        self._forget()
        topologies = self._topologies
        self.scopes = np.array([topology.scope for topology in topologies], np.int8)
        self.single = np.array([topology.policy == SINGLE_NUMA_NODE for topology in topologies])
        self.max_numa_nodes = np.array([topology.max_numa_nodes for topology in topologies], np.int64)
        self.zone_count = np.array([len(topology.zones) for topology in topologies], np.int64)

    def _forget(self) -> None:
        """Drop the matrices; they are rebuilt on demand."""
        self._amounts.clear()
        self._costs = None


def _cost(zone: NumaZone, other: NumaZone) -> int:
    return zone.costs.get(other.numa_id, UNKNOWN_DISTANCE)
