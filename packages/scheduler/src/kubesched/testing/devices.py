"""Keyword builders for devices and claims: `a_slice("s", a_device("gpu-0"), node="n1")`.

From the few arguments that matter to a test to API structs of dynamic resource allocation, with all other fields as an
API server would default them.
"""

from collections.abc import Iterable, Mapping
from itertools import count as counting
from typing import Any

import msgspec

from kubesched.api.devices import (
    AllocationResult,
    CapacityRequirements,
    CELDeviceSelector,
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceClass,
    DeviceClassConfiguration,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    DeviceToleration,
    ExactDeviceRequest,
    OpaqueDeviceConfiguration,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from kubesched.api.meta import ObjectMeta, RawQuantity
from kubesched.api.nodes import Node
from kubesched.api.pods import NodeSelector, Pod, PodResourceClaim
from kubesched.core.devices import AllocatedState, Allocator, DeviceFeatures, DeviceInventory
from kubesched.testing.builders import a_node, a_pod
from kubesched.testing.shorthand import node_term

DRIVER = "gpu.example.com"

AttributeValue = str | int | bool | DeviceAttribute
Amounts = Mapping[str, RawQuantity]


def a_device(
    name: str,
    *,
    attributes: Mapping[str, AttributeValue] | None = None,
    capacity: Mapping[str, RawQuantity | DeviceCapacity] | None = None,
    draws: Mapping[str, Amounts] | None = None,
    taints: Iterable[str] = (),
    shared: bool = False,
    **fields: Any,
) -> Device:
    """Return a device; `draws` is counter set -> counter -> amount, a taint is `key=value:Effect`."""
    return Device(
        name=name,
        attributes={key: _attribute(value) for key, value in (attributes or {}).items()},
        capacity={
            key: value if isinstance(value, DeviceCapacity) else DeviceCapacity(value=value)
            for key, value in (capacity or {}).items()
        },
        consumes_counters=tuple(
            DeviceCounterConsumption(counter_set=name, counters=_counters(amounts))
            for name, amounts in (draws or {}).items()
        ),
        taints=tuple(a_device_taint(text) for text in taints),
        allow_multiple_allocations=True if shared else None,
        **fields,
    )


def a_slice(
    name: str,
    *devices: Device | str,
    driver: str = DRIVER,
    pool: str = "",
    node: str | None = None,
    nodes: str = "",
    all_nodes: bool = False,
    generation: int = 1,
    slices: int = 1,
    counters: Mapping[str, Amounts] | None = None,
    per_device: bool | None = None,
) -> ResourceSlice:
    """Return a ResourceSlice of devices, given as structs or by name.

    The pool is named like the node, or like the slice. `nodes` is a term such as `zone=a`; without `node`, `nodes`,
    `all_nodes` and `per_device` no node can reach it. `slices` is the number of slices of the pool.
    """
    return ResourceSlice(
        metadata=ObjectMeta(name=name),
        spec=ResourceSliceSpec(
            driver=driver,
            pool=ResourcePool(name=pool or node or name, generation=generation, resource_slice_count=slices),
            node_name=node,
            node_selector=NodeSelector(node_selector_terms=(node_term(nodes),)) if nodes else None,
            all_nodes=all_nodes or None,
            devices=tuple(a_device(each) if isinstance(each, str) else each for each in devices),
            per_device_node_selection=per_device,
            shared_counters=tuple(
                CounterSet(name=each, counters=_counters(amounts)) for each, amounts in (counters or {}).items()
            ),
        ),
    )


def a_device_class(
    name: str = "gpu", *expressions: str, config: Any = None, extended_resource: str | None = None
) -> DeviceClass:
    """Return a DeviceClass of the devices that match all CEL expressions; `config` are parameters for the driver."""
    return DeviceClass(
        metadata=ObjectMeta(name=name),
        spec=DeviceClassSpec(
            selectors=_selectors(expressions),
            config=() if config is None else (DeviceClassConfiguration(opaque=_opaque(config)),),
            extended_resource_name=extended_resource,
        ),
    )


def a_device_request(
    name: str = "r",
    *expressions: str,
    count: int = 1,
    all_devices: bool = False,
    device_class: str = "gpu",
    capacity: Amounts | None = None,
    tolerations: Iterable[DeviceToleration] = (),
    admin_access: bool | None = None,
) -> DeviceRequest:
    """Return a request for `count` devices, or for all of them."""
    asked = _asked(expressions, count, all_devices, device_class, capacity, tolerations)
    return DeviceRequest(name=name, exactly=ExactDeviceRequest(admin_access=admin_access, **asked))


def an_alternative(
    name: str,
    *expressions: str,
    count: int = 1,
    all_devices: bool = False,
    device_class: str = "gpu",
    capacity: Amounts | None = None,
    tolerations: Iterable[DeviceToleration] = (),
) -> DeviceSubRequest:
    """Return one alternative of a request, for `a_device_choice`."""
    asked = _asked(expressions, count, all_devices, device_class, capacity, tolerations)
    return DeviceSubRequest(name=name, **asked)


def a_device_choice(name: str, *alternatives: DeviceSubRequest) -> DeviceRequest:
    """Return a request for the first alternative that is available."""
    return DeviceRequest(name=name, first_available=alternatives)


def a_resource_claim(
    name: str = "claim",
    *requests: DeviceRequest,
    match: str | Mapping[str, Iterable[str]] = "",
    distinct: str | Mapping[str, Iterable[str]] = "",
    config: Iterable[tuple[tuple[str, ...], Any]] = (),
    allocation: AllocationResult | None = None,
    namespace: str = "default",
) -> ResourceClaim:
    """Return a claim.

    `match` and `distinct` name an attribute, or map attributes to the requests that they constrain; `config` has
    pairs of requests and parameters for the driver.
    """
    constraints = [DeviceConstraint(requests=of, match_attribute=name) for name, of in _constrained(match)]
    constraints += [DeviceConstraint(requests=of, distinct_attribute=name) for name, of in _constrained(distinct)]
    return ResourceClaim(
        metadata=ObjectMeta(name=name, namespace=namespace, uid=f"{namespace}/{name}"),
        spec=ResourceClaimSpec(
            devices=DeviceClaim(
                requests=requests,
                constraints=tuple(constraints),
                config=tuple(
                    DeviceClaimConfiguration(requests=of, opaque=_opaque(parameters)) for of, parameters in config
                ),
            )
        ),
        status=ResourceClaimStatus(allocation=allocation),
    )


def a_claiming_pod(name: str, *claims: str, **words: Any) -> Pod:
    """Return a pod that uses claims; further arguments are passed to `a_pod`."""
    entries = tuple(PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims)
    return a_pod(name, resource_claims=entries, **words)


def a_device_taint(text: str) -> DeviceTaint:
    """Return the taint `key=value:Effect`."""
    pair, _, effect = text.partition(":")
    key, _, value = pair.partition("=")
    return DeviceTaint(key=key, value=value, effect=effect)


def a_taint_rule(
    name: str, taint: str, *, driver: str | None = None, pool: str | None = None, device: str | None = None
) -> DeviceTaintRule:
    """Return a DeviceTaintRule that adds the taint `key=value:Effect` to the selected devices, or to all."""
    selector = DeviceTaintSelector(driver=driver, pool=pool, device=device)
    return DeviceTaintRule(
        metadata=ObjectMeta(name=name),
        spec=DeviceTaintRuleSpec(
            device_selector=selector if selector != DeviceTaintSelector() else None, taint=a_device_taint(taint)
        ),
    )


def allocate_devices(
    node: Node,
    claims: Iterable[ResourceClaim],
    slices: Iterable[ResourceSlice],
    *,
    classes: Iterable[DeviceClass] | None = None,
    allocated: Iterable[ResourceClaim] = (),
    rules: Iterable[DeviceTaintRule] = (),
    features: DeviceFeatures | None = None,
) -> list[AllocationResult] | None:
    """Allocate claims on a node; None if that fails. By default the class is `gpu`; share IDs are `share-0`, ..."""
    features = features or DeviceFeatures()
    shares = counting()
    allocator = Allocator(
        features,
        AllocatedState.of_claims(allocated, features),
        {each.name: each for each in ((a_device_class(),) if classes is None else classes)},
        DeviceInventory(slices, rules, features),
        lambda: f"share-{next(shares)}",
    )
    return allocator.allocate(node, tuple(claims))


def given_devices(results: Iterable[AllocationResult] | None) -> list[list[str]] | None:
    """Return the allocated devices of each claim, as `request:pool/device`."""
    if results is None:
        return None
    return [[f"{each.request}:{each.pool}/{each.device}" for each in result.devices.results] for result in results]


def _asked(
    expressions: Iterable[str],
    count: int,
    all_devices: bool,
    device_class: str,
    capacity: Amounts | None,
    tolerations: Iterable[DeviceToleration],
) -> dict[str, Any]:
    return {
        "device_class_name": device_class,
        "selectors": _selectors(expressions),
        "allocation_mode": "All" if all_devices else "ExactCount",
        "count": 0 if all_devices else count,
        "tolerations": tuple(tolerations),
        "capacity": CapacityRequirements(requests=dict(capacity)) if capacity is not None else None,
    }


def _selectors(expressions: Iterable[str]) -> tuple[DeviceSelector, ...]:
    return tuple(DeviceSelector(cel=CELDeviceSelector(expression=each)) for each in expressions)


def _opaque(parameters: Any) -> OpaqueDeviceConfiguration:
    return OpaqueDeviceConfiguration(driver=DRIVER, parameters=parameters)


def _counters(amounts: Amounts) -> dict[str, Counter]:
    return {name: Counter(value=amount) for name, amount in amounts.items()}


def _attribute(value: AttributeValue) -> DeviceAttribute:
    if isinstance(value, DeviceAttribute):
        return value
    if isinstance(value, bool):
        return DeviceAttribute(bool_value=value)
    return DeviceAttribute(int_value=value) if isinstance(value, int) else DeviceAttribute(string_value=value)


def _constrained(constraint: str | Mapping[str, Iterable[str]]) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(constraint, Mapping):
        return [(name, tuple(requests)) for name, requests in constraint.items()]
    return [(constraint, ())] if constraint else []


def holding(*devices: str, share: bool = False, capacity: dict[str, str] | None = None) -> ResourceClaim:
    """Return a claim to which devices of the pool n1 are allocated, whole or as a share with some capacity."""
    claim = a_resource_claim("other", a_device_request(count=len(devices)))
    whole = allocate_devices(a_node("n1", zone="a"), (claim,), [a_slice("s", *devices, node="n1")])
    assert whole is not None
    results = tuple(
        msgspec.structs.replace(each, share_id="x" if share else None, consumed_capacity=dict(capacity or {}))
        for each in whole[0].devices.results
    )
    allocation = msgspec.structs.replace(whole[0], devices=msgspec.structs.replace(whole[0].devices, results=results))
    return msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, allocation=allocation))
