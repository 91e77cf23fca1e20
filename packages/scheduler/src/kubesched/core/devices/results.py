"""Allocation results, for a claim's status.

From the devices that a search found for a claim to an AllocationResult: the devices, the configuration of classes and
claim, and the nodes that can use them.
"""

# upstream: structured/internal/incubating/allocator_incubating.go Allocate, createNodeSelector (v1.36)

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubesched.api.devices import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from kubesched.api.node_selectors import NAME_FIELD
from kubesched.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.requests import RequestPlan
from kubesched.core.devices.search import Given

Requirements = list[NodeSelectorRequirement]


def allocation_of(
    claim: ResourceClaim,
    given: Sequence[Given],
    chosen: Sequence[RequestPlan],
    node_name: str,
    features: DeviceFeatures,
    new_share_id: Callable[[], str],
) -> AllocationResult:
    """Return the allocation of a claim; `chosen` has the plan of each of its requests."""
    return AllocationResult(
        devices=DeviceAllocationResult(
            results=tuple(_result(each, features, new_share_id) for each in given),
            config=(*_class_config(chosen), *_claim_config(claim, chosen)),
        ),
        node_selector=_node_selector(claim, given, node_name, features),
    )


def _result(given: Given, features: DeviceFeatures, new_share_id: Callable[[], str]) -> DeviceRequestAllocationResult:
    device, plan = given.offered.device, given.plan
    return DeviceRequestAllocationResult(
        request=plan.full_name,
        driver=given.offered.id.driver,
        pool=given.offered.id.pool,
        device=given.offered.id.device,
        admin_access=True if plan.admin_access else None,
        tolerations=plan.tolerations,
        binding_conditions=device.binding_conditions if features.binding_conditions else (),
        binding_failure_conditions=device.binding_failure_conditions if features.binding_conditions else (),
        share_id=new_share_id() if given.quantities is not None else None,
        consumed_capacity={name: str(amount) for name, amount in (given.quantities or {}).items()},
    )


def _class_config(chosen: Sequence[RequestPlan]) -> list[DeviceAllocationConfiguration]:
    """Return the configuration of each class once, for all requests that use it."""
    requests: dict[str, list[str]] = {}
    classes = {}
    for plan in chosen:
        requests.setdefault(plan.device_class.name, []).append(plan.full_name)
        classes[plan.device_class.name] = plan.device_class
    return [
        DeviceAllocationConfiguration(source="FromClass", requests=tuple(requests[name]), opaque=config.opaque)
        for name, device_class in classes.items()
        for config in device_class.spec.config
    ]


def _claim_config(claim: ResourceClaim, chosen: Sequence[RequestPlan]) -> list[DeviceAllocationConfiguration]:
    """Return the claim's configuration: once if for all requests, else once per request that it names."""
    configs = []
    for config in claim.spec.devices.config:
        entry = DeviceAllocationConfiguration(source="FromClaim", requests=config.requests, opaque=config.opaque)
        named = sum(plan.request in config.requests or plan.full_name in config.requests for plan in chosen)
        configs += [entry] * (named if config.requests else 1)
    return configs


def _node_selector(
    claim: ResourceClaim, given: Sequence[Given], node_name: str, features: DeviceFeatures
) -> NodeSelector | None:
    """Return the selector of the nodes that can use all devices; None for all nodes."""
    fields: Requirements = []
    expressions: Requirements = []
    for each in given:
        spec, device = each.offered.slice.spec, each.offered.device
        where = device if spec.per_device_node_selection else spec
        if where.node_name is not None or (device.binds_to_node and not features.stable_only):
            named = (where.node_name or "") if features.stable_only else node_name
            return _only(named)
        terms = where.node_selector.node_selector_terms if where.node_selector is not None else ()
        if len(terms) > 1:
            raise AllocationError(
                f"create NodeSelector for claim {claim.name}: "
                f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            )
        for term in terms:
            _add_new(fields, term.match_fields)
            _add_new(expressions, term.match_expressions)
    if not (fields or expressions):
        return None
    term = NodeSelectorTerm(match_expressions=tuple(expressions), match_fields=tuple(fields))
    return NodeSelector(node_selector_terms=(term,))


def _only(node_name: str) -> NodeSelector:
    name = NodeSelectorRequirement(key=NAME_FIELD, operator="In", values=(node_name,))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))


def _add_new(known: Requirements, requirements: Sequence[NodeSelectorRequirement]) -> None:
    """Add the requirements that are new; the order of values does not matter."""
    for new in requirements:
        if not any(
            new.key == each.key and new.operator == each.operator and set(new.values or ()) == set(each.values or ())
            for each in known
        ):
            known.append(new)
