"""Extended resources that are backed by devices: how many devices of a class a node can use, and how many are taken.

From slices and claims to a capacity column and an allocated column per resource, for scores whose configuration names
such a resource. They change with every claim, so scores that use them are not cached.
"""

# upstream: noderesources/resource_allocation.go, calculateDRAResourceTotals (v1.36)

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import Device, DeviceClass, ResourceSlice
from kubesched.api.node_selectors import parse_node_selector
from kubesched.api.pods import NodeSelector
from kubesched.api.resources import is_extended_resource
from kubesched.cel import compile_selector
from kubesched.config.args import ResourceSpec
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.devices.device_classes import IMPLICIT_PREFIX, DeviceClasses
from kubesched.core.cluster.node_matching import matching_rows
from kubesched.core.devices import DeviceFeatures, PoolId
from kubesched.core.plugins.node_resources.scoring import DeviceColumns, Terms
from kubesched.errors import KubeschedError

# The rows that can use a device: all of them, one, or a mask.
Reach = slice | int | NDArray[np.bool_]

EVERYWHERE = slice(None)
NOWHERE = slice(0, 0)


class DeviceBackedCapacity:
    """Counts devices behind the extended resources of a score."""

    def __init__(self, resources: Sequence[ResourceSpec], cluster: ClusterState, gates: FeatureGates) -> None:
        # whether any of the resources may be backed by devices
        self.possible = gates.enabled("DRAExtendedResource") and any(
            is_extended_resource(resource.name) or resource.name.startswith(IMPLICIT_PREFIX) for resource in resources
        )
        self._table = cluster.table
        self._objects = cluster.objects
        self._classes = DeviceClasses(cluster.objects)
        self._features = DeviceFeatures.from_gates(gates)
        self._tracker = cluster.devices(self._features) if self.possible else None

    def behind(self, terms: Terms) -> dict[int, DeviceClass]:
        """Return the class behind each term that has one, by the code of its resource."""
        if not self.possible or not self._classes:
            return {}
        names = self._table.resources.values
        found = {term.code: self._classes.of_resource(names[term.code]) for term in terms}
        return {code: device_class for code, device_class in found.items() if device_class is not None}

    def columns(self, terms: Terms) -> Mapping[int, DeviceColumns]:
        """Return the columns of each term that has a class behind it, by the code of its resource."""
        behind = self.behind(terms)
        if not behind:
            return {}
        return {code: self._count(device_class) for code, device_class in behind.items()}

    def _count(self, device_class: DeviceClass) -> DeviceColumns:
        size = self._table.size
        columns = DeviceColumns(np.zeros(size, np.int64), np.zeros(size, np.int64))
        failed = np.zeros(size, np.bool_)
        for each in self._objects.of(ResourceSlice):
            driver = each.spec.driver
            pool = PoolId(driver, each.spec.pool.name)
            for reach, devices in self._reachable(each, failed):
                for device in devices:
                    try:
                        matches = self._matches(device_class, driver, device)
                    except KubeschedError:
                        # the class does not count on rows that can use this device
                        failed[reach] = True
                        continue
                    if matches:
                        columns.capacity[reach] += 1
                        if self._is_taken(pool, device):
                            columns.allocated[reach] += 1
        columns.capacity[failed] = 0
        return columns

    def _is_taken(self, pool: PoolId, device: Device) -> bool:
        """Return whether a device is in use, whole or in part; allocations in flight count."""
        use = self._tracker.state.use_of(pool) if self._tracker is not None else None
        return use is not None and use.touches(device.name)

    def _matches(self, device_class: DeviceClass, driver: str, device: Device) -> bool:
        """Return whether all selectors of a class match a device; raises an error if one cannot be evaluated."""
        features = self._features
        # upstream does not pass allowMultipleAllocations to selectors here
        shown = msgspec.structs.replace(device, allow_multiple_allocations=None)
        for selector in device_class.spec.selectors:
            if selector.cel is not None:
                compiled = compile_selector(selector.cel.expression, list_attributes=features.list_attributes)
                if not compiled.matches(driver, shown):
                    return False
        return True

    def _reachable(self, each: ResourceSlice, failed: NDArray[np.bool_]) -> Iterator[tuple[Reach, Sequence[Device]]]:
        """Yield devices of a slice with the rows that can use them; rows are marked failed for invalid selectors."""
        spec = each.spec
        if not spec.per_device_node_selection:
            yield self._reach(spec.node_name, spec.all_nodes, spec.node_selector, EVERYWHERE, failed), spec.devices
            return
        for device in spec.devices:
            reach = self._reach(device.node_name, device.all_nodes, device.node_selector, NOWHERE, failed)
            yield reach, (device,)

    def _reach(
        self,
        node_name: str | None,
        all_nodes: bool | None,
        selector: NodeSelector | None,
        otherwise: Reach,
        failed: NDArray[np.bool_],
    ) -> Reach:
        """Return the rows that the slice or device names; `otherwise` if it names none."""
        if all_nodes:
            return EVERYWHERE
        if node_name:
            return self._table.row_of.get(node_name, NOWHERE)
        if selector is None:
            return otherwise
        try:
            compiled = parse_node_selector(selector)
        except KubeschedError:
            failed[:] = True
            return NOWHERE
        return matching_rows(self._table, compiled, slice(0, self._table.size))
