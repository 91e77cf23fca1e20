"""PodInfo: a pod's object, and values that are derived from it once per template.

From an API object to `PodInfo`. Pods made from one template share a `Digest`: their spec, parsed once. Everything here
is immutable except for the slot that the table gives an accounted pod.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

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
    report_same_resources,
    reported_resources,
)
from kubesched.api.volumes import with_source
from kubesched.common.recent import Recent
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.affinity_terms import AffinityTerms, parse_affinity_terms
from kubesched.core.cluster.kept_bytes import kept_by_spec, pod_terms

T = TypeVar("T")

# The cache of digests, which may outlive their pods: its most entries, and their most bytes in total.
DIGESTS: Final = 4096
DIGESTED_BYTES: Final = 16 << 20
# A pod whose digest keeps more bytes is heavy: the digest lives only as long as a pod has it.
HEAVY: Final = 256 << 10


# a spec, a namespace and reported resources
TemplateIdentity = tuple[bytes | str, str, Any]
_encode = msgspec.msgpack.Encoder().encode


class HostPort(msgspec.Struct, frozen=True, gc=False):
    """A port that a pod takes on its node."""

    ip: str
    protocol: str
    port: int


class Digest:
    """Values derived from a pod's spec, namespace and reported resources."""

    __slots__ = ("__weakref__", "affinity", "derived", "host_ports", "resources", "terms", "weight")

    def __init__(self, spec: PodSpec, resources: PodResources, affinity: AffinityTerms, encoded: int) -> None:
        """`encoded` is the size in bytes of the spec and the reported resources as they are compared."""
        # an estimate of the bytes of the spec and of all values derived from it
        self.terms = pod_terms(spec)
        self.weight = kept_by_spec(spec, self.terms, encoded)
        self.resources = resources
        self.affinity = affinity
        self.host_ports = _host_ports(spec)
        self.derived: dict[Callable[[Any], Any], Any] = {}


def same_amounts(one: Digest, other: Digest) -> bool:
    """Return whether pods with these digests are accounted equally: a kubelet may report the resources that the spec
    requests.
    """
    return one.resources == other.resources and one.affinity == other.affinity and one.host_ports == other.host_ports


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
        """Return the resources that the pod takes on its node: cpu in thousandths, without zeros."""
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
    """Return a pod as its controller would create it again: without a node and without reported status."""
    status = PodStatus(phase="Pending", resource_claim_statuses=pod.status.resource_claim_statuses)
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""), status=status)


def same_account(old: PodInfo, new: PodInfo) -> bool:
    """Return whether two versions of a pod, labels aside, take the same resources of the same row."""
    return (
        (old.digest is new.digest or same_amounts(old.digest, new.digest))
        and old.spec.node_name == new.spec.node_name
        and old.terminating == new.terminating
    )


class PodReader:
    """Makes `PodInfo`s, remembering the digests of recent templates."""

    __slots__ = ("_digests", "_heavy_digests", "options")

    def __init__(self, options: RequestOptions) -> None:
        self.options = options
        self._digests: Recent[TemplateIdentity, Digest] = Recent(DIGESTS, DIGESTED_BYTES)
        self._heavy_digests: WeakValueDictionary[TemplateIdentity, Digest] = WeakValueDictionary()

    def renew(self, pod: Pod, known: PodInfo | None) -> PodInfo:
        """Return a new version of a known pod with its digest; most reports change neither spec nor resources."""
        if known is not None and known.spec is pod.spec and report_same_resources(known.pod, pod):
            return PodInfo.of(pod, known.digest)
        return self.read(pod)

    def read(self, pod: Pod) -> PodInfo:
        """Return the pod with its digest; raises InvalidObjectError for a quantity that cannot be parsed."""
        spec = pod.spec
        if spec.node_name or spec.volumes:
            # neither the node name nor the name of the token volume is part of the template
            spec = msgspec.structs.replace(spec, node_name="", volumes=with_source(spec.volumes))
        reported = reported_resources(pod)
        key = (identity_of(spec), pod.metadata.namespace, reported and identity_of(reported))
        digest = self._digests.get(key) or self._heavy_digests.get(key)
        if digest is None:
            affinity = parse_affinity_terms(pod.spec, pod.metadata.namespace)
            digest = Digest(pod.spec, pod_resources(pod, self.options), affinity, len(key[0]) + len(key[2] or ()))
            if digest.weight > HEAVY:
                self._heavy_digests[key] = digest
            else:
                self._digests.put(key, digest, digest.weight)
        return PodInfo.of(pod, digest)

    def forget_unused(self) -> int:
        """Forget the digests that were not used since the last call; return how many there were."""
        return self._digests.forget_unused()

    def forget_derived(self, others: Iterable[PodInfo]) -> None:
        """Forget what functions of retired plugins and evaluators derived, of recent templates and of other pods."""
        for digest in {
            id(each): each for each in chain(self._digests.values(), (pod.digest for pod in others))
        }.values():
            # functions of a module have neither a closure nor an instance, and stay
            made = [f for f in digest.derived if getattr(f, "__closure__", None) or hasattr(f, "__self__")]
            for function in made:
                del digest.derived[function]


def identity_of(part: object) -> bytes | str:
    """Return a hashable text of a part of a pod."""
    try:
        return _encode(part)
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
