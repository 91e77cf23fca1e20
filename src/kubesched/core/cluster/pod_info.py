"""PodInfo: a pod's object, and values that are derived from it once per template.

From an API object to `PodInfo`. Pods made from one template share a `Digest`: their spec, parsed once. Everything here
is immutable except for the slot that the table gives an accounted pod.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Pod, PodSpec, PodStatus
from kubesched.api.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    PodResources,
    RequestOptions,
    limit_amounts,
    pod_resources,
)
from kubesched.api.volumes import with_source
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.affinity_terms import AffinityTerms, parse_affinity_terms

T = TypeVar("T")

# The most digests that are remembered, and the most bytes of their specs together.
DIGESTS = 4096
DIGESTED_BYTES = 16 << 20


class HostPort(msgspec.Struct, frozen=True, gc=False):
    """A port that a pod takes on its node."""

    ip: str
    protocol: str
    port: int


class Digest:
    """Values derived from a pod's spec, namespace and reported resources."""

    __slots__ = ("affinity", "derived", "host_ports", "resources", "weight")

    def __init__(self, spec: PodSpec, resources: PodResources, affinity: AffinityTerms, weight: int) -> None:
        # the size of the spec in bytes; the derived values are larger by a factor
        self.weight = weight
        self.resources = resources
        self.affinity = affinity
        self.host_ports = _host_ports(spec)
        self.derived: dict[Callable[[Any], Any], Any] = {}


# tracked by the garbage collector: the digest's derived values lead to the engine, which leads to its pods
class PodInfo(msgspec.Struct, eq=False):
    """A pod with its digest. Reads like the object: `.metadata`, `.spec`, `.status`, `.labels`, `.priority`."""

    pod: Pod
    digest: Digest
    metadata: ObjectMeta
    spec: PodSpec
    status: PodStatus
    name: str
    namespace: str
    uid: str
    labels: Mapping[str, str]
    priority: int
    slot: int = -1

    @staticmethod
    def of(pod: Pod, digest: Digest) -> "PodInfo":
        """Return the PodInfo of a pod."""
        meta, spec = pod.metadata, pod.spec
        return PodInfo(
            pod,
            digest,
            meta,
            spec,
            pod.status,
            meta.name,
            meta.namespace,
            pod.uid,
            meta.labels,
            spec.priority or 0,
        )

    def __repr__(self) -> str:
        return f"<PodInfo {self.namespace}/{self.name}>"

    @property
    def full_name(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def terminating(self) -> bool:
        """Return whether the pod has a deletion timestamp."""
        return self.metadata.deletion_timestamp is not None

    @property
    def resources(self) -> PodResources:
        """Return the resources that the pod takes on its node."""
        return self.digest.resources

    @property
    def requests(self) -> Mapping[str, int]:
        """Return what the pod takes on its node, by resource: cpu in thousandths, nothing that is zero."""
        return self.derive(_requests)

    @property
    def limits(self) -> Mapping[str, int]:
        """Return the pod's limits by resource, summed as its requests are: cpu in thousandths."""
        return self.derive(_limits)

    def request_of(self, resource: str) -> int:
        """Return how much of a resource the pod takes on its node: cpu in thousandths; of "pods" it takes one."""
        taken = self.digest.resources
        common = {CPU: taken.milli_cpu, MEMORY: taken.memory, EPHEMERAL_STORAGE: taken.ephemeral_storage, PODS: 1}
        return common[resource] if resource in common else taken.scalar.get(resource, 0)

    @property
    def affinity(self) -> AffinityTerms:
        """Return the parsed pod affinity terms."""
        return self.digest.affinity

    def replaced(self, pod: Pod) -> "PodInfo":
        """Return the PodInfo of another version of the pod with the same template (other node, other start time)."""
        return PodInfo.of(pod, self.digest)

    def derive(self, function: Callable[["PodInfo"], T]) -> T:
        """Return `function(self)`, computed once per template.

        The function may read only the spec and the namespace.
        """
        derived = self.digest.derived
        try:
            return derived[function]  # type: ignore[no-any-return]
        except KeyError:
            value = derived[function] = function(self)
            return value


def without_node(pod: Pod) -> Pod:
    """Return a pod as its controller creates it again: without a node, and without what the node reported."""
    status = PodStatus(phase="Pending", resource_claim_statuses=pod.status.resource_claim_statuses)
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""), status=status)


class PodReader:
    """Makes `PodInfo`s, remembering the digests of recent templates."""

    __slots__ = ("_digests", "_encode", "_weight", "options")

    def __init__(self, options: RequestOptions) -> None:
        self.options = options
        self._digests: OrderedDict[tuple[object, ...], Digest] = OrderedDict()
        self._weight = 0
        self._encode = msgspec.msgpack.Encoder().encode

    def read(self, pod: Pod) -> PodInfo:
        """Return the pod with its digest; raises InvalidObjectError for a quantity that cannot be parsed."""
        spec, status = pod.spec, pod.status
        if spec.node_name or spec.volumes:
            # neither the node name nor the name of the token volume is part of the template
            spec = msgspec.structs.replace(spec, node_name="", volumes=with_source(spec.volumes))
        reported = (
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            status.node_allocatable_resource_claim_statuses,
            status.resize,
        )
        key = (
            self._identity(spec),
            pod.metadata.namespace,
            None if reported == _NOTHING_REPORTED else self._identity((reported, status.conditions)),
        )
        digest = self._digests.get(key)
        if digest is None:
            affinity = parse_affinity_terms(pod.spec, pod.metadata.namespace)
            digest = Digest(pod.spec, pod_resources(pod, self.options), affinity, len(key[0]) + len(key[2] or ()))
            self._digests[key] = digest
            self._weight += digest.weight
            while len(self._digests) > DIGESTS or self._weight > DIGESTED_BYTES:
                self._weight -= self._digests.popitem(last=False)[1].weight
        return PodInfo.of(pod, digest)

    def forget_derived(self, others: Iterable[PodInfo]) -> None:
        """Forget what functions of retired plugins and evaluators derived, of recent templates and of other pods."""
        for digest in {id(each): each for each in (*self._digests.values(), *(p.digest for p in others))}.values():
            # functions of a module have neither a closure nor an instance, and stay
            made = [f for f in digest.derived if getattr(f, "__closure__", None) or hasattr(f, "__self__")]
            for function in made:
                del digest.derived[function]

    def _identity(self, part: object) -> bytes | str:
        """Return a hashable text of a part of a pod."""
        try:
            return self._encode(part)
        except OverflowError:
            # a quantity that is written as a number beyond 64 bits
            return repr(part)


def request_options(gates: FeatureGates) -> RequestOptions:
    """Return the gates that the requests of a pod depend on."""
    return RequestOptions(
        in_place_pod_vertical_scaling=gates.enabled("InPlacePodVerticalScaling"),
        pod_level_resources=gates.enabled("PodLevelResources"),
        in_place_pod_level_resources_vertical_scaling=gates.enabled("InPlacePodLevelResourcesVerticalScaling"),
        dra_node_allocatable_resources=gates.enabled("DRANodeAllocatableResources"),
    )


def _requests(pod: PodInfo) -> Mapping[str, int]:
    taken = pod.digest.resources
    amounts = {CPU: taken.milli_cpu, MEMORY: taken.memory, EPHEMERAL_STORAGE: taken.ephemeral_storage, **taken.scalar}
    return MappingProxyType({name: amount for name, amount in amounts.items() if amount})


def _limits(pod: PodInfo) -> Mapping[str, int]:
    return MappingProxyType(limit_amounts(pod.pod))


_NOTHING_REPORTED: tuple[object, ...] = ((), (), None, {}, (), "")


# upstream: util/utils.go, GetHostPorts (v1.36)
def _host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """Return the host ports of containers and sidecars."""
    containers = [*(c for c in spec.init_containers if c.restart_policy == "Always"), *spec.containers]
    return tuple(
        HostPort(port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
        for container in containers
        for port in container.ports
        if port.host_port > 0
    )
