"""The free resources in the NUMA zones of some nodes.

From the matrices of `ZoneTable`, less the requests of pods that the objects do not count yet, to arrays by zone and
node. They may be changed: containers of one pod take from them, one after the other.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kubesched_contrib.node_resource_topology.pod_demand import Amounts, is_host_level, is_numa_affine
from kubesched_contrib.node_resource_topology.zone_table import ABSENT, ZoneTable

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


def in_any_zone(zones: Mask) -> Mask:
    """Return the nodes with a zone where something holds."""
    found: Mask = np.logical_or.reduce(zones, axis=0)
    return found


class FreeZones:
    """The zones of some nodes; `taken` returns the uncounted requests for a resource on each of these nodes."""

    def __init__(self, table: ZoneTable, slots: NDArray[np.int64], taken: Callable[[str], Counts]) -> None:
        self.table = table
        self.slots = slots
        self._taken = taken
        self._free: dict[str, Counts] = {}

    def of(self, resource: str) -> Counts:
        """Return the free amount of a resource, by zone and node; ABSENT where a zone does not have it."""
        free = self._free.get(resource)
        if free is None:
            available = self.table.amounts(resource)[:, self.slots]
            taken = self._taken(resource)
            # the zone of a pod is unknown: it counts in all
            free = np.where(available > 0, np.maximum(available - taken, 0), available) if taken.any() else available
            self._free[resource] = free
        return free

    def fitting(self, requests: Amounts, *, guaranteed: bool) -> Mask:
        """Return the zones, by zone and node, that satisfy the whole request."""
        fit = np.ones((self.table.width, len(self.slots)), np.bool_)
        for name, amount in requests:
            if not amount:
                continue
            free = self.of(name)
            # shared CPU and memory come from any zone
            enough = free > ABSENT if is_numa_affine(name) and not guaranteed else free >= amount
            if is_host_level(name):
                # whether the node has enough of it is NodeResourcesFit's question
                enough |= ~in_any_zone(free > ABSENT)
            fit &= enough
        return fit

    def subtract(self, requests: Amounts, zones: NDArray[np.intp], *, guaranteed: bool) -> None:
        """Subtract a container's request from one zone of each node, which has it."""
        nodes = np.arange(len(self.slots))
        for name, amount in requests:
            if amount and (guaranteed or not is_numa_affine(name)):
                free = self.of(name)
                here = free[zones, nodes]
                free[zones, nodes] = np.where(here > ABSENT, np.maximum(here - amount, 0), here)
