"""Prepared slices: taint rules applied, devices interned, node selectors compiled.

From ResourceSlice and DeviceTaintRule objects to the parts of nodes' pools. Each slice is prepared once for all nodes.
"""

# upstream: dynamic-resource-allocation/resourceslice/tracker/tracker.go (v1.36)

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from kubesched.api.devices import Device, DeviceTaintRule, ResourceSlice
from kubesched.api.node_selectors import CompiledNodeSelector, compile_node_selector
from kubesched.api.nodes import Node
from kubesched.api.pods import NodeSelector, NodeSelectorRequirement
from kubesched.core.devices.contents import Contents, DeviceContent
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.state import DeviceId, PoolId

Rules = tuple[DeviceTaintRule, ...]


class SliceReach(NamedTuple):
    """The nodes that can use a slice or a device: one by name, all, or the nodes that a selector matches."""

    node_name: str = ""
    all_nodes: bool = False
    selector: CompiledNodeSelector | None = None
    problem: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether any of the three is set."""
        return bool(self.node_name) or self.all_nodes or self.selector is not None

    def includes(self, node: Node) -> bool:
        """Return whether a node is among them; raises AllocationError if the selector is invalid."""
        if self.node_name:
            return node.metadata.name == self.node_name
        if self.all_nodes or self.selector is None:
            return self.all_nodes
        if self.problem:
            raise AllocationError(self.problem)
        return self.selector.matches(node.metadata.labels, node.metadata.name)


class OfferedDevice:
    """One device of a slice."""

    __slots__ = ("content", "device", "id", "reach", "slice")

    def __init__(self, offered: OfferedSlice, device: Device, content: DeviceContent, reach: SliceReach | None) -> None:
        self.id = DeviceId(offered.pool.driver, offered.pool.pool, device.name)
        self.slice = offered.slice
        self.device = device
        self.content = content
        # only set with perDeviceNodeSelection
        self.reach = reach


class OfferedSlice:
    """A prepared slice; compared by identity."""

    __slots__ = ("devices", "generation", "name", "pool", "reach", "rules", "slice")

    def __init__(self, slice_: ResourceSlice, rules: Rules, contents: Contents) -> None:
        spec = slice_.spec
        self.slice = slice_
        self.rules = rules
        self.name = slice_.metadata.name
        self.pool = PoolId(spec.driver, spec.pool.name)
        self.generation = spec.pool.generation
        self.reach = reach_of(spec.node_name, spec.all_nodes, spec.node_selector)
        per_device = bool(spec.per_device_node_selection)
        self.devices = tuple(
            OfferedDevice(
                self,
                tainted,
                contents.of(spec.driver, tainted),
                reach_of(device.node_name, device.all_nodes, device.node_selector) if per_device else None,
            )
            for device in spec.devices
            for tainted in (with_taints(device, rules),)
        )

    @property
    def has_counters(self) -> bool:
        """Return whether it has shared counters, and so is relevant for every node."""
        return bool(self.slice.spec.shared_counters)

    @property
    def per_device(self) -> bool:
        """Return whether it has perDeviceNodeSelection."""
        return bool(self.slice.spec.per_device_node_selection)


def reach_of(node_name: str | None, all_nodes: bool | None, selector: NodeSelector | None) -> SliceReach:
    """Return the nodes for these fields of a slice or device."""
    if node_name or all_nodes or selector is None:
        return SliceReach(node_name or "", bool(all_nodes))
    compiled = compile_node_selector(selector)
    problem = f"failed to parse node selector {go_string(selector)}: {compiled.error}" if compiled.error else ""
    return SliceReach(selector=compiled, problem=problem)


def rules_for(slice_: ResourceSlice, rules: Iterable[DeviceTaintRule]) -> Rules:
    """Return the rules that taint devices of a slice."""
    return tuple(rule for rule in rules if _concerns(rule, slice_))


def _concerns(rule: DeviceTaintRule, slice_: ResourceSlice) -> bool:
    selector = rule.spec.device_selector
    if selector is None:
        return True
    return (
        (selector.driver is None or selector.driver == slice_.spec.driver)
        and (selector.pool is None or selector.pool == slice_.spec.pool.name)
        and (selector.device is None or any(selector.device == device.name for device in slice_.spec.devices))
    )


def with_taints(device: Device, rules: Rules) -> Device:
    """Return the device with the taints of rules added."""
    added = tuple(
        rule.spec.taint
        for rule in rules
        if (selector := rule.spec.device_selector) is None or selector.device in (None, device.name)
    )
    return msgspec.structs.replace(device, taints=device.taints + added) if added else device


def go_string(selector: NodeSelector) -> str:
    """Return a node selector as the reference prints it in messages."""
    terms = "".join(
        "NodeSelectorTerm{"
        f"MatchExpressions:{_requirements(term.match_expressions)},MatchFields:{_requirements(term.match_fields)},"
        "},"
        for term in selector.node_selector_terms
    )
    return "&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{" + terms + "},}"


def _requirements(requirements: Sequence[NodeSelectorRequirement]) -> str:
    listed = "".join(
        f"NodeSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values or ())}],}},"
        for each in requirements
    )
    return f"[]NodeSelectorRequirement{{{listed}}}"
