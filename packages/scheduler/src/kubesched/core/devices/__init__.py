"""Devices: the allocation of a pod's claims on a node (structured parameters of dynamic resource allocation).

From ResourceSlices, DeviceTaintRules, DeviceClasses, existing allocations, a node and the claims to allocate to one
AllocationResult per claim, None if they cannot be allocated on the node, or an AllocationError. No I/O, no clock, no
randomness, and no change of the input.

    slices, taint rules ─▶ DeviceInventory ─▶ pools of a node ─┐
    allocations of claims ─▶ AllocatedState ───────────────────┼─▶ Allocator.allocate(node, claims)
    classes, features, share ids ──────────────────────────────┘

Nodes with equal `inventory.signature(node, state)` have equal results, so that each distinct one is solved once.
"""

from kubesched.core.devices.allocator import Allocator
from kubesched.core.devices.errors import AllocationError, AllocationTimeoutError, FailedOnNodeError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.inventory import DeviceInventory
from kubesched.core.devices.state import AllocatedState, DeviceId, PoolId

__all__ = [
    "AllocatedState",
    "AllocationError",
    "AllocationTimeoutError",
    "Allocator",
    "DeviceFeatures",
    "DeviceId",
    "DeviceInventory",
    "FailedOnNodeError",
    "PoolId",
]
