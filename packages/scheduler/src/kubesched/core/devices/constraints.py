"""Constraints on the devices of a claim: matchAttribute and distinctAttribute.

The search adds every device that it is about to allocate (`add`), and removes it when it backtracks (`remove`). A
constraint remembers only the values that the reference remembers, whose oddities decide allocations.
"""

# upstream: structured/internal/incubating/{allocator_incubating,constraint}.go (v1.36)

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from kubesched.api.devices import DeviceAttribute, DeviceConstraint, ResourceClaim
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.slices import OfferedDevice

Value = tuple[str, str | int | bool]


class Constraint(ABC):
    """A condition on one attribute of the devices of some requests; of all requests if none is named."""

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._attribute = attribute
        self._count = 0

    def add(self, request: str, alternative: str, offered: OfferedDevice) -> bool:
        """Return whether a device may be added, and count it if so."""
        if not self._applies(request, alternative):
            return True
        attribute = lookup(offered, self._attribute)
        if attribute is None or not (self._count == 0 or self._fits(attribute)):
            return False
        self._remember(request, attribute)
        self._count += 1
        return True

    def remove(self, request: str, alternative: str) -> None:
        """Remove the device that was added last for a request."""
        if self._applies(request, alternative):
            self._forget(request)
            self._count -= 1

    def _applies(self, request: str, alternative: str) -> bool:
        named = self._requests
        return not named or request in named or (bool(alternative) and f"{request}/{alternative}" in named)

    @abstractmethod
    def _fits(self, attribute: DeviceAttribute) -> bool:
        """Return whether an attribute is compatible with the devices so far."""

    @abstractmethod
    def _remember(self, request: str, attribute: DeviceAttribute) -> None:
        """Store the value that later devices are compared with."""

    @abstractmethod
    def _forget(self, request: str) -> None:
        """Drop the value that was stored for a request."""


class MatchAttribute(Constraint):
    """All devices have the value of the first one."""

    _first: DeviceAttribute

    def _fits(self, attribute: DeviceAttribute) -> bool:
        value = single_value(attribute)
        return value is not None and value == _same_kind(self._first, value)

    def _remember(self, request: str, attribute: DeviceAttribute) -> None:
        if self._count == 0:
            self._first = attribute

    def _forget(self, request: str) -> None:
        pass


class DistinctAttribute(Constraint):
    """A device has another value than the last one of each request."""

    def __init__(self, requests: Sequence[str], attribute: str) -> None:
        super().__init__(requests, attribute)
        self._last: dict[str, DeviceAttribute] = {}

    def _fits(self, attribute: DeviceAttribute) -> bool:
        if not self._last:
            return True
        value = single_value(attribute)
        return value is not None and all(value != _same_kind(other, value) for other in self._last.values())

    def _remember(self, request: str, attribute: DeviceAttribute) -> None:
        self._last[request] = attribute

    def _forget(self, request: str) -> None:
        # the value before is not restored: from then on the request's earlier devices are not compared with
        self._last.pop(request, None)


def constraints_of(claim: ResourceClaim, features: DeviceFeatures) -> list[Constraint]:
    """Return new constraints of a claim; raises AllocationError if one is of an unknown kind."""
    return [_constraint(claim, i, each, features) for i, each in enumerate(claim.spec.devices.constraints)]


def _constraint(claim: ResourceClaim, position: int, written: DeviceConstraint, features: DeviceFeatures) -> Constraint:
    if written.match_attribute is not None:
        return MatchAttribute(written.requests, written.match_attribute)
    if written.distinct_attribute is not None and not features.stable_only:
        return DistinctAttribute(written.requests, written.distinct_attribute)
    raise AllocationError(
        f"claim {claim.full_name}, constraint #{position}: empty constraint (unsupported constraint type?)"
    )


def lookup(offered: OfferedDevice, name: str) -> DeviceAttribute | None:
    """Return an attribute by its full name; a driver's own attributes may have no domain."""
    attributes = offered.device.attributes
    found = attributes.get(name)
    if found is not None:
        return found
    domain, slash, identifier = name.partition("/")
    return attributes.get(identifier) if slash and domain == offered.id.driver else None


def single_value(attribute: DeviceAttribute) -> Value | None:
    """Return the kind and the value of an attribute; None for lists."""
    if attribute.string_value is not None:
        return "string", attribute.string_value
    if attribute.int_value is not None:
        return "int", attribute.int_value
    if attribute.bool_value is not None:
        return "bool", attribute.bool_value
    if attribute.version_value is not None:
        return "version", attribute.version_value
    return None


def _same_kind(attribute: DeviceAttribute, like: Value) -> Value | None:
    """Return the value of the same kind that an attribute has, if it has one."""
    value = getattr(attribute, f"{like[0]}_value")
    return None if value is None else (like[0], value)
