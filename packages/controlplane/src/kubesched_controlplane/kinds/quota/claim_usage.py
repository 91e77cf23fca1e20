"""The usage of quotas by claims to devices.

From a ResourceClaim to amounts: `count/resourceclaims.resource.k8s.io`, and for each device class the most devices that
may be allocated, under the class's name and under the extended resources that stand for it.
"""

# upstream: pkg/quota/v1/evaluator/core/resource_claims.go (v1.36)

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final

from kubesched.api.quantity import Quantity, from_value
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.quota.usage import IMPLICIT, REQUESTS, Measure, Usage

CLAIMS: Final = "resourceclaims.resource.k8s.io"
_COUNT: Final = f"count/{CLAIMS}"
_DEVICES: Final = ".deviceclass.resource.k8s.io/devices"
# how many devices one claim may be allocated
_MOST_DEVICES: Final = 32

_FOR_EXTENDED: Final = "resource.kubernetes.io/extended-resource-claim"

# the extended resource of a device class, by the name of the class
ExtendedResources = Mapping[str, str]


def no_owner(claim: Document) -> Usage:
    """Return the usage that is charged for the pod of a claim, if the claim has none."""
    return {}


def claim_measure(extended: ExtendedResources, charged: Callable[[Document], Usage] = no_owner) -> Measure:
    """Return how quotas measure claims, where some device classes are also requested as extended resources.

    `charged` returns the usage of the pod that owns a claim to extended resources.
    """
    names = {*extended.values(), *(IMPLICIT + name for name in extended)}
    also = {REQUESTS + name for name in names}

    def concerns(name: str) -> bool:
        return name == _COUNT or name.endswith(_DEVICES) or name in also

    def usage(claim: Document, now: datetime) -> Usage:
        total: dict[str, Quantity] = {}
        for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
            for name, count in _most_by_class(request).items():
                total[name] = total.get(name, from_value(0)) + from_value(count)
        found = {_COUNT: from_value(1), **{name + _DEVICES: amount for name, amount in total.items()}}
        meta = claim["metadata"]
        is_for_pod = (meta.get("annotations") or {}).get(_FOR_EXTENDED) == "true"
        already = charged(claim) if is_for_pod else {}
        for name, amount in total.items():
            for resource in (IMPLICIT + name, extended.get(name)):
                if resource and (rest := amount - already.get(REQUESTS + resource, from_value(0))).sign() > 0:
                    found[REQUESTS + resource] = rest
        return found

    return Measure(concerns, usage, changes=lambda new, old: True)


def _most_by_class(request: Document) -> dict[str, int]:
    """Return the most devices of each class that a request may be allocated: one of its alternatives is."""
    found: dict[str, int] = {}
    for each in _alternatives(request):
        name = each.get("deviceClassName") or ""
        found[name] = max(found.get(name, 0), _devices(each))
    return found


def _alternatives(request: Document) -> Iterator[Document]:
    yield from request.get("firstAvailable") or ([request["exactly"]] if request.get("exactly") else ())


def _devices(request: Document) -> int:
    mode = request.get("allocationMode") or "ExactCount"
    if mode == "All":
        return _MOST_DEVICES
    return int(request.get("count") or 1) if mode == "ExactCount" else 0
