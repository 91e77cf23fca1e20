"""Resource amounts of pods: canonical form, sums of containers, QoS class.

From resource lists as clients write them to canonical lists, sums and QoS classes.
"""

# upstream: pkg/apis/core/v1/defaults.go (SetDefaults_ResourceList), pkg/apis/core/helper/qos/qos.go,
# component-helpers/resource/helpers.go (AggregateContainerRequests, AggregateContainerLimits) (v1.36)

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from kubesched.api.meta import RawQuantity
from kubesched.api.pods import Pod
from kubesched.api.quantity import ZERO, InvalidQuantityError, Quantity, quantity_of
from kubesched.api.resources import RequestRules, pod_requests
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import bad_request

_MILLI = -3
_OF_SERVICE = ("cpu", "memory")
_CONTAINERS_ALONE = RequestRules(pod_level=False, overhead=False)


def write_canonically(resources: Document | None) -> None:
    """Rewrite the amounts of a resource list in canonical form, rounded up to thousandths."""
    for name, raw in (resources or {}).items():
        resources[name] = canonical(raw)  # type: ignore[index]


@lru_cache(maxsize=16384)
def canonical(raw: RawQuantity) -> str:
    """Return the canonical text of an amount, rounded up to thousandths. Raises ApiError 400."""
    try:
        amount = quantity_of(raw)
    except InvalidQuantityError as error:
        raise bad_request(f'Pod in version "v1" cannot be handled as a Pod: {error.reason}') from None
    if amount.exponent < _MILLI:
        amount = Quantity(amount.milli_value(), _MILLI, amount.format)
    return str(amount)


def containers_of(spec: Document) -> list[Document]:
    """Return the init containers and the containers of a pod."""
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def resources_of(container: Mapping[str, Any], kind: str) -> Document:
    """Return the requests or the limits of a container."""
    found: Document = (container.get("resources") or {}).get(kind) or {}
    return found


def sum_of_containers(spec: Document, kind: str) -> dict[str, Quantity]:
    """Return the requests, or the limits, of a pod's containers together, without pod-level ones and overhead."""

    def bare(containers: Iterable[Document] | None) -> list[Document]:
        return [
            {
                "name": container.get("name", ""),
                "restartPolicy": container.get("restartPolicy"),
                "resources": {"requests": resources_of(container, kind)},
            }
            for container in containers or ()
        ]

    shape = {"containers": bare(spec.get("containers")), "initContainers": bare(spec.get("initContainers"))}
    return pod_requests(msgspec.convert({"spec": shape}, Pod), _CONTAINERS_ALONE)


def class_of_service(spec: Document) -> str:
    """Return the QoS class of a pod."""
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    guaranteed = True
    whole = spec.get("resources")
    for holder in containers_of(spec) if whole is None else [{"resources": whole}]:
        asked, allowed = resources_of(holder, "requests"), resources_of(holder, "limits")
        _add(requests, asked)
        _add(limits, allowed)
        # pod-level requests without limits are compared as they are; a container without limits is not guaranteed
        if allowed or whole is None:
            guaranteed = guaranteed and all(_positive(allowed, name) for name in _OF_SERVICE)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _add(total: dict[str, Quantity], resources: Document) -> None:
    for name in _OF_SERVICE:
        if _positive(resources, name):
            total[name] = total.get(name, ZERO) + quantity_of(resources[name])


def _positive(resources: Document, name: str) -> bool:
    return name in resources and quantity_of(resources[name]).sign() > 0
