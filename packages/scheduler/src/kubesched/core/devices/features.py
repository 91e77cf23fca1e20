"""The features of dynamic resource allocation that are enabled.

From feature gates to a frozen struct of booleans, and to the reference's choice among its implementations.
"""

# upstream: dynamicresources/dynamicresources.go AllocatorFeatures, dynamic-resource-allocation/structured/allocator.go
# (v1.36)

from __future__ import annotations

from typing import Protocol

import msgspec


class Gates(Protocol):
    """The part of feature gates that is needed here."""

    def enabled(self, name: str) -> bool:
        """Return whether a gate is on."""


class DeviceFeatures(msgspec.Struct, frozen=True, kw_only=True):
    """The features; they default as their gates do: on, except for unfinished features."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    device_taint_rules: bool = False
    binding_conditions: bool = True
    consumable_capacity: bool = True
    # Only for CEL: the reference's scheduler never passes list attributes to its allocator, so that constraints compare
    # single values even if the gate is on.
    list_attributes: bool = False

    @classmethod
    def from_gates(cls, gates: Gates) -> DeviceFeatures:
        """Return the features that the gates enable."""
        return cls(
            admin_access=gates.enabled("DRAAdminAccess"),
            prioritized_list=gates.enabled("DRAPrioritizedList"),
            partitionable_devices=gates.enabled("DRAPartitionableDevices"),
            device_taints=gates.enabled("DRADeviceTaints"),
            device_taint_rules=gates.enabled("DRADeviceTaintRules"),
            binding_conditions=(
                gates.enabled("DRADeviceBindingConditions") and gates.enabled("DRAResourceClaimDeviceStatus")
            ),
            consumable_capacity=gates.enabled("DRAConsumableCapacity"),
            list_attributes=gates.enabled("DRAListTypeAttributes"),
        )

    @property
    def stable_only(self) -> bool:
        """Return whether the reference uses its oldest implementation, which has fewer features.

        It has no distinctAttribute and no binding to a node, does not refuse requests for capacity, and does not put
        pools with binding conditions last.
        """
        return not (self.binding_conditions or self.consumable_capacity)
