"""Reserve and Unreserve: the devices that a pod gets are held until its claims are written.

From the plan for the chosen node to allocations in flight, and back. Unreserve undoes the writes of PreBind by effects
that are not awaited.
"""

# upstream: dynamicresources.go, Reserve, Unreserve; extendeddynamicresources.go (v1.36)

import msgspec

from kubesched.api.devices import AllocationResult, ResourceClaim
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.effects import Effects, Patch
from kubesched.core.framework.values.status import Status, error
from kubesched.core.plugins.dynamic_resources.filtering import DeviceFilter
from kubesched.core.plugins.dynamic_resources.releasing import FINALIZER, deletion, without_consumer
from kubesched.core.plugins.dynamic_resources.state import PodDevices

NOT_ALLOCATED = error("claim allocation not found for node")


class Reservations:
    """Holds devices for pods."""

    def __init__(self, cluster: ClusterState, device_filter: DeviceFilter, effects: Effects) -> None:
        self._cluster = cluster
        self._filter = device_filter
        self._effects = effects

    def reserve(self, pod: PodInfo, state: PodDevices, node_name: str, in_group: set[str] | None) -> Status | None:
        """Hold the allocations of the claims on the node; return why that is not possible, or None."""
        wanted = state.to_allocate()
        if not wanted:
            return None
        plan = self._filter.plan(pod, state, node_name)
        if isinstance(plan, Status):
            return plan
        if plan is None:
            # a node's own device plugin may serve a pod without claims of its own
            return None if all(state.is_extended_resource_claim(index) for index in wanted) else NOT_ALLOCATED
        state.plan = plan
        for index, allocation in plan.allocations.items():
            claim = plan.extended_resource_claim if state.is_extended_resource_claim(index) else state.claims[index]
            if claim is None or (state.is_extended_resource_claim(index) and not claim.spec.devices.requests):
                continue
            self._cluster.begin_allocation(_allocated(claim, allocation))
            state.held.append(claim.uid)
            if in_group is not None:
                in_group.add(claim.uid)
        if plan.node_allocatable:
            taken = plan.node_allocatable
            status = msgspec.structs.replace(pod.status, node_allocatable_resource_claim_statuses=taken)
            self._cluster.restate(pod, status)
        return None

    def unreserve(self, pod: PodInfo, state: PodDevices, in_group: set[str] | None) -> None:
        """Release the allocations, and submit effects that undo the writes."""
        for uid in state.held:
            if self._cluster.end_allocation(uid) and in_group is not None:
                in_group.discard(uid)
        state.held = []
        for claim in state.claims[: state.user_count]:
            mine = any(consumer.uid == pod.uid for consumer in claim.status.reserved_for)
            # a reservation for the pod's group stays: the other pods need it
            if claim.status.allocation is not None and mine:
                self._effects.submit(without_consumer(claim, pod.uid))
        extended = state.extended_resource_claim
        if extended is not None and state.was_written:
            self._effects.submit(*deletion(extended))
        if state.plan is not None and state.plan.node_allocatable:
            self._cluster.restate(pod, pod.status)
            body = {"status": {"nodeAllocatableResourceClaimStatuses": None}}
            self._effects.submit(Patch("Pod", pod.namespace, pod.name, body, "status"))
        state.plan = None


def _allocated(claim: ResourceClaim, allocation: AllocationResult) -> ResourceClaim:
    """Return the claim as it will be once it is written."""
    finalizers = claim.metadata.finalizers
    if FINALIZER not in finalizers:
        finalizers = (*finalizers, FINALIZER)
    return msgspec.structs.replace(
        claim,
        metadata=msgspec.structs.replace(claim.metadata, finalizers=finalizers),
        status=msgspec.structs.replace(claim.status, allocation=allocation),
    )
