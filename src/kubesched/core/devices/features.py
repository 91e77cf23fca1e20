"""Which parts of dynamic resource allocation are switched on.

From feature gates to a frozen struct of booleans, and to the reference's choice among its implementations.
"""

# upstream: dynamicresources/dynamicresources.go AllocatorFeatures, dynamic-resource-allocation/structured/allocator.go
# (v1.36)

from __future__ import annotations

from typing import Protocol

import msgspec


class Gates(Protocol):
    """What is asked of feature gates."""

    def enabled(self, name: str) -> bool:
        """Return whether a gate is on."""


class DeviceFeatures(msgspec.Struct, frozen=True, kw_only=True):
    """The switches, all on as by default except those of unfinished features."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    device_taint_rules: bool = False
    binding_conditions: bool = True
    consumable_capacity: bool = True
    # Only for CEL: the reference's scheduler never tells its allocator of list attributes, so that constraints
    # compare single values even where the gate is on.
    list_attributes: bool = False

    @classmethod
    def from_gates(cls, gates: Gates) -> DeviceFeatures:
        """Return the switches that the gates stand for."""
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
        """Return whether the reference takes its oldest implementation, which knows less.

        It knows no distinctAttribute, no binding to a node, does not refuse requests for capacity, and does not put
        pools with binding conditions last.
        """
        return not (self.binding_conditions or self.consumable_capacity)
