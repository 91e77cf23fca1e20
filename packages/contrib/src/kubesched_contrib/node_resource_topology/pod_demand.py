"""A pod's demand on NUMA zones: by container, as a whole, and its exclusive part.

From a pod's spec to a `PodDemand`, computed once for each template. Amounts are CPU in thousandths, others in units.
"""

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from kubesched import PodInfo, resource_amounts
from kubesched_contrib.node_resource_topology.topology import LARGEST

CPU, MEMORY = "cpu", "memory"
_HUGE_PAGES = "hugepages-"
_QOS_RESOURCES = (CPU, MEMORY)
Amounts = tuple[tuple[str, int], ...]


class ContainerKind(IntEnum):
    """The lifetime of a container: before the others, from then on beside them, or as one of them."""

    INIT = 0
    SIDECAR = 1
    APP = 2


class ContainerDemand(NamedTuple):
    """The requests of a container, zeros included."""

    kind: ContainerKind
    requests: Amounts


class PodDemand(NamedTuple):
    """The requests of a pod's containers in the order in which the kubelet admits them, and those of the whole pod."""

    guaranteed: bool
    # whether the topology matters: the pod is not BestEffort, or it asks for devices
    concerned: bool
    containers: tuple[ContainerDemand, ...]
    whole: Amounts


def demand_of(pod: PodInfo) -> PodDemand:
    """Return a pod's demand on NUMA zones."""
    return pod.derive(_demand)


def exclusive_amounts(pod: PodInfo) -> Mapping[str, int]:
    """Return the exclusive resources of a running pod: devices, and if it is Guaranteed, memory and whole CPUs."""
    return pod.derive(_exclusive)


def is_native(resource: str) -> bool:
    """Return whether a resource is Kubernetes' own: without a domain, or with that of kubernetes.io."""
    domain, slash, _ = resource.partition("/")
    return not slash or domain == "kubernetes.io" or domain.endswith(".kubernetes.io")


def is_numa_affine(resource: str) -> bool:
    """Return whether a resource must belong to NUMA zones; devices may."""
    return resource in _QOS_RESOURCES or resource.startswith(_HUGE_PAGES)


def is_host_level(resource: str) -> bool:
    """Return whether a resource may belong to no NUMA zone."""
    return resource in ("ephemeral-storage", "storage") or not is_native(resource)


def _demand(pod: PodInfo) -> PodDemand:
    inits = [
        ContainerDemand(
            ContainerKind.SIDECAR if each.restart_policy == "Always" else ContainerKind.INIT, _requests(each)
        )
        for each in pod.spec.init_containers
    ]
    apps = [ContainerDemand(ContainerKind.APP, _requests(each)) for each in pod.spec.containers]
    containers = (*inits, *apps)
    names = sorted({name for container in containers for name, _ in container.requests})
    devices = any(not is_native(name) for name in names)
    qos = _qos_class(pod)
    return PodDemand(
        qos == "Guaranteed",
        qos != "BestEffort" or devices,
        containers,
        tuple((name, _cut(pod.request_of(name))) for name in names),
    )


def _exclusive(pod: PodInfo) -> Mapping[str, int]:
    demand = demand_of(pod)
    lasting: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for container in demand.containers:
        amounts = Counter({name: amount for name, amount in container.requests if _is_exclusive(demand, name, amount)})
        if container.kind is ContainerKind.INIT:
            most |= lasting + amounts
        else:
            lasting += amounts
    return {name: _cut(amount) for name, amount in (most | lasting).items()}


def _is_exclusive(demand: PodDemand, name: str, amount: int) -> bool:
    if not is_native(name):
        return amount > 0
    return demand.guaranteed and is_numa_affine(name) and amount > 0 and (name != CPU or amount % 1000 == 0)


def _requests(container: Any) -> Amounts:
    """Return the requests of a container; without requests its limits, like the API server's defaults."""
    resources = container.resources
    amounts = resource_amounts({**resources.limits, **resources.requests})
    return tuple((name, _cut(amount)) for name, amount in sorted(amounts.items()))


def _cut(amount: int) -> int:
    # an amount larger than any zone stays larger
    return max(0, min(amount, 2 * LARGEST))


# upstream: apis/core/v1/helper/qos/qos.go, ComputePodQOS (v1.36)
def _qos_class(pod: PodInfo) -> str:
    """Return the quality-of-service class, by the CPU and memory of the pod or of all its containers."""
    whole = pod.spec.resources
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    owners = [whole] if whole is not None else [each.resources for each in containers]
    requests: Counter[str] = Counter()
    limits: Counter[str] = Counter()
    limited = True
    for owner in owners:
        limit = _cpu_and_memory(owner.limits)
        limited = limited and len(limit) == len(_QOS_RESOURCES)
        limits.update(limit)
        requests.update(_cpu_and_memory({**owner.limits, **owner.requests}))
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if limited and requests == limits else "Burstable"


def _cpu_and_memory(amounts: Mapping[str, Any]) -> dict[str, int]:
    """Return the positive amounts of CPU and memory in a resource list."""
    found = resource_amounts({name: amounts[name] for name in _QOS_RESOURCES if name in amounts})
    return {name: amount for name, amount in found.items() if amount > 0}
