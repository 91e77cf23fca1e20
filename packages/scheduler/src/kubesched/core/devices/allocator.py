"""Allocating devices: the claims of a pod in, their allocations on a node out.

From a node and claims through the node's pools, the plans of all requests and the search to allocation results.

Invariants: the input is not changed; the result for a node depends on its inventory, the state, the classes and the
claims alone, except for the ids of shares.
"""

# upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go (v1.36)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kubesched.api.devices import AllocationResult, DeviceClass, ResourceClaim
from kubesched.api.nodes import Node
from kubesched.core.devices.budget import Budget
from kubesched.core.devices.constraints import constraints_of
from kubesched.core.devices.contents import CounterName
from kubesched.core.devices.counters import CounterLedger
from kubesched.core.devices.errors import AllocationError, FailedOnNodeError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.inventory import DeviceInventory
from kubesched.core.devices.pools import PoolView
from kubesched.core.devices.requests import RequestPlan, alternatives, plan_request
from kubesched.core.devices.results import allocation_of
from kubesched.core.devices.search import (
    MAX_RESULTS,
    AllocationSearch,
    CandidateDevice,
    RequestedDevices,
    has_capacity,
    selects,
)
from kubesched.core.devices.state import NO_USE, AllocatedState

Alternatives = list[list[RequestedDevices]]
"""Request -> alternative."""


class Allocator:
    """Allocates devices for claims; made once per scheduling cycle, used for many nodes."""

    def __init__(
        self,
        features: DeviceFeatures,
        state: AllocatedState,
        classes: Mapping[str, DeviceClass],
        inventory: DeviceInventory,
        new_share_id: Callable[[], str],
    ) -> None:
        """`classes` are by name; `new_share_id` returns the id for a share of a device with multiple allocations."""
        self.budget = Budget()
        self._features = features
        self._state = state
        self._classes = classes
        self._inventory = inventory
        self._new_share_id = new_share_id
        # both are valid while the state does not change
        self._plans: dict[tuple[int, int, int], RequestPlan] = {}
        self._counters: dict[PoolView, dict[CounterName, int]] = {}

    def allocate(
        self, node: Node, claims: Sequence[ResourceClaim], expired: Callable[[], bool] | None = None
    ) -> list[AllocationResult] | None:
        """Return one allocation per claim, or None if they cannot all be allocated on the node.

        Raises FailedOnNodeError (reject this node with its text), AllocationTimeoutError (`expired` returned True), or
        AllocationError (ends the cycle with its text).
        """
        self.budget.start_node()
        pools = self._inventory.pools_of(node)
        uses = {pool: self._state.use_of(pool.id) or NO_USE for pool in pools}
        candidates = [
            CandidateDevice(offered, pool, uses[pool], reachable)
            for pool in pools
            for offered, reachable in zip(pool.devices, pool.masks, strict=True)
        ]
        wanted: list[Alternatives] = []
        constraints = []
        for claim in claims:
            wanted.append(self._wanted(len(wanted), claim, pools, candidates))
            constraints.append(constraints_of(claim, self._features))
        search = AllocationSearch(
            self._features, candidates, CounterLedger(uses, self._counters), wanted, constraints, self.budget
        )
        if not search.run(expired):
            if any(pool.invalid for pool in pools):
                raise FailedOnNodeError("invalid resource pools were encountered")
            return None
        return [
            allocation_of(
                claim,
                search.given[i],
                [wanted[i][request][chosen].plan for request, chosen in enumerate(search.chosen[i])],
                node.metadata.name,
                self._features,
                self._new_share_id,
            )
            for i, claim in enumerate(claims)
        ]

    def _wanted(
        self, position: int, claim: ResourceClaim, pools: Sequence[PoolView], candidates: Sequence[CandidateDevice]
    ) -> Alternatives:
        """Return the requested devices of a claim on a node; raises AllocationError if they can never be allocated."""
        wanted = []
        least = 0
        for number, request in enumerate(claim.spec.devices.requests):
            options = []
            for choice, written in enumerate(alternatives(claim, request, self._features)):
                key = (id(claim), number, choice)
                plan = self._plans.get(key)
                if plan is None or plan.claim is not claim:
                    plan = plan_request(claim, request, written, self._classes, self._features)
                    plan.budget = self.budget
                    self._plans[key] = plan
                options.append(self._wanted_of(plan, position, pools, candidates))
            least += min(option.number for option in options)
            wanted.append(options)
        if least > MAX_RESULTS:
            raise AllocationError(
                f"claim {claim.full_name}: number of requested devices {least} exceeds the claim limit of {MAX_RESULTS}"
            )
        return wanted

    def _wanted_of(
        self, plan: RequestPlan, position: int, pools: Sequence[PoolView], candidates: Sequence[CandidateDevice]
    ) -> RequestedDevices:
        """Return the requested devices of a plan on a node; for all devices, the selected ones."""
        if not plan.all_devices:
            return RequestedDevices(plan, position, plan.count)
        everything: list[int] = []
        start = 0
        for pool in pools:
            if not pool.usable:
                trouble = "being updated" if pool.incomplete else "invalid"
                raise AllocationError(
                    f"claim {plan.claim.full_name}, request {plan.name}: asks for all devices, "
                    f"but resource pool {pool.id} is currently {trouble}"
                )
            end = start + len(pool.devices)
            everything += (i for i in range(start, end) if self._offers(candidates[i], plan))
            start = end
        return RequestedDevices(plan, position, len(everything), tuple(everything))

    def _offers(self, candidate: CandidateDevice, plan: RequestPlan) -> bool:
        """Return whether a device is among all devices that a plan requests."""
        if not selects(plan, candidate):
            return False
        return not self._features.consumable_capacity or has_capacity(plan, candidate, {})
