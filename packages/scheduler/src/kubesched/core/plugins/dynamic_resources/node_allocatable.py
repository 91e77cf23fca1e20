"""Claims that take CPU, memory or huge pages of a node: whether a pod with its claims fits the node.

From the devices that a pod's claims would get, and the node resources that these map to, to the amounts per claim,
which become part of the pod's status, and to a rejection if the node has less left. It has a separate feature gate.
"""

# upstream: dynamicresources/nodeallocatabledynamicresources.go (v1.36)

from collections.abc import Iterable, Mapping

import msgspec

from kubesched.api.devices import (
    AllocationResult,
    Device,
    DeviceRequestAllocationResult,
    NodeAllocatableResourceMapping,
    ResourceClaim,
)
from kubesched.api.pods import NodeAllocatableResourceClaimStatus, Pod
from kubesched.api.quantity import Quantity, quantity_of
from kubesched.api.resources import RequestRules, Requests, Resources, not_negative, pod_requests
from kubesched.core.cluster.devices.device_tracker import DeviceTracker
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.devices import DeviceId
from kubesched.core.framework.values.status import Code, Status, error, unresolvable
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.plugins.dynamic_resources.pod_claims import NotReadyError, PodClaimFinder
from kubesched.core.plugins.dynamic_resources.state import AllocationPlan, PodDevices
from kubesched.errors import KubeschedError

HUGE_PAGES = "hugepages-"


class MissingDeviceError(KubeschedError):
    """The device or capacity of an allocation is missing, so that its node resources are unknown."""


class NodeAllocatable:
    """Checks the node resources that claims take; `pod_level` is the PodLevelResources gate."""

    def __init__(self, tracker: DeviceTracker, finder: PodClaimFinder, *, pod_level: bool) -> None:
        self._tracker = tracker
        self._finder = finder
        self._pod_level = pod_level

    def sharing(self, pod: PodInfo, node: NodeRow, claim: ResourceClaim) -> Status | None:
        """Return a rejection if another pod on the node takes node resources through the same allocated claim."""
        users = {
            other.uid
            for other in node.pods
            if other.namespace == pod.namespace
            for status in other.status.node_allocatable_resource_claim_statuses
            if status.resource_claim_name == claim.name
        }
        if len(users) > 1:
            return unresolvable(f"node allocatable resource claim {claim.name} shared by multiple pods")
        if users and pod.uid not in users:
            return unresolvable(f"node allocatable resource claim {claim.name} is already used by another pod")
        return None

    def taken(
        self, pod: PodInfo, node: NodeRow, state: PodDevices, plan: AllocationPlan
    ) -> tuple[NodeAllocatableResourceClaimStatus, ...] | Status:
        """Return the node resources that each claim takes, or why the node does not have them."""
        concerned = {
            index: allocation
            for index, allocation in plan.allocations.items()
            if any(self._mappings(result) for result in allocation.devices.results)
        }
        if not concerned:
            return ()
        try:
            statuses = self._statuses(pod, state, concerned)
        except MissingDeviceError as missing:
            return error(str(missing))
        except NotReadyError as not_ready:
            return error(f"processing pod resource claims: {not_ready}")
        for status in statuses:
            if not status.containers:
                return unresolvable(
                    f"claim {status.resource_claim_name}: node-allocatable resource claim not referenced by any "
                    "container within the pod"
                )
        return self._misfit(pod, node, statuses) or statuses

    # -- what devices stand for

    def _statuses(
        self, pod: PodInfo, state: PodDevices, allocations: Mapping[int, AllocationResult]
    ) -> tuple[NodeAllocatableResourceClaimStatus, ...]:
        """Return the resources that each claim takes, and the containers that use it."""
        names = {name: claim.uid for name, claim in self._finder.named_claims(pod)}
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        statuses = []
        for index, allocation in allocations.items():
            claim = state.claims[index]
            amounts = self._amounts(claim, allocation)
            if amounts:
                users = tuple(
                    container.name
                    for container in containers
                    for reference in container.resources.claims
                    if names.get(reference.name) == claim.uid
                )
                statuses.append(
                    NodeAllocatableResourceClaimStatus(
                        resource_claim_name=claim.name,
                        containers=users,
                        resources={name: str(amount) for name, amount in amounts.items()},
                    )
                )
        return tuple(sorted(statuses, key=lambda status: status.resource_claim_name))

    def _amounts(self, claim: ResourceClaim, allocation: AllocationResult) -> dict[str, Quantity]:
        amounts: dict[str, Quantity] = {}
        for result in allocation.devices.results:
            device = self._device(result)
            if device is None:
                where = f"device {result.device} not found in pool {result.pool}"
                raise MissingDeviceError(f"claim {claim.full_name}, device {result.device}: {where}")
            for resource, mapping in device.node_allocatable_resource_mappings.items():
                amount = _amount(claim, result, resource, mapping)
                if amount is not None:
                    amounts[resource] = amounts[resource] + amount if resource in amounts else amount
        return amounts

    def _device(self, result: DeviceRequestAllocationResult) -> Device | None:
        return self._tracker.inventory.device(DeviceId(result.driver, result.pool, result.device))

    def _mappings(self, result: DeviceRequestAllocationResult) -> Mapping[str, NodeAllocatableResourceMapping]:
        device = self._device(result)
        return device.node_allocatable_resource_mappings if device is not None else {}

    # -- whether it fits

    def _misfit(
        self, pod: PodInfo, node: NodeRow, statuses: tuple[NodeAllocatableResourceClaimStatus, ...]
    ) -> Status | None:
        """Return a rejection if the requests of the pod and its claims exceed the node, or the pod-level requests."""
        status = msgspec.structs.replace(pod.status, node_allocatable_resource_claim_statuses=statuses)
        whole = msgspec.structs.replace(pod.pod, status=status)
        demand = pod_requests(whole, RequestRules(pod_level=self._pod_level, claim_resources=True))
        return self._beyond_pod_level(whole, demand) or _insufficient(node, not_negative(demand))

    def _beyond_pod_level(self, pod: Pod, demand: Requests) -> Status | None:
        """Return a rejection if the pod-level requests do not cover containers and claims."""
        if not self._pod_level or pod.spec.resources is None or not pod.spec.resources.requests:
            return None
        parts = pod_requests(pod, RequestRules(pod_level=False, claim_resources=True))
        for resource, budget in demand.items():
            if resource in parts and parts[resource] > budget:
                return unresolvable(
                    f"pod level request for {resource} is insufficient to cover the aggregated container and "
                    "node-allocatable DRA requests"
                )
        return None


def _amount(
    claim: ResourceClaim, result: DeviceRequestAllocationResult, resource: str, mapping: NodeAllocatableResourceMapping
) -> Quantity | None:
    """Return the amount of a node resource that a device takes; None if this mapping does not apply."""
    multiplier = quantity_of(mapping.allocation_multiplier) if mapping.allocation_multiplier is not None else None
    key = mapping.capacity_key
    if not key:
        return multiplier if multiplier is not None else Quantity()
    if not result.consumed_capacity:
        raise MissingDeviceError(
            f"claim {claim.full_name}, device {result.device}: ConsumedCapacity is nil, but Capacity key '{key}' is "
            f"set in NodeAllocatableResourceMappings for resource {resource}"
        )
    if key not in result.consumed_capacity:
        return None
    consumed = quantity_of(result.consumed_capacity[key])
    if multiplier is None:
        return consumed
    number = consumed.unscaled * multiplier.unscaled
    return Quantity(number, consumed.exponent + multiplier.exponent, consumed.format, big=True)


def _insufficient(node: NodeRow, demand: Resources) -> Status | None:
    """Return a rejection if the node does not have enough of a resource left."""
    offered, free = node.allocatable, node.free
    native = (
        ("cpu", demand.milli_cpu, free.milli_cpu, offered.milli_cpu),
        ("memory", demand.memory, free.memory_bytes, offered.memory_bytes),
        (
            "ephemeral-storage",
            demand.ephemeral_storage,
            free.ephemeral_storage_bytes,
            offered.ephemeral_storage_bytes,
        ),
    )
    lacking = [(name, wanted > most) for name, wanted, left, most in native if wanted > 0 and wanted > left]
    lacking += _insufficient_huge_pages(node, demand.scalar.items())
    if not lacking:
        return None
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if any(never for _, never in lacking) else Code.UNSCHEDULABLE
    return Status(code, tuple(f"Insufficient {name}" for name, _ in lacking))


def _insufficient_huge_pages(node: NodeRow, demand: Iterable[tuple[str, int]]) -> list[tuple[str, bool]]:
    return [
        (name, wanted > node.allocatable_of(name))
        for name, wanted in demand
        if name.startswith(HUGE_PAGES) and wanted > node.free_of(name)
    ]
