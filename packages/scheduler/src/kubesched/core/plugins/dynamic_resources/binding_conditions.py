"""Binding conditions: whether the devices of a claim are ready to be bound to.

From the conditions that drivers report in a claim's status to ready, not yet, failed, or too late.
"""

# upstream: dynamicresources.go, isClaimReadyForBinding, isClaimTimeout, hasBindingConditions (v1.36)

from datetime import datetime, timedelta

from kubesched.api.devices import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim
from kubesched.api.meta import Condition
from kubesched.errors import KubeschedError


class BindingFailedError(KubeschedError):
    """The driver reports that binding a device failed."""


def has_binding_conditions(claim: ResourceClaim) -> bool:
    """Return whether a claim has devices with binding conditions."""
    allocation = claim.status.allocation
    return allocation is not None and any(result.binding_conditions for result in allocation.devices.results)


def is_ready(claim: ResourceClaim) -> bool:
    """Return whether all binding conditions are true; raises BindingFailedError if a failure condition is."""
    allocation = claim.status.allocation
    if allocation is None:
        return False
    for result in allocation.devices.results:
        if not result.binding_conditions:
            continue
        status = _status_of(claim, result)
        if status is None:
            return False
        for failure in result.binding_failure_conditions:
            condition = _condition(status, failure)
            if condition is not None and condition.status == "True":
                raise BindingFailedError(
                    f"device binding failed: claim={claim.name}, reason={condition.reason}, "
                    f'message="{condition.message}"'
                )
        for wanted in result.binding_conditions:
            condition = _condition(status, wanted)
            if condition is None or condition.status != "True":
                return False
    return True


def is_too_late(claim: ResourceClaim, now: datetime, timeout: timedelta) -> bool:
    """Return whether the binding conditions of a claim have timed out."""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None:
        return False
    return has_binding_conditions(claim) and now - allocation.allocation_timestamp > timeout


def is_broken(claim: ResourceClaim, now: datetime, timeout: timedelta) -> bool:
    """Return whether an allocation should be released: binding failed or timed out."""
    try:
        return not is_ready(claim) and is_too_late(claim, now, timeout)
    except BindingFailedError:
        return True


def _status_of(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    wanted = result.driver, result.pool, result.device
    return next((each for each in claim.status.devices if (each.driver, each.pool, each.device) == wanted), None)


def _condition(status: AllocatedDeviceStatus, kind: str) -> Condition | None:
    return next((condition for condition in status.conditions if condition.type == kind), None)
