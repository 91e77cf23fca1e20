"""The state of one scheduling cycle for a pod's claims.

Written by PreFilter, completed by Filter (the rows that passed, and the variants of the extended resource claim), by
Reserve (the allocations) and by PreBind (the claims as they were written). Read by every other hook.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import AllocationResult, ResourceClaim, ResourceClaimConsumerReference
from kubesched.api.node_selectors import CompiledNodeSelector
from kubesched.api.pods import ContainerExtendedResourceRequest, NodeAllocatableResourceClaimStatus
from kubesched.core.framework.values.cycle import StateKey
from kubesched.core.plugins.dynamic_resources.extended import EXTENDED_RESOURCE_CLAIM_NAME, Variant
from kubesched.core.plugins.dynamic_resources.solving import DeviceSearch


class AllocationPlan(msgspec.Struct, frozen=True):
    """The allocations of a pod's claims on a node, by the index of the claim."""

    allocations: dict[int, AllocationResult]
    extended_resource_claim: ResourceClaim | None = None
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    node_allocatable: tuple[NodeAllocatableResourceClaimStatus, ...] = ()


class PodDevices:
    """The claims of one pod: the claims of its spec, then (last) the claim for extended resources."""

    def __init__(
        self,
        claims: Sequence[ResourceClaim],
        consumers: Sequence[ResourceClaimConsumerReference],
        extended_resource_claim: ResourceClaim | None,
        extended: Mapping[str, int],
        search: DeviceSearch,
    ) -> None:
        self.claims: list[ResourceClaim] = [
            *claims,
            *((extended_resource_claim,) if extended_resource_claim is not None else ()),
        ]
        self.consumers = consumers
        self.user_count = len(claims)
        # the requested resources that may be backed by devices
        self.extended = extended
        self.search = search
        # per claim: the nodes that can use its allocation; and the pending allocation for another pod of the group
        self.selectors: list[CompiledNodeSelector | None] = [None] * len(self.claims)
        self.shared: dict[int, AllocationResult] = {}
        # the claims whose binding conditions failed or timed out
        self.broken: list[int] = []
        # set by Filter, by row: whether it passed with allocations, and their preference score
        self.passed: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.scores: NDArray[np.int64] = np.zeros(0, np.int64)
        self.variants: dict[tuple[str, ...], Variant] = {}
        self.plans: dict[str, AllocationPlan] = {}
        # set by Reserve: the UIDs under which allocations are in flight for this pod, and the plan
        self.held: list[str] = []
        self.plan: AllocationPlan | None = None

    @property
    def extended_resource_claim(self) -> ResourceClaim | None:
        """Return the claim for extended resources, or None."""
        return self.claims[self.user_count] if self.user_count < len(self.claims) else None

    def is_extended_resource_claim(self, index: int) -> bool:
        """Return whether the claim at an index is the one for extended resources."""
        return index == self.user_count

    @property
    def was_written(self) -> bool:
        """Return whether the claim for extended resources exists outside this cycle."""
        claim = self.extended_resource_claim
        return claim is not None and claim.name != EXTENDED_RESOURCE_CLAIM_NAME

    def to_allocate(self) -> list[int]:
        """Return the indices of the claims that have no allocation yet."""
        return [index for index, claim in enumerate(self.claims) if claim.status.allocation is None]

    def to_solve(self) -> list[int]:
        """Return the indices of the claims that the allocator has to solve."""
        return [index for index in self.to_allocate() if index not in self.shared]

    def resize(self, size: int) -> None:
        """Resize the arrays to the rows of the table."""
        if len(self.passed) != size:
            self.passed = np.zeros(size, np.bool_)
            self.scores = np.zeros(size, np.int64)


STATE = StateKey[PodDevices]("DynamicResources")
# The UIDs of claims for which an allocation is pending in the scheduling cycle of a pod group, whose pods share it.
GROUP_ALLOCATIONS = StateKey[set[str]]("DynamicResources of a pod group")
