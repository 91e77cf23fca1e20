"""The requests of pods: as texts, and larger.

From a pod to the resources it takes on its node, in Kubernetes' quantities; and to a pod with larger requests.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

import msgspec

from kubesched.api.meta import RawQuantity
from kubesched.api.pods import Container, Pod, ResourceRequirements
from kubesched.api.quantity import milli_value_of, value_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched_answers.amounts import quantity

CPU: Final = "cpu"
MEMORY: Final = "memory"
STORAGE: Final = "ephemeral-storage"
_MEBIBYTE: Final = 1 << 20
NATIVE: Final = (CPU, MEMORY, STORAGE)


def requests_of(pod: PodInfo) -> dict[str, int]:
    """Return the resources that a pod takes on its node: CPU in thousandths, all else in units."""
    resources = pod.digest.resources
    native = (resources.milli_cpu, resources.memory, resources.ephemeral_storage)
    found = dict(zip(NATIVE, native, strict=True)) | dict(resources.scalar)
    return {name: amount for name, amount in found.items() if amount}


def as_texts(amounts: Mapping[str, int]) -> dict[str, str]:
    """Return amounts as quantities."""
    return {name: quantity(name, amount) for name, amount in amounts.items()}


def scaled(pod: Pod, factors: Mapping[str, Fraction]) -> Pod:
    """Return a pod with the requests of some resources scaled; amounts are rounded down."""

    def scale(name: str, amount: RawQuantity) -> RawQuantity:
        factor = factors.get(name)
        if factor is None:
            return amount
        return f"{int(milli_value_of(amount) * factor)}m" if name == CPU else _rounded(int(value_of(amount) * factor))

    return _with_requests(pod, lambda requests: {name: scale(name, amount) for name, amount in requests.items()})


def _rounded(amount: int) -> int:
    """Return an amount of bytes in whole MiB, unless it is below one MiB."""
    return amount - amount % _MEBIBYTE if amount > _MEBIBYTE else amount


def with_request(pod: Pod, resource: str, amount: int) -> Pod:
    """Return a pod whose first container requests an amount of a resource that no other container requests."""
    first, *others = pod.spec.containers
    text: RawQuantity = f"{amount}m" if resource == CPU else amount
    resources = msgspec.structs.replace(first.resources, requests={**first.resources.requests, resource: text})
    containers = (msgspec.structs.replace(first, resources=resources), *others)
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, containers=containers))


def _with_requests(pod: Pod, change: Callable[[Mapping[str, RawQuantity]], dict[str, RawQuantity]]) -> Pod:
    def changed(resources: ResourceRequirements) -> ResourceRequirements:
        return msgspec.structs.replace(resources, requests=change(resources.requests))

    def each(containers: tuple[Container, ...]) -> tuple[Container, ...]:
        return tuple(msgspec.structs.replace(one, resources=changed(one.resources)) for one in containers)

    spec = pod.spec
    spec = msgspec.structs.replace(
        spec,
        containers=each(spec.containers),
        init_containers=each(spec.init_containers),
        resources=None if spec.resources is None else changed(spec.resources),
    )
    return msgspec.structs.replace(pod, spec=spec)
