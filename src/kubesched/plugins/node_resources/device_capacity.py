"""Extended resources that devices stand for: how many devices of a class a node can reach, and how many are taken.

From slices and claims to a capacity column and an allocated column per resource, for scores whose configuration names
such a resource. These change with every claim, so scores that use them are not kept.
"""

# upstream: noderesources/resource_allocation.go, calculateDRAResourceTotals (v1.36)

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import Device, DeviceClass, ResourceClaim, ResourceSlice
from kubesched.api.node_selectors import parse_node_selector
from kubesched.api.pods import NodeSelector
from kubesched.api.resources import is_extended_resource
from kubesched.cluster.cluster import Cluster
from kubesched.cluster.device_classes import IMPLICIT_PREFIX, DeviceClasses
from kubesched.cluster.node_matching import matching_rows
from kubesched.config.args import ResourceSpec
from kubesched.config.feature_gates import FeatureGates
from kubesched.errors import KubeschedError
from kubesched.plugins.node_resources.scoring import DeviceColumns, Terms

# (class, driver of the slice, device) -> whether all selectors of the class match; raises where one cannot tell.
DeviceMatcher = Callable[[DeviceClass, str, Device], bool]
# Rows a device can be reached from: all of them, one, or a mask.
Reach = slice | int | NDArray[np.bool_]

EVERYWHERE = slice(None)
NOWHERE = slice(0, 0)


class DeviceCapacity:
    """Counts devices behind the extended resources of a score."""

    def __init__(
        self,
        resources: Sequence[ResourceSpec],
        cluster: Cluster,
        gates: FeatureGates,
        matcher: DeviceMatcher | None,
    ) -> None:
        # whether any of the resources is of a kind that devices can stand for
        self.possible = gates.enabled("DRAExtendedResource") and any(
            is_extended_resource(resource.name) or resource.name.startswith(IMPLICIT_PREFIX) for resource in resources
        )
        self._table = cluster.table
        self._objects = cluster.objects
        self._classes = DeviceClasses(cluster.objects)
        self._matcher = matcher

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
        taken = set(_allocated_devices(self._objects.of(ResourceClaim)))
        return {code: self._count(device_class, taken) for code, device_class in behind.items()}

    def _count(self, device_class: DeviceClass, taken: set[tuple[str, str, str]]) -> DeviceColumns:
        size = self._table.size
        columns = DeviceColumns(np.zeros(size, np.int64), np.zeros(size, np.int64))
        failed = np.zeros(size, np.bool_)
        for each in self._objects.of(ResourceSlice):
            driver, pool = each.spec.driver, each.spec.pool.name
            for reach, devices in self._reachable(each, failed):
                for device in devices:
                    try:
                        matches = self._matches(device_class, driver, device)
                    except KubeschedError:
                        # such a class counts for nothing where the device can be reached
                        failed[reach] = True
                        continue
                    if matches:
                        columns.capacity[reach] += 1
                        if (driver, pool, device.name) in taken:
                            columns.allocated[reach] += 1
        columns.capacity[failed] = 0
        return columns

    def _matches(self, device_class: DeviceClass, driver: str, device: Device) -> bool:
        if not any(selector.cel is not None for selector in device_class.spec.selectors):
            return True
        if self._matcher is None:
            raise KubeschedError(f"device class {device_class.metadata.name}: nobody evaluates its selectors")
        return self._matcher(device_class, driver, device)

    def _reachable(self, each: ResourceSlice, failed: NDArray[np.bool_]) -> Iterator[tuple[Reach, Sequence[Device]]]:
        """Yield devices of a slice with the rows they can be reached from; rows that cannot be told are marked."""
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
        """Return the rows that are meant; `otherwise` where none are named in any way."""
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


# upstream: dynamicresources/allocateddevices.go, foreachAllocatedDevice (v1.36)
def _allocated_devices(claims: Sequence[ResourceClaim]) -> Iterator[tuple[str, str, str]]:
    """Yield driver, pool and name of the devices that claims hold; administrative access holds nothing."""
    for claim in claims:
        if claim.status.allocation is not None:
            for result in claim.status.allocation.devices.results:
                if not result.admin_access:
                    yield result.driver, result.pool, result.device
