"""Requests of claims, validated and planned once for all nodes.

From the requests and alternatives of a claim to plans: the number of devices, the class, the selectors, the requested
capacities. A plan caches its verdicts on contents of devices.
"""

# upstream: structured/internal/incubating/allocator_incubating.go validateDeviceRequest, isSelectable (v1.36)

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kubesched.api.devices import (
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
)
from kubesched.api.quantity import Quantity
from kubesched.api.tolerations import tolerates_device
from kubesched.cel import CelRuntimeError, compile_selector, is_compiled
from kubesched.core.devices.amounts import Amounts, consumption, in_nanos
from kubesched.core.devices.budget import COMPILING, Budget
from kubesched.core.devices.contents import DeviceContent
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.features import DeviceFeatures

EXACT_COUNT = "ExactCount"
ALL = "All"


class Consumption(NamedTuple):
    """The amounts that a request consumes of a device's capacities: as quantities for results, and as integers."""

    quantities: dict[str, Quantity]
    amounts: Amounts


class RequestPlan:
    """A request, or one alternative of a request; compared by identity."""

    __slots__ = (
        "_consumption",
        "_features",
        "_selectable",
        "_selectors",
        "admin_access",
        "all_devices",
        "alternative",
        "budget",
        "claim",
        "count",
        "device_class",
        "request",
        "tolerations",
        "written",
    )

    def __init__(
        self,
        claim: ResourceClaim,
        request: DeviceRequest,
        written: ExactDeviceRequest | DeviceSubRequest,
        device_class: DeviceClass,
        features: DeviceFeatures,
    ) -> None:
        self.claim = claim
        self.request = request.name
        self.alternative = written.name if isinstance(written, DeviceSubRequest) else ""
        self.written = written
        self.device_class = device_class
        self.count = written.count
        self.all_devices = written.allocation_mode == ALL
        self.admin_access = isinstance(written, ExactDeviceRequest) and bool(written.admin_access)
        self.tolerations = written.tolerations
        self._features = features
        self.budget = Budget()
        self._selectors = (
            *((f"class {device_class.name}", i, each) for i, each in enumerate(device_class.spec.selectors)),
            *((f"claim {claim.full_name}", i, each) for i, each in enumerate(written.selectors)),
        )
        self._selectable: dict[DeviceContent, bool] = {}
        self._consumption: dict[DeviceContent, Consumption | None] = {}

    @property
    def name(self) -> str:
        """Return the name of the request or of the alternative."""
        return self.alternative or self.request

    @property
    def full_name(self) -> str:
        """Return the name for results: `request` or `request/alternative`."""
        return f"{self.request}/{self.alternative}" if self.alternative else self.request

    def selects(self, content: DeviceContent) -> bool:
        """Return whether class and request select a device; raises AllocationError if a selector fails."""
        verdict = self._selectable.get(content)
        if verdict is None:
            verdict = self._selectable[content] = self._judge(content)
        return verdict

    def tolerates(self, content: DeviceContent) -> bool:
        """Return whether every taint that prevents the allocation of a device is tolerated."""
        return all(any(tolerates_device(each, taint) for each in self.tolerations) for taint in content.blocking_taints)

    def consumes(self, content: DeviceContent) -> Consumption | None:
        """Return its consumption of a device's capacities; None if the device does not match."""
        if content not in self._consumption:
            requests = self.written.capacity.requests if self.written.capacity is not None else {}
            quantities = consumption(requests, content.device.capacity)
            self._consumption[content] = (
                Consumption(quantities, {name: in_nanos(each) for name, each in quantities.items()})
                if quantities is not None
                else None
            )
        return self._consumption[content]

    def _judge(self, content: DeviceContent) -> bool:
        if content.device.binding_conditions and not self._features.binding_conditions:
            return False
        return all(self._matches(content, *each) for each in self._selectors)

    @property
    def has_selectors(self) -> bool:
        """Return whether it has CEL selectors."""
        return bool(self._selectors)

    def _matches(self, content: DeviceContent, owner: str, position: int, selector: DeviceSelector) -> bool:
        expression = selector.cel.expression if selector.cel is not None else ""
        if not is_compiled(expression, list_attributes=self._features.list_attributes):
            self.budget.spend(len(expression) * COMPILING)
        compiled = compile_selector(expression, list_attributes=self._features.list_attributes)
        if compiled.error:
            raise AllocationError(f"{owner}: selector #{position}: CEL compile error: {compiled.error}")
        try:
            return content.matches(compiled, self.budget.spend_on_expression)
        except CelRuntimeError as error:
            raise AllocationError(f"{owner}: selector #{position}: CEL runtime error: {error}") from None


def alternatives(
    claim: ResourceClaim, request: DeviceRequest, features: DeviceFeatures
) -> tuple[ExactDeviceRequest | DeviceSubRequest, ...]:
    """Return the alternatives of a request, in the order of preference; raises AllocationError if it is invalid."""
    where = f"claim {claim.full_name}, request {request.name}"
    if request.first_available and not features.prioritized_list:
        raise AllocationError(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
    if not features.consumable_capacity and not features.stable_only:
        disabled = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        if request.exactly is not None and request.exactly.capacity is not None:
            raise AllocationError(f"{where}: {disabled}")
        for each in request.first_available:
            if each.capacity is not None:
                raise AllocationError(f"claim {claim.full_name}, subrequest {each.name}: {disabled}")
    if request.first_available:
        return request.first_available
    if request.exactly is None:
        # differs (D-014): the reference crashes on a request of an unknown kind; the message is that of PreFilter
        raise AllocationError(f"request {request.name}: unsupported request type")
    return (request.exactly,)


def plan_request(
    claim: ResourceClaim,
    request: DeviceRequest,
    written: ExactDeviceRequest | DeviceSubRequest,
    classes: Mapping[str, DeviceClass],
    features: DeviceFeatures,
) -> RequestPlan:
    """Return the plan of one alternative; raises AllocationError if it is invalid."""
    name = written.name if isinstance(written, DeviceSubRequest) else request.name
    where = f"claim {claim.full_name}, request {name}"
    for i, selector in enumerate(written.selectors):
        if selector.cel is None:
            raise AllocationError(f"{where}, selector #{i}: CEL expression empty (unsupported selector type?)")
    has_admin_access = isinstance(written, ExactDeviceRequest) and written.admin_access is not None
    if has_admin_access and not features.admin_access:
        raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
    class_name = written.device_class_name
    if not class_name:
        raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
    device_class = classes.get(class_name)
    if device_class is None:
        raise AllocationError(
            f"{where}: could not retrieve device class {class_name}: "
            f'deviceclass.resource.k8s.io "{class_name}" not found'
        )
    if written.allocation_mode not in (EXACT_COUNT, ALL):
        raise AllocationError(f"{where}: unsupported count mode {written.allocation_mode}")
    return RequestPlan(claim, request, written, device_class, features)
