"""The resource requests of a pod, summed over containers as the scheduler sums them.

From a pod, and the feature gates that matter (`RequestOptions`), to the integers that the table and the resource
plugins count with (cpu in thousandths, everything else in units).

The reference sums requests in several ways, and the differences are visible in its decisions:

    pod_resources       the resources a pod takes on its node: reported (resized) ones, pod-level ones, overhead
    filter_request      the request that the Fit filter checks: of the spec only, never below zero
    fit_score_request   the request that Fit scores: containers and overhead only, with defaults for missing requests
    balanced_request    the request that BalancedAllocation scores: as pod_resources, without defaults
    scaling_request     the request that resize events and their hints compare
    pod_limits          the limits that metrics show

Invariants: sums are exact quantities and rounded once, at the end; results are immutable.
"""

# upstream: component-helpers/resource/helpers.go, scheduler/framework/types.go (CalculateResource),
# noderesources/fit.go (computePodResourceRequest), noderesources/resource_allocation.go (v1.36)

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from kubesched.api.labels import label_key_problems
from kubesched.api.meta import ResourceList
from kubesched.api.pods import Container, ContainerStatus, Pod
from kubesched.api.quantity import ZERO, Quantity, from_milli_value, from_value, quantity_of
from kubesched.errors import InvalidObjectError

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

DEFAULT_MILLI_CPU: Final = 100
DEFAULT_MEMORY: Final = 200 * 1024 * 1024
"""What scoring assumes for a container that requests no cpu or no memory, so that it is not free of charge."""

Requests = dict[str, Quantity]

_DEFAULTS: Mapping[str, Quantity] = {CPU: from_milli_value(DEFAULT_MILLI_CPU), MEMORY: from_value(DEFAULT_MEMORY)}


class RequestOptions(msgspec.Struct, frozen=True, gc=False):
    """The feature gates that the requests of a pod depend on, with the defaults of v1.36."""

    in_place_pod_vertical_scaling: bool = True
    pod_level_resources: bool = True
    in_place_pod_level_resources_vertical_scaling: bool = True
    dra_node_allocatable_resources: bool = False


class RequestRules(msgspec.Struct, frozen=True, gc=False):
    """One way to sum a pod's requests; see `pod_requests`."""

    status_resources: bool = False
    """Count what the kubelet reports of resized containers, too."""
    pod_level: bool = True
    """Let resources of the pod as a whole replace the sum over its containers."""
    pod_level_status: bool = False
    """Count what the kubelet reports of resized pod-level resources, too (with `status_resources`)."""
    claim_resources: bool = False
    """Add node-allocatable resources that claims stand for."""
    overhead: bool = True
    """Add spec.overhead."""


class Resources(msgspec.Struct, frozen=True, gc=False):
    """Amounts by resource; `scalar` holds extended resources, huge pages and attachable volumes by name."""

    milli_cpu: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    scalar: Mapping[str, int] = {}


class PodResources(Resources, frozen=True, gc=False):
    """The resources that a pod takes on its node, and the amounts that scoring assumes where it requests none."""

    non_zero_milli_cpu: int = 0
    non_zero_memory: int = 0


_BY_DEFAULT = RequestOptions()
_SPECIFIED = RequestRules()
_FIT_SCORE = RequestRules(pod_level=False)


def pod_resources(pod: Pod, options: RequestOptions = _BY_DEFAULT) -> PodResources:
    """Return the resources that the pod takes on its node."""
    rules = _accounting(options, options.dra_node_allocatable_resources)
    requests = pod_requests(pod, rules)
    defaults = _DEFAULTS
    if options.pod_level_resources and has_pod_level_requests(pod):
        # Pod-level requests stand for all containers; only resources that are not requested get a default.
        defaults = {name: amount for name, amount in _DEFAULTS.items() if name not in requests}
    non_zero = pod_requests(pod, rules, defaults) if defaults else requests
    return PodResources(
        milli_cpu=requests.get(CPU, ZERO).milli_value(),
        memory=requests.get(MEMORY, ZERO).value(),
        ephemeral_storage=requests.get(EPHEMERAL_STORAGE, ZERO).value(),
        scalar={name: amount.value() for name, amount in requests.items() if is_scalar_resource(name)},
        non_zero_milli_cpu=non_zero.get(CPU, ZERO).milli_value(),
        non_zero_memory=non_zero.get(MEMORY, ZERO).value(),
    )


def filter_request(pod: Pod, options: RequestOptions = _BY_DEFAULT) -> Resources:
    """Return the request that the Fit filter checks for an incoming pod."""
    return not_negative(pod_requests(pod, RequestRules(pod_level=options.pod_level_resources)))


def fit_score_request(pod: Pod) -> dict[str, int]:
    """Return the request of an incoming pod that Fit scores, by resource name; absent names count zero."""
    return _as_integers(pod_requests(pod, _FIT_SCORE, _DEFAULTS))


def balanced_request(pod: Pod, options: RequestOptions = _BY_DEFAULT) -> dict[str, int]:
    """Return the request of an incoming pod that BalancedAllocation scores, by resource name."""
    return _as_integers(pod_requests(pod, _accounting(options, False)))


def scaling_request(pod: Pod, options: RequestOptions = _BY_DEFAULT) -> Requests:
    """Return the requests that are compared to see whether a pod was scaled down."""
    rules = RequestRules(
        status_resources=options.in_place_pod_vertical_scaling,
        pod_level_status=options.in_place_pod_level_resources_vertical_scaling,
    )
    return pod_requests(pod, rules)


def pod_requests(
    pod: Pod,
    rules: RequestRules = _SPECIFIED,
    defaults: Mapping[str, Quantity] = {},
) -> Requests:
    """Return the pod's requests by resource name; `defaults` are for resources that a container does not request."""
    requests = _container_requests(pod, rules, defaults)
    if rules.claim_resources:
        for claim in pod.status.node_allocatable_resource_claim_statuses:
            _add(requests, _quantities(claim.resources))
    if rules.pod_level and pod.spec.resources is not None and has_pod_level_requests(pod):
        specified = _quantities(pod.spec.resources.requests)
        effective = specified
        if rules.pod_level_status and rules.status_resources and pod.status.resources is not None:
            reported = pod.status.resources.requests
            effective = _effective(pod, specified, reported, pod.status.allocated_resources)
        for name in specified:
            if is_pod_level_resource(name):
                requests[name] = effective.get(name, ZERO)
    if rules.overhead:
        _add(requests, _quantities(pod.spec.overhead))
    return requests


def pod_limits(pod: Pod) -> Requests:
    """Return the pod's limits by resource name, summed as requests are; overhead counts for limited resources."""
    spec = pod.spec
    limited = msgspec.structs.replace(
        spec,
        containers=tuple(map(_asking_for_its_limits, spec.containers)),
        init_containers=tuple(map(_asking_for_its_limits, spec.init_containers)),
    )
    limits = _container_requests(msgspec.structs.replace(pod, spec=limited), _SPECIFIED, {})
    if spec.resources is not None:
        of_pod = _quantities(spec.resources.limits)
        limits |= {name: amount for name, amount in of_pod.items() if is_pod_level_resource(name)}
    for name, amount in _quantities(spec.overhead).items():
        if not limits.get(name, ZERO).is_zero():
            limits[name] += amount
    return limits


def limit_amounts(pod: Pod) -> dict[str, int]:
    """Return the pod's limits as integers: cpu in thousandths, everything else in units."""
    return _as_integers(pod_limits(pod))


def _asking_for_its_limits(container: Container) -> Container:
    resources = msgspec.structs.replace(container.resources, requests=container.resources.limits)
    return msgspec.structs.replace(container, resources=resources)


def not_negative(requests: Requests) -> Resources:
    """Return the requests as amounts, each at least zero."""
    return Resources(
        milli_cpu=max(0, requests.get(CPU, ZERO).milli_value()),
        memory=max(0, requests.get(MEMORY, ZERO).value()),
        ephemeral_storage=max(0, requests.get(EPHEMERAL_STORAGE, ZERO).value()),
        scalar={name: max(0, amount.value()) for name, amount in requests.items() if is_scalar_resource(name)},
    )


def has_pod_level_requests(pod: Pod) -> bool:
    """Return whether the pod has a pod-level request for a resource that supports it."""
    return pod.spec.resources is not None and any(map(is_pod_level_resource, pod.spec.resources.requests))


def is_resize_infeasible(pod: Pod) -> bool:
    """Return whether the kubelet has refused the pod's pending resize for good."""
    for condition in pod.status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def reported_resources(pod: Pod) -> tuple[object, ...]:
    """Return the fields of the status that a pod's requests depend on, an empty tuple if none is set.

    Readiness, restarts and the time stamps of conditions are no such fields.
    """
    status = pod.status
    containers = tuple(each for each in status.container_statuses if each.resources is not None)
    init_containers = tuple(each for each in status.init_container_statuses if each.resources is not None)
    reported = containers, init_containers, status.resources, status.node_allocatable_resource_claim_statuses
    if reported == _NOTHING_REPORTED:
        return ()
    return *reported, status.allocated_resources, is_resize_infeasible(pod)


def report_same_resources(one: Pod, other: Pod) -> bool:
    """Return whether two versions of a pod surely report the same resources; False if they may differ."""
    old, new = one.status, other.status
    return (
        old.container_statuses == new.container_statuses
        and old.init_container_statuses == new.init_container_statuses
        and old.resources == new.resources
        and old.allocated_resources == new.allocated_resources
        and old.node_allocatable_resource_claim_statuses == new.node_allocatable_resource_claim_statuses
        and is_resize_infeasible(one) == is_resize_infeasible(other)
    )


_NOTHING_REPORTED: Final = ((), (), None, ())


def is_pod_level_resource(name: str) -> bool:
    """Return whether a resource may be requested at pod level."""
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


@lru_cache(maxsize=4096)
def is_extended_resource(name: str) -> bool:
    """Return whether a name is that of an extended resource: qualified, and not by Kubernetes itself."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_problems(f"requests.{name}")


def is_scalar_resource(name: str) -> bool:
    """Return whether a resource is counted by name, beside cpu, memory and ephemeral storage."""
    return (
        is_extended_resource(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name
    )


def _accounting(options: RequestOptions, claim_resources: bool) -> RequestRules:
    """Return the rules by which a placed pod is counted."""
    return RequestRules(
        status_resources=options.in_place_pod_vertical_scaling,
        pod_level=options.pod_level_resources,
        pod_level_status=options.in_place_pod_level_resources_vertical_scaling,
        claim_resources=claim_resources,
    )


def _container_requests(pod: Pod, rules: RequestRules, defaults: Mapping[str, Quantity]) -> Requests:
    """Return, by resource, the sum of the containers that run together, or the peak of init containers if larger."""
    spec = pod.spec
    statuses = _statuses(pod) if rules.status_resources else {}
    total: Requests = {}
    for container in spec.containers:
        _add(total, _one_container(pod, container, statuses.get(container.name), defaults))
    sidecars: Requests = {}
    starting: Requests = {}
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            requests = _one_container(pod, container, statuses.get(container.name), defaults)
            _add(total, requests)
            _add(sidecars, requests)
            _raise(starting, sidecars)
        else:
            # A plain init container is not resized; it runs beside the sidecars started before it.
            requests = _one_container(pod, container, None, defaults)
            _add(requests, sidecars)
            _raise(starting, requests)
    _raise(total, starting)
    return total


def _one_container(
    pod: Pod, container: Container, status: ContainerStatus | None, defaults: Mapping[str, Quantity]
) -> Requests:
    """Return the requests of one container, with defaults for resources that it does not request."""
    requests = _quantities(container.resources.requests)
    if status is not None and status.resources is not None:
        requests = _effective(pod, requests, status.resources.requests, status.allocated_resources)
    for name, amount in defaults.items():
        requests.setdefault(name, amount)
    return requests


def _effective(pod: Pod, specified: Requests, actuated: ResourceList, allocated: ResourceList) -> Requests:
    """Return the maximum of specified, actuated and allocated requests; an infeasible resize does not count."""
    effective = {} if is_resize_infeasible(pod) else dict(specified)
    _raise(effective, _quantities(actuated))
    _raise(effective, _quantities(allocated))
    return effective


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """Return the container statuses by container name."""
    statuses: Iterable[ContainerStatus] = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    return {status.name: status for status in statuses}


def _quantities(resources: ResourceList) -> Requests:
    """Return a resource list with its quantities parsed."""
    return {name: quantity_of(raw) for name, raw in resources.items()}


def _add(requests: Requests, more: Requests) -> None:
    """Add more requests to the requests."""
    for name, amount in more.items():
        present = requests.get(name)
        requests[name] = amount if present is None else present + amount


def _raise(requests: Requests, others: Requests) -> None:
    """Raise the requests to the other requests wherever these are larger or new."""
    for name, amount in others.items():
        present = requests.get(name)
        if present is None or amount > present:
            requests[name] = amount


def resource_amounts(amounts: ResourceList) -> dict[str, int]:
    """Return the amounts of a resource list as integers: cpu in thousandths, everything else in units.

    Raises InvalidObjectError for an amount that is no quantity; the message begins with the resource's name.
    """
    if not isinstance(amounts, Mapping):
        raise InvalidObjectError(f"expected amounts by resource, got {amounts!r}")
    found = {}
    for name, amount in amounts.items():
        try:
            found[name] = quantity_of(amount)
        except InvalidObjectError as error:
            raise InvalidObjectError(f"{name}: {error}") from None
    return _as_integers(found)


def _as_integers(requests: Requests) -> dict[str, int]:
    """Return the requests as scoring counts them: cpu in thousandths, everything else in units."""
    return {name: amount.milli_value() if name == CPU else amount.value() for name, amount in requests.items()}
