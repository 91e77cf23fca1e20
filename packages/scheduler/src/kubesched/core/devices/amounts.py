"""Quantities of counters and capacities as integers, and the consumption of capacities.

From quantities and request policies to billionths, in which every quantity is a whole number, so that sums and
comparisons are exact and cheap.
"""

# upstream: dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go (v1.36)

from __future__ import annotations

from collections.abc import Mapping

from kubesched.api.devices import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from kubesched.api.meta import RawQuantity
from kubesched.api.quantity import BINARY_SI, Quantity, from_value, quantity_of

Amounts = dict[str, int]
"""Name -> billionths."""


def nanos_of(raw: RawQuantity) -> int:
    """Return a raw quantity in billionths."""
    return in_nanos(quantity_of(raw))


def in_nanos(quantity: Quantity) -> int:
    """Return a quantity in billionths."""
    # the parser rounds up to billionths
    return int(quantity.unscaled * 10 ** (quantity.exponent + 9))


def consumption(
    requests: Mapping[str, RawQuantity], capacities: Mapping[str, DeviceCapacity]
) -> dict[str, Quantity] | None:
    """Return how much of each of a device's capacities a request consumes; None if the device does not match.

    That is the case if it requests a capacity that the device does not have, or an amount that the policy forbids.
    """
    if any(name not in capacities for name in requests):
        return None
    consumed = {}
    for name, capacity in capacities.items():
        requested = requests.get(name)
        amount = _consumed(None if requested is None else quantity_of(requested), capacity)
        if _violates(amount, capacity.request_policy):
            return None
        consumed[name] = amount
    return consumed


def _consumed(requested: Quantity | None, capacity: DeviceCapacity) -> Quantity:
    """Return the consumption of one capacity: the policy's default, or the request rounded up by the policy."""
    policy = capacity.request_policy
    if requested is None:
        default = policy.default if policy is not None else None
        return quantity_of(capacity.value if default is None else default)
    if policy is None:
        return requested
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _in_range(requested, policy.valid_range, quantity_of(policy.valid_range.min))
    for raw in policy.valid_values:
        if requested <= (valid := quantity_of(raw)):
            return valid
    return requested


def _in_range(requested: Quantity, allowed: CapacityRequestPolicyRange, low: Quantity) -> Quantity:
    """Return the request raised to the minimum and to the next step."""
    if requested < low:
        return low
    step = _step(allowed)
    if not step:
        return requested
    above = requested.value() - low.value()
    return from_value(low.value() + step * -(-above // step), BINARY_SI)


def _step(allowed: CapacityRequestPolicyRange) -> int:
    # differs (D-014): the reference divides by a step of zero and crashes; here a step of zero is no step
    return quantity_of(allowed.step).value() if allowed.step is not None else 0


def _violates(amount: Quantity, policy: CapacityRequestPolicy | None) -> bool:
    """Return whether a policy forbids an amount."""
    if policy is None or (policy.default is not None and _same_form(amount, quantity_of(policy.default))):
        return False
    if policy.valid_range is not None:
        return _outside(amount, policy.valid_range)
    return bool(policy.valid_values) and all(amount != quantity_of(raw) for raw in policy.valid_values)


def _outside(amount: Quantity, allowed: CapacityRequestPolicyRange) -> bool:
    """Return whether an amount is above the maximum or between two steps."""
    if allowed.max is not None and amount > quantity_of(allowed.max):
        return True
    step = _step(allowed)
    low = quantity_of(allowed.min).value() if allowed.min is not None else 0
    return bool(step) and (amount.value() - low) % step != 0


def _same_form(one: Quantity, other: Quantity) -> bool:
    """Return whether two quantities are written alike; the reference compares the default like this."""
    return (
        not (one.big or other.big)
        and one.unscaled == other.unscaled
        and one.exponent == other.exponent
        and one.format == other.format
        and one.text == other.text
    )
