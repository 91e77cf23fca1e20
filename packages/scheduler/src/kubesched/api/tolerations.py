"""Tolerations of pods for node taints, and of claims for device taints.

From tolerations and taints to whether a taint is tolerated, or to the first taint that is not. Callers apply the
effects. The numeric operators `Lt` and `Gt` of pods need the gate TaintTolerationComparisonOperators; without it, and
on devices always, such a toleration tolerates nothing.
"""

# upstream: api/core/v1/toleration.go, component-helpers/scheduling/corev1/helpers.go,
# dynamic-resource-allocation/resourceclaim/devicetoleration.go (v1.36)

import re
from collections.abc import Callable, Iterable
from typing import Final

from kubesched.api.devices import DeviceTaint, DeviceToleration
from kubesched.api.labels import parse_int64
from kubesched.api.pods import Taint, Toleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"

_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def tolerates(toleration: Toleration, taint: Taint, comparison: bool = False) -> bool:
    """Return whether the toleration tolerates the taint; `comparison` is the gate of the numeric operators."""
    if comparison and toleration.operator in ("Lt", "Gt"):
        return _addresses(toleration, taint) and _compares(toleration, taint)
    return _tolerates_plainly(toleration, taint)


def tolerates_device(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Return whether a claim's toleration tolerates a device's taint."""
    return _tolerates_plainly(toleration, taint)


def tolerated_by_any(taint: Taint, tolerations: Iterable[Toleration], comparison: bool = False) -> bool:
    """Return whether one of the tolerations tolerates the taint."""
    return any(tolerates(toleration, taint, comparison) for toleration in tolerations)


def first_untolerated(
    taints: Iterable[Taint],
    tolerations: tuple[Toleration, ...],
    concerns: Callable[[Taint], bool] = lambda taint: True,
    comparison: bool = False,
) -> Taint | None:
    """Return the first taint for which `concerns` holds and that no toleration tolerates, or None."""
    for taint in taints:
        if concerns(taint) and not tolerated_by_any(taint, tolerations, comparison):
            return taint
    return None


def forbids_scheduling(taint: Taint) -> bool:
    """Return whether the taint keeps pods from being scheduled (and does not merely discourage it)."""
    return taint.effect in (NO_SCHEDULE, NO_EXECUTE)


def _addresses(toleration: Toleration | DeviceToleration, taint: Taint | DeviceTaint) -> bool:
    """Return whether key and effect of the toleration, if set, equal the taint's."""
    return (not toleration.effect or toleration.effect == taint.effect) and (
        not toleration.key or toleration.key == taint.key
    )


def _tolerates_plainly(toleration: Toleration | DeviceToleration, taint: Taint | DeviceTaint) -> bool:
    """Return whether the taint is tolerated by the operators that pods and devices share."""
    if not _addresses(toleration, taint):
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """Return whether the numeric comparison of the taint's value holds; both values have to be canonical integers."""
    bound, actual = _canonical_int64(toleration.value), _canonical_int64(taint.value)
    if bound is None or actual is None:
        return False
    return actual < bound if toleration.operator == "Lt" else actual > bound


def _canonical_int64(text: str) -> int | None:
    """Return the number of a text in canonical form (no plus, no leading zero), or None."""
    return parse_int64(text) if _CANONICAL_INTEGER.fullmatch(text) else None
