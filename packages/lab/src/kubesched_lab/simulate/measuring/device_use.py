"""The devices of each driver: how many are allocated, and how many are free on nodes where no pod can use them.

From resource slices and allocated claims to samples: the share of a driver's devices that is allocated, and the share
that is free on nodes whose CPU or memory is used up. Devices with admin access are not allocated by it.
"""

from collections import Counter
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import AllocationResult, ResourceSlice
from kubesched.core.cluster.cluster import ClusterState

# a driver and a pool
Pool = tuple[str, str]


class DeviceUse:
    """Follows claims, and reads slices again when they have changed."""

    def __init__(self, cluster: ClusterState) -> None:
        self._objects = cluster.objects
        self._row_of = cluster.table.row_of
        self._allocations: dict[Hashable, AllocationResult] = {}
        # an assumed claim and its stored form may both have a device
        self._holders: dict[Pool, Counter[str]] = {}
        self._version = 0
        self._offered: Counter[Pool] = Counter()
        self._node_of: dict[Pool, str] = {}
        cluster.claims.follow(self)

    def put(self, key: Hashable, allocation: AllocationResult | None) -> None:
        """Record the allocation of a claim, None if it has none any more."""
        before = self._allocations.pop(key, None)
        if allocation is not None:
            self._allocations[key] = allocation
        for each, sign in ((before, -1), (allocation, 1)):
            for result in each.devices.results if each is not None else ():
                if not result.admin_access:
                    self._hold((result.driver, result.pool), result.device, sign)

    def _hold(self, pool: Pool, device: str, sign: int) -> None:
        holders = self._holders.setdefault(pool, Counter())
        holders[device] += sign
        if not holders[device]:
            del holders[device]
        if not holders:
            del self._holders[pool]

    def sampled(self, used_up: NDArray[np.bool_]) -> dict[str, float]:
        """Return the shares of each driver; `used_up` marks the rows of nodes without free CPU or memory."""
        self._read_slices()
        found: dict[str, float] = {}
        for driver in sorted({driver for driver, _ in self._offered}):
            offered = allocated = stranded = 0
            for pool, devices in self._offered.items():
                if pool[0] == driver:
                    held = min(len(self._holders.get(pool, ())), devices)
                    row = self._row_of.get(self._node_of.get(pool, ""))
                    offered, allocated = offered + devices, allocated + held
                    stranded += devices - held if row is not None and used_up[row] else 0
            found[f"resources.{driver} devices"] = allocated / offered
            found[f"stranded.{driver} devices"] = stranded / offered
        return found

    def _read_slices(self) -> None:
        version = self._objects.versions.get(ResourceSlice.__name__, 0)
        if version == self._version:
            return
        self._version = version
        self._offered.clear()
        self._node_of.clear()
        for each in self._objects.of(ResourceSlice):
            if each.spec.devices:
                pool = (each.spec.driver, each.spec.pool.name)
                self._offered[pool] += len(each.spec.devices)
                if each.spec.node_name:
                    self._node_of[pool] = each.spec.node_name
