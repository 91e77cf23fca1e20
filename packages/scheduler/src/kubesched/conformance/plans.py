"""Plans of plugins in the corpus' form: volumes to bind and devices to allocate on a node, claims to release.

From the state of a cycle and PostFilter's effects to `volumes`, `allocations` and `claimsReleased` of a result.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.devices import AllocationResult, ResourceClaim
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Delete, Effect, Write
from kubesched.core.plugins.dynamic_resources import DynamicResources
from kubesched.core.plugins.dynamic_resources.state import STATE
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.core.plugins.volume_binding.search import VolumePlan


def described_plan(plugin: Plugin, cycle: CycleState, pod: PodInfo, node_name: str) -> Mapping[str, Any]:
    """Return the plan of a plugin for a feasible node; empty for plugins without plans."""
    if isinstance(plugin, VolumeBinding):
        return _volumes(plugin, cycle, node_name)
    if isinstance(plugin, DynamicResources):
        return _allocations(plugin, cycle, pod, node_name)
    return {}


def claims_released(effects: Iterable[Effect]) -> list[str]:
    """Return the resource claims that effects delete, or whose allocation they remove."""
    released = []
    for effect in effects:
        if isinstance(effect, Write) and isinstance(effect.obj, ResourceClaim):
            released.append(effect.obj.full_name)
        elif isinstance(effect, Delete) and effect.kind == ResourceClaim.__name__:
            released.append(f"{effect.namespace}/{effect.name}")
    return released


def _volumes(plugin: VolumeBinding, cycle: CycleState, node_name: str) -> Mapping[str, Any]:
    """Return the volumes to bind to the pod's claims, and the claims to provision."""
    plan = plugin.plan(cycle, node_name)
    if plan is None or plan == VolumePlan():
        return {}
    volumes: dict[str, Any] = {}
    if plan.bindings:
        volumes["bindings"] = {claim.name: volume.name for claim, volume in plan.bindings}
    if plan.provisions:
        volumes["provision"] = sorted(claim.name for claim in plan.provisions)
    return {"volumes": volumes}


def _allocations(plugin: DynamicResources, cycle: CycleState, pod: PodInfo, node_name: str) -> Mapping[str, Any]:
    """Return the allocation of each claim that needs one."""
    state, plan = cycle.get(STATE), plugin.plan(cycle, pod, node_name)
    if state is None or plan is None:
        return {}
    described = []
    for index, allocation in plan.allocations.items():
        entry: dict[str, Any] = {"claim": state.claims[index].name, "allocation": _without_share_ids(allocation)}
        if state.is_extended_resource_claim(index) and plan.extended_resource_claim is not None:
            entry["requests"] = [to_builtins(request) for request in plan.extended_resource_claim.spec.devices.requests]
            entry["requestMappings"] = [to_builtins(mapping) for mapping in plan.mappings]
        described.append(entry)
    return {"allocations": described}


def _without_share_ids(allocation: AllocationResult) -> dict[str, Any]:
    results = tuple(msgspec.structs.replace(result, share_id=None) for result in allocation.devices.results)
    devices = msgspec.structs.replace(allocation.devices, results=results)
    return to_builtins(msgspec.structs.replace(allocation, devices=devices))
