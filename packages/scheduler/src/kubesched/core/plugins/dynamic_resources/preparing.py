"""PreFilter: the state of a cycle, if the pod's claims can be used.

From a pod to the state of its cycle, or to a status: a claim is not ready, or has an error.
"""

# upstream: dynamicresources.go, PreFilter; extendeddynamicresources.go, preFilterExtendedResources (v1.36)

from collections.abc import Container
from datetime import datetime, timedelta

from kubesched.api.devices import AllocationResult, DeviceRequest, ResourceClaim
from kubesched.api.labels import InvalidSelectorError
from kubesched.api.node_selectors import parse_node_selector
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.devices.device_classes import DeviceClasses
from kubesched.core.cluster.devices.device_tracker import DeviceTracker
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.status import SKIP, Status, error, unresolvable
from kubesched.core.plugins.dynamic_resources.binding_conditions import is_broken
from kubesched.core.plugins.dynamic_resources.extended import extended_resource_claim_of, extended_resources
from kubesched.core.plugins.dynamic_resources.pod_claims import NotReadyError, PodClaimFinder, consumer_of
from kubesched.core.plugins.dynamic_resources.solving import Solver
from kubesched.core.plugins.dynamic_resources.state import PodDevices


class Preparation:
    """Prepares cycles."""

    def __init__(
        self,
        cluster: ClusterState,
        tracker: DeviceTracker,
        classes: DeviceClasses,
        finder: PodClaimFinder,
        solver: Solver,
        *,
        extended: bool,
    ) -> None:
        self._claims = cluster.claims
        self._tracker = tracker
        self._classes = classes
        self._finder = finder
        self._solver = solver
        # the DRAExtendedResource gate
        self._extended = extended

    def concerns(self, pod: PodInfo) -> bool:
        """Return whether a pod requests devices."""
        return bool(pod.spec.resource_claims) or (bool(pod.resources.scalar) and self._asks_for_extended(pod))

    def _asks_for_extended(self, pod: PodInfo) -> bool:
        if not self._extended or not self._classes:
            return False
        return any(self._classes.of_resource(name) is not None for name in extended_resources(pod))

    def prepare(
        self, pod: PodInfo, shared_in_group: Container[str], now: datetime, binding_timeout: timedelta
    ) -> PodDevices | Status:
        """Return the state of the pod's cycle, or why there is none."""
        extended = self._asks_for_extended(pod)
        try:
            named = list(self._finder.named_claims(pod))
            claim_of_extended = extended_resource_claim_of(pod, self._claims) if extended else None
            consumers = self._finder.consumers(pod)
        except NotReadyError as not_ready:
            return unresolvable(str(not_ready))
        state = PodDevices(
            [claim for _, claim in named],
            [*(consumers[name] for name, _ in named), consumer_of(pod)],
            claim_of_extended,
            extended_resources(pod) if extended else {},
            self._solver.search(pod.uid),
        )
        if not state.claims:
            return SKIP
        for index, claim in enumerate(state.claims):
            refusal = self._look_at(index, claim, state, shared_in_group)
            if refusal is not None:
                return refusal
        if self._tracker.features.binding_conditions:
            state.broken = [
                index
                for index, claim in enumerate(state.claims)
                if claim.status.allocation is not None and is_broken(claim, now, binding_timeout)
            ]
        return state

    def _look_at(
        self, index: int, claim: ResourceClaim, state: PodDevices, shared_in_group: Container[str]
    ) -> Status | None:
        """Store the nodes that can use an allocated claim; return why another claim cannot be allocated, or None."""
        if claim.status.allocation is not None:
            return _note_reach(index, claim.status.allocation, state)
        pending = self._claims.pending_allocation(claim.uid)
        if pending is not None:
            if claim.uid in shared_in_group:
                # allocated for another pod of the group in the same cycle
                state.shared[index] = pending
                # differs (D-052): the reference lets the pod go to nodes that cannot reach these devices
                return _note_reach(index, pending, state)
            return unresolvable(f"resource claim {claim.full_name} is in the process of being allocated")
        if state.is_extended_resource_claim(index):
            # its requests depend on the node
            return None
        for request in claim.spec.devices.requests:
            refusal = self._wrong_request(claim, request)
            if refusal is not None:
                return refusal
        return None

    def _wrong_request(self, claim: ResourceClaim, request: DeviceRequest) -> Status | None:
        if request.exactly is not None:
            return self._wrong_class(request.exactly.device_class_name, request.name)
        where = f"resource claim {claim.full_name}, request {request.name}"
        if not request.first_available:
            return unresolvable(f"{where}: unknown request type")
        if not self._tracker.features.prioritized_list:
            return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
        for alternative in request.first_available:
            refusal = self._wrong_class(alternative.device_class_name, f"{request.name}/{alternative.name}")
            if refusal is not None:
                return refusal
        return None

    def _wrong_class(self, name: str, request_name: str) -> Status | None:
        if not name:
            return error(f"request {request_name}: unsupported request type")
        if name not in self._tracker.classes:
            return unresolvable(f"request {request_name}: device class {name} does not exist")
        return None


def _note_reach(index: int, allocation: AllocationResult, state: PodDevices) -> Status | None:
    """Store the node selector of an allocation; return an error if it is invalid, or None."""
    if allocation.node_selector is not None:
        try:
            state.selectors[index] = parse_node_selector(allocation.node_selector)
        except InvalidSelectorError as wrong:
            return error(str(wrong))
    return None
