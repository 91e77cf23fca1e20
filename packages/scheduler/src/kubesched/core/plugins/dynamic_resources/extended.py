"""Extended resources that are backed by devices: the claim that the scheduler creates for them.

From a pod's extended resources and a node's allocatable ones to device requests, and to the mapping by which the
kubelet finds each container's devices. A node's own device plugin comes first: the claim requests only resources that
the node does not offer, so every such set of resources has a variant of the claim.
"""

# upstream: dynamicresources/extendeddynamicresources.go (v1.36)

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from kubesched.api.devices import DeviceClaim, DeviceRequest, ExactDeviceRequest, ResourceClaim, ResourceClaimSpec
from kubesched.api.meta import ObjectMeta, OwnerReference
from kubesched.api.pods import Container, ContainerExtendedResourceRequest, PodSpec
from kubesched.api.quantity import quantity_of
from kubesched.api.resources import is_extended_resource
from kubesched.core.cluster.devices.device_classes import IMPLICIT_PREFIX, DeviceClasses
from kubesched.core.cluster.devices.resource_claims import EXTENDED_RESOURCE_CLAIM, ResourceClaims
from kubesched.core.cluster.pod_info import PodInfo

# The name of the extended resource claim until it is written; no claim can have this name.
EXTENDED_RESOURCE_CLAIM_NAME: Final = "<extended-resources>"
GENERATED_NAME: Final = "-extended-resources-"


def may_be_devices(resource: str) -> bool:
    """Return whether a resource may be backed by devices."""
    return is_extended_resource(resource) or resource.startswith(IMPLICIT_PREFIX)


def extended_resources(pod: PodInfo) -> Mapping[str, int]:
    """Return the requested resources of a pod that may be backed by devices."""
    return {name: amount for name, amount in pod.resources.scalar.items() if amount and may_be_devices(name)}


def extended_resource_claim_of(pod: PodInfo, claims: ResourceClaims) -> ResourceClaim:
    """Return the claim of an earlier attempt, or a new one without requests."""
    for claim in claims.extended_resource_claims_of(pod.uid):
        if claim.namespace == pod.namespace and any(
            owner.controller and (owner.name, owner.uid) == (pod.name, pod.uid)
            for owner in claim.metadata.owner_references
        ):
            return claim
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    return ResourceClaim(
        metadata=ObjectMeta(
            namespace=pod.namespace,
            name=EXTENDED_RESOURCE_CLAIM_NAME,
            # not the UID of an object, but unique; the allocation is in flight under it
            uid=f"{EXTENDED_RESOURCE_CLAIM_NAME}/{pod.uid}",
            generate_name=pod.name + GENERATED_NAME,
            owner_references=(owner,),
            annotations={EXTENDED_RESOURCE_CLAIM: "true"},
        )
    )


class Variant(NamedTuple):
    """The extended resource claim for nodes that do not offer certain resources."""

    claim: ResourceClaim
    mappings: tuple[ContainerExtendedResourceRequest, ...]


def variant(claim: ResourceClaim, spec: PodSpec, resources: Sequence[str], classes: DeviceClasses) -> Variant:
    """Return the claim with requests for some of the pod's resources, and the mapping of containers to requests."""
    containers = (*spec.init_containers, *spec.containers)
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    for resource in sorted(resources):
        device_class = classes.of_resource(resource)
        if device_class is not None:
            planner = _Planner(containers, len(spec.init_containers), resource, device_class.metadata.name)
            planner.plan()
            requests += planner.requests
            mappings += planner.mappings
    requests.sort(key=lambda request: request.name)
    asking = ResourceClaimSpec(devices=DeviceClaim(requests=tuple(requests)))
    return Variant(msgspec.structs.replace(claim, spec=asking), tuple(mappings))


class _Planner:
    """Plans the requests for one resource.

    Containers that run at the same time each get a separate request. Init containers run one after the other, before
    all containers: they reuse the devices of later containers, and share the devices that they need beyond these.
    """

    def __init__(self, containers: Sequence[Container], init_count: int, resource: str, class_name: str) -> None:
        self._containers = containers
        self._init_count = init_count
        self._resource = resource
        self._class_name = class_name
        self.requests: list[DeviceRequest] = []
        self.mappings: list[ContainerExtendedResourceRequest] = []

    def plan(self) -> None:
        """Fill in the requests and the mappings."""
        numbered = list(enumerate(self._containers))
        short_lived = [(i, c) for i, c in numbered if i < self._init_count and c.restart_policy != "Always"]
        passing = {i for i, _ in short_lived}
        lasting: dict[int, DeviceRequest] = {}
        for i, container in numbered:
            if i not in passing:
                request, mapped = self._ask(i, container, ())
                self.mappings += mapped
                if request is not None:
                    lasting[i] = request
        own: list[DeviceRequest] = []
        shared_mappings: list[ContainerExtendedResourceRequest] = []
        for i, container in short_lived:
            request, mapped = self._ask(i, container, [r for j, r in lasting.items() if j >= i])
            shared_mappings += mapped
            if request is not None:
                own.append(request)
        if own:
            # the first of the largest is enough for all of them
            largest = max(own, key=_count)
            self.requests.append(largest)
            replaced = {request.name for request in own}
            shared_mappings = [
                msgspec.structs.replace(each, request_name=largest.name) if each.request_name in replaced else each
                for each in shared_mappings
            ]
        self.requests += lasting.values()
        self.mappings += shared_mappings

    def _ask(
        self, number: int, container: Container, reusable: Sequence[DeviceRequest]
    ) -> tuple[DeviceRequest | None, list[ContainerExtendedResourceRequest]]:
        """Return the request of a container beyond reusable ones (None if these suffice), and its mappings."""
        asked = container.resources.requests
        if self._resource not in asked:
            return None, []
        wanted = _whole(asked[self._resource])
        if not wanted:
            return None, []
        mappings = []
        reused = 0
        for request in reusable:
            reused += _count(request)
            mappings.append(self._mapping(container, request.name))
            if reused >= wanted:
                return None, mappings
        name = f"container-{number}-request-{sorted(asked).index(self._resource)}"
        exactly = ExactDeviceRequest(
            device_class_name=self._class_name, allocation_mode="ExactCount", count=wanted - reused
        )
        return DeviceRequest(name=name, exactly=exactly), [*mappings, self._mapping(container, name)]

    def _mapping(self, container: Container, request_name: str) -> ContainerExtendedResourceRequest:
        return ContainerExtendedResourceRequest(
            container_name=container.name, resource_name=self._resource, request_name=request_name
        )


def _count(request: DeviceRequest) -> int:
    return request.exactly.count if request.exactly is not None else 0


def _whole(raw: str | int | float) -> int:
    """Return a quantity that is a whole number, or 0 if it is not."""
    # differs (D-015): the reference counts 1000m as no device, and then gives the container none
    quantity = quantity_of(raw)
    return quantity.value() if quantity.value() * 1000 == quantity.milli_value() else 0
