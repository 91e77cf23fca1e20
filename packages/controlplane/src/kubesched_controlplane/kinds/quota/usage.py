"""The usage of quotas by objects, and the scopes of quotas.

From a document to amounts by the resource names of quotas: `pods`, `requests.cpu`, `count/jobs.batch`. A resource has a
`Measure`; by default its objects are only counted.
"""

# upstream: apiserver/pkg/quota/v1/generic/evaluator.go, pkg/quota/v1/evaluator/core/{pods,services,
# persistent_volume_claims,registry}.go (v1.36)

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from kubesched.api.labels import DOES_NOT_EXIST, EXISTS, IN, NOT_IN, Requirement, Selector
from kubesched.api.pods import Pod
from kubesched.api.quantity import Quantity, from_value, quantity_of
from kubesched.api.resources import RequestRules, is_extended_resource, pod_limits, pod_requests
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.kinds.pod.amounts import class_of_service, containers_of, resources_of
from kubesched_controlplane.kinds.pod.phases import TERMINAL
from kubesched_controlplane.kinds.pod.requirements import HUGE_PAGES, is_native

Usage = Mapping[str, Quantity]
# a scope of a quota: name, operator, values
Scope = tuple[str, str, tuple[str, ...]]

TERMINATING, NOT_TERMINATING = "Terminating", "NotTerminating"
BEST_EFFORT, NOT_BEST_EFFORT = "BestEffort", "NotBestEffort"
PRIORITY_CLASS, CROSS_NAMESPACE = "PriorityClass", "CrossNamespacePodAffinity"
VOLUME_ATTRIBUTES_CLASS = "VolumeAttributesClass"
_ONE = from_value(1)
_NOTHING = from_value(0)
REQUESTS: Final = "requests."
# before the name of a device class: the extended resource that stands for the class
IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
# a pod that is resized counts with what its kubelet reports, too
_WITH_STATUS: Final = RequestRules(status_resources=True)
_COMPUTED = ("cpu", "memory", "ephemeral-storage")
_OF_PODS = frozenset(
    ("count/pods", "pods", *_COMPUTED, *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTED))
)
# a quota of these requires every container to specify them
_EXPLICIT = frozenset(name for name in _OF_PODS if name.endswith(("cpu", "memory")))
_OF_SERVICES = ("count/services", "services", "services.nodeports", "services.loadbalancers")
_OF_CLAIMS = ("persistentvolumeclaims", "requests.storage")
_OF_CLASS: Final = ".storageclass.storage.k8s.io/"
# resources that are also counted under their plain names
_OLD_NAMES = ("replicationcontrollers", "resourcequotas", "secrets", "configmaps")
_OPERATORS = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}


class Measure(msgspec.Struct, frozen=True):
    """How quotas measure the objects of one resource."""

    # whether a resource name of a quota concerns the objects
    concerns: Callable[[str], bool]
    usage: Callable[[Document, datetime], Usage]
    # whether an object is in a scope
    fits: Callable[[Document, Scope], bool] = lambda document, scope: False
    # what an object must specify for a quota of these names but does not, an empty text for nothing
    missing: Callable[[Document, Collection[str]], str] = lambda document, names: ""
    # whether a change of an object may change its usage
    changes: Callable[[Document, Document], bool] = lambda new, old: False


def measure_of(resource: Resource) -> Measure:
    """Return the measure of a resource."""
    found = _MEASURES.get(resource.prefix)
    if found is None:
        names = [f"count/{resource.qualified}"]
        if resource.prefix in _OLD_NAMES:
            names.append(resource.prefix)
        counted = dict.fromkeys(names, _ONE)
        found = _MEASURES[resource.prefix] = Measure(counted.__contains__, lambda document, now: counted)
    return found


def scopes_of(quota: Document) -> tuple[Scope, ...]:
    """Return the scopes of a quota; an object must be in all of them."""
    spec = quota.get("spec") or {}
    plain = [(scope, "Exists", ()) for scope in spec.get("scopes") or ()]
    chosen = [
        (each.get("scopeName") or "", each.get("operator") or "", tuple(each.get("values") or ()))
        for each in (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    ]
    return (*plain, *chosen)


# -- pods


def _concerns_pods(name: str) -> bool:
    if name in _OF_PODS or name.startswith((HUGE_PAGES, REQUESTS + HUGE_PAGES)):
        return True
    return name.startswith(REQUESTS) and (not is_native(name) or name.startswith(REQUESTS + IMPLICIT))


def pod_usage(pod: Document, now: datetime) -> Usage:
    """Return the amounts that a pod is charged with."""
    if is_terminal(pod, now):
        return {"count/pods": _ONE}
    spec = pod["spec"]
    bare = msgspec.convert({"spec": spec, "status": pod.get("status") or {}}, Pod)
    return {"count/pods": _ONE, **_compute_usage(pod_requests(bare, _WITH_STATUS), pod_limits(bare))}


def is_terminal(pod: Document, now: datetime) -> bool:
    """Return whether a pod is terminal, or past its deletion deadline, so that it is not charged."""
    meta = pod["metadata"]
    if (pod.get("status") or {}).get("phase") in TERMINAL:
        return True
    grace = meta.get("deletionGracePeriodSeconds")
    if not meta.get("deletionTimestamp") or grace is None:
        return False
    return now > moment(meta["deletionTimestamp"]) + timedelta(seconds=min(grace, 2**31))


def _compute_usage(requests: Usage, limits: Usage) -> dict[str, Quantity]:
    used = {"pods": _ONE}
    for name in _COMPUTED:
        if name in requests:
            used[name] = used[f"requests.{name}"] = requests[name]
        if name in limits:
            used[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGE_PAGES):
            used[name] = used[REQUESTS + name] = amount
        elif is_extended_resource(name) or name.startswith(IMPLICIT):
            used[REQUESTS + name] = amount
    return used


def _missing_in_pod(pod: Document, names: Collection[str]) -> str:
    """Return which containers lack requests or limits that quotas require, an empty text for none."""
    spec = pod["spec"]
    whole = spec.get("resources") or {}
    if whole.get("requests") or whole.get("limits"):
        return ""
    silent: dict[str, set[str]] = {}
    for container in containers_of(spec):
        requests, limits = resources_of(container, "requests"), resources_of(container, "limits")
        for name in _EXPLICIT.intersection(names):
            kind, _, resource = name.rpartition(".")
            if resource not in (limits if kind == "limits" else requests):
                silent.setdefault(name, set()).add(container.get("name") or "")
    texts = [f"{name} for: {','.join(sorted(containers))}" for name, containers in sorted(silent.items())]
    return f"must specify {'; '.join(texts)}" if texts else ""


def _pod_fits(pod: Document, scope: Scope) -> bool:
    name, operator, values = scope
    spec = pod["spec"]
    if name in (TERMINATING, NOT_TERMINATING):
        return _ends(pod) is (name == TERMINATING)
    if name in (BEST_EFFORT, NOT_BEST_EFFORT):
        return (class_of_service(spec) == "BestEffort") is (name == BEST_EFFORT)
    if name == PRIORITY_CLASS:
        return _chosen(name, operator, values, (spec.get("priorityClassName"),))
    return name == CROSS_NAMESPACE and any(
        term.get("namespaces") or term.get("namespaceSelector") is not None for term in _affinity_terms(spec)
    )


def _ends(pod: Document) -> bool:
    return (pod["spec"].get("activeDeadlineSeconds") or -1) >= 0


def _charge_changes(new: Document, old: Document) -> bool:
    """Return whether the usage of a changed pod may change: by its active deadline, or by a resize."""
    return _ends(new) is not _ends(old) or _resources(new) != _resources(old)


def _resources(pod: Document) -> list[Document | None]:
    spec = pod["spec"]
    return [spec.get("resources"), *(container.get("resources") for container in containers_of(spec))]


def _affinity_terms(spec: Document) -> list[Document]:
    affinity = spec.get("affinity") or {}
    terms: list[Document] = []
    for kind in ("podAffinity", "podAntiAffinity"):
        found = affinity.get(kind) or {}
        terms += found.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [
            term.get("podAffinityTerm") or {}
            for term in found.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ]
    return terms


def _chosen(name: str, operator: str, values: tuple[str, ...], given: Sequence[str | None]) -> bool:
    """Return whether a scope selects one of an object's classes; None stands for no class."""
    if operator not in _OPERATORS:
        return False
    selector = Selector((Requirement(name, _OPERATORS[operator], values),))
    return any(selector.matches({name: each} if each else {}) for each in given)


# -- services and claims


def _service_usage(service: Document, now: datetime) -> Usage:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    balanced = spec.get("type") == "LoadBalancer"
    node_ports = len(ports) if balanced or spec.get("type") == "NodePort" else 0
    if balanced and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(1 for port in ports if port.get("nodePort"))
    return {
        "count/services": _ONE,
        "services": _ONE,
        "services.nodeports": from_value(node_ports),
        "services.loadbalancers": _ONE if balanced else _NOTHING,
    }


def _concerns_claims(name: str) -> bool:
    return name == "count/persistentvolumeclaims" or name in _OF_CLAIMS or name.endswith(_OF_CLAIM_CLASSES)


_OF_CLAIM_CLASSES = tuple(f"{_OF_CLASS}{name}" for name in _OF_CLAIMS)


def _claim_usage(claim: Document, now: datetime) -> Usage:
    spec, annotations = claim["spec"], claim["metadata"].get("annotations") or {}
    used = {"count/persistentvolumeclaims": _ONE, "persistentvolumeclaims": _ONE}
    class_name = annotations.get("volume.beta.kubernetes.io/storage-class") or spec.get("storageClassName")
    if class_name:
        used[f"{class_name}{_OF_CLASS}persistentvolumeclaims"] = _ONE
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is not None:
        asked = quantity_of(size)
        # quotas count whole bytes
        storage = asked if asked.exponent >= 0 else Quantity(asked.value(), 0, asked.format)
        used["requests.storage"] = storage
        if class_name:
            used[f"{class_name}{_OF_CLASS}requests.storage"] = storage
    return used


def _claim_fits(claim: Document, scope: Scope) -> bool:
    name, operator, values = scope
    if name != VOLUME_ATTRIBUTES_CLASS:
        return False
    status = claim.get("status") or {}
    named = {
        claim["spec"].get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return _chosen(name, operator, values, sorted(filter(None, named)) or (None,))


_MEASURES: dict[str, Measure] = {
    "pods": Measure(_concerns_pods, pod_usage, _pod_fits, _missing_in_pod, _charge_changes),
    "services": Measure(_OF_SERVICES.__contains__, _service_usage, changes=lambda new, old: True),
    "persistentvolumeclaims": Measure(_concerns_claims, _claim_usage, _claim_fits, changes=lambda new, old: True),
}
