"""Keyword builders for objects: `a_pod("p", cpu="500m")`, `a_node("n", cpu="4", zone="a")`.

From the few arguments that matter to a test to API structs, with all other fields as an API server would default
them. If a part has a short text (see `shorthand`), builders accept the text and the struct.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from kubesched.api.custom import CustomObject, custom_object
from kubesched.api.meta import ApiObject, LabelSelector, ObjectMeta, OwnerReference, RawQuantity
from kubesched.api.nodes import ContainerImage, Namespace, Node, NodeSpec, NodeStatus
from kubesched.api.owners import ReplicaSet, ReplicaSetSpec, Service, ServiceSpec
from kubesched.api.pods import (
    Affinity,
    Container,
    ContainerPort,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
    PreferredSchedulingTerm,
    ResourceClaimRef,
    ResourceRequirements,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from kubesched.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from kubesched.api.resources import RequestOptions
from kubesched.api.volumes import PersistentVolumeClaimVolumeSource, Volume
from kubesched.core.cluster.cluster import ClusterState
from kubesched.testing.shorthand import (
    HOSTNAME,
    ZONE,
    SelectorText,
    host_port,
    label_selector,
    node_term,
    owner_reference,
    pod_term,
    several,
    taint,
    toleration,
    topology_key,
)

DELETED_AT: Final = datetime(2024, 1, 1, tzinfo=UTC)

Amounts = Mapping[str, RawQuantity]
# A weight with its term.
Weighted = tuple[int, str | PodAffinityTerm]
WeightedNodeTerm = tuple[int, str | NodeSelectorTerm]


def a_pod(
    name: str = "pod",
    *,
    namespace: str = "default",
    uid: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: str | OwnerReference | None = None,
    terminating: bool = False,
    created: str | None = None,
    cpu: RawQuantity | None = None,
    memory: RawQuantity | None = None,
    requests: Amounts | None = None,
    ports: Sequence[int | str | ContainerPort] = (),
    image: str = "",
    containers: Sequence[Container] | None = None,
    node: str = "",
    scheduler: str = "default-scheduler",
    priority: int | None = None,
    node_selector: Mapping[str, str] | None = None,
    affinity: Affinity | None = None,
    tolerations: Iterable[str | Toleration] = (),
    spread: TopologySpreadConstraint | Iterable[TopologySpreadConstraint] = (),
    gates: Iterable[str] = (),
    volumes: Iterable[str | Volume] = (),
    nominated: str = "",
    start: str | None = None,
    phase: str = "",
    status: PodStatus | None = None,
    **spec: Any,
) -> Pod:
    """Return a pod with one container, or with `containers`.

    `cpu`, `memory` and `requests` are that container's requests, `ports` its host ports; a text among `volumes` names
    a claim. Any further field of PodSpec can be given under its own name.
    """
    if containers is None:
        containers = [a_container(cpu=cpu, memory=memory, requests=requests, ports=ports, image=image)]
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"{namespace}-{name}" if uid is None else uid,
            labels=dict(labels or {}),
            annotations=dict(annotations or {}),
            owner_references=(owner_reference(owner, namespace),) if owner else (),
            creation_timestamp=_time(created),
            deletion_timestamp=DELETED_AT if terminating else None,
        ),
        spec=PodSpec(
            containers=tuple(containers),
            node_name=node,
            scheduler_name=scheduler,
            priority=priority,
            node_selector=None if node_selector is None else dict(node_selector),
            affinity=affinity,
            tolerations=tuple(toleration(text) for text in tolerations),
            topology_spread_constraints=several(spread),
            scheduling_gates=tuple(PodSchedulingGate(name=gate) for gate in gates),
            volumes=tuple(_volume(volume) for volume in volumes),
            **spec,
        ),
        status=status or PodStatus(phase=phase, nominated_node_name=nominated, start_time=_time(start)),
    )


def a_container(
    name: str = "main",
    *,
    cpu: RawQuantity | None = None,
    memory: RawQuantity | None = None,
    requests: Amounts | None = None,
    limits: Amounts | None = None,
    ports: Sequence[int | str | ContainerPort] = (),
    image: str = "",
    claims: Iterable[str] = (),
    sidecar: bool = False,
) -> Container:
    """Return a container; `claims` are names of the pod's resource claims, `sidecar` sets restartPolicy to Always."""
    return Container(
        name=name,
        image=image,
        resources=ResourceRequirements(
            requests=_amounts(cpu, memory, requests),
            limits=dict(limits or {}),
            claims=tuple(ResourceClaimRef(name=claim) for claim in claims),
        ),
        ports=tuple(host_port(port) for port in ports),
        restart_policy="Always" if sidecar else None,
    )


def a_node(
    name: str = "node",
    *,
    cpu: RawQuantity = "4",
    memory: RawQuantity = "8Gi",
    pods: RawQuantity = 110,
    allocatable: Amounts | None = None,
    zone: str = "",
    hostname: bool = True,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Iterable[str | Taint] = (),
    unschedulable: bool = False,
    images: Mapping[str, int] | Sequence[ContainerImage] = (),
    features: Iterable[str] = (),
    uid: str | None = None,
) -> Node:
    """Return a node.

    `allocatable` adds to `cpu`, `memory` and `pods`; `images` maps a name to its bytes; the host name label is set
    unless `hostname` is False.
    """
    own_labels = {HOSTNAME: name} if hostname else {}
    if zone:
        own_labels[ZONE] = zone
    amounts = {**_amounts(cpu, memory, {"pods": pods}), **(allocatable or {})}
    if isinstance(images, Mapping):
        images = [ContainerImage(names=(image,), size_bytes=size) for image, size in images.items()]
    return Node(
        metadata=ObjectMeta(
            name=name,
            uid=name if uid is None else uid,
            labels={**own_labels, **(labels or {})},
            annotations=dict(annotations or {}),
        ),
        spec=NodeSpec(taints=tuple(taint(text) for text in taints), unschedulable=unschedulable),
        status=NodeStatus(
            capacity=amounts, allocatable=amounts, images=tuple(images), declared_features=tuple(features)
        ),
    )


def a_namespace(name: str, *, labels: Mapping[str, str] | None = None) -> Namespace:
    """Return a namespace with the label of its name, which the API server sets."""
    return Namespace(
        metadata=ObjectMeta(name=name, uid=name, labels={"kubernetes.io/metadata.name": name, **(labels or {})})
    )


def a_custom_object(
    kind: str,
    name: str,
    *,
    namespace: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    written: str | None = None,
    **fields: Any,
) -> CustomObject:
    """Return an object of a kind that a plugin looks up as `foos.v1.example.com`, with fields such as spec.

    `written` is the time of its last write.
    """
    meta = {
        "name": name,
        "namespace": namespace,
        "uid": f"{kind}-{namespace}-{name}",
        "labels": dict(labels or {}),
        "annotations": dict(annotations or {}),
        "managedFields": [{"manager": "test", "time": written}] if written else [],
    }
    return custom_object(kind, {"metadata": meta, **fields})


def a_service(name: str, selector: Mapping[str, str], *, namespace: str = "default") -> Service:
    """Return a service that selects pods by their labels."""
    return Service(metadata=_meta(name, namespace), spec=ServiceSpec(selector=dict(selector)))


def a_replica_set(name: str, selector: SelectorText, *, namespace: str = "default", replicas: int = 1) -> ReplicaSet:
    """Return a ReplicaSet; a pod with `owner="ReplicaSet/<name>"` is controlled by it."""
    return ReplicaSet(
        metadata=_meta(name, namespace), spec=ReplicaSetSpec(replicas=replicas, selector=label_selector(selector))
    )


def a_budget(
    name: str,
    selector: SelectorText | None,
    *,
    allowed: int = 0,
    namespace: str = "default",
    disrupted: Iterable[str] = (),
) -> PodDisruptionBudget:
    """Return a PodDisruptionBudget with `allowed` disruptions; `disrupted` names pods that are being evicted."""
    return PodDisruptionBudget(
        metadata=_meta(name, namespace),
        spec=PodDisruptionBudgetSpec(selector=None if selector is None else label_selector(selector)),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=allowed, disrupted_pods=dict.fromkeys(disrupted, DELETED_AT)
        ),
    )


def a_spread(
    topology: str,
    selector: SelectorText | None = None,
    *,
    max_skew: int = 1,
    soft: bool = False,
    min_domains: int | None = None,
    affinity_policy: str | None = None,
    taints_policy: str | None = None,
    match_label_keys: Iterable[str] = (),
) -> TopologySpreadConstraint:
    """Return a spread constraint: `a_spread("zone", "app=web")`; `soft` is ScheduleAnyway."""
    return TopologySpreadConstraint(
        max_skew=max_skew,
        topology_key=topology_key(topology),
        when_unsatisfiable="ScheduleAnyway" if soft else "DoNotSchedule",
        label_selector=None if selector is None else label_selector(selector),
        min_domains=min_domains,
        node_affinity_policy=affinity_policy,
        node_taints_policy=taints_policy,
        match_label_keys=tuple(match_label_keys),
    )


def a_term(
    selector: SelectorText | None,
    topology: str,
    *,
    namespaces: Iterable[str] = (),
    namespace_selector: SelectorText | None = None,
    match_label_keys: Iterable[str] = (),
    mismatch_label_keys: Iterable[str] = (),
) -> PodAffinityTerm:
    """Return a pod affinity term with fields that `app=web@zone` cannot express."""
    return PodAffinityTerm(
        label_selector=None if selector is None else label_selector(selector),
        topology_key=topology_key(topology),
        namespaces=tuple(namespaces),
        namespace_selector=None if namespace_selector is None else label_selector(namespace_selector),
        match_label_keys=tuple(match_label_keys),
        mismatch_label_keys=tuple(mismatch_label_keys),
    )


def an_affinity(
    *,
    near: str | PodAffinityTerm | Iterable[str | PodAffinityTerm] = (),
    apart: str | PodAffinityTerm | Iterable[str | PodAffinityTerm] = (),
    nodes: str | NodeSelectorTerm | Iterable[str | NodeSelectorTerm] | None = None,
    prefer_near: Weighted | Iterable[Weighted] = (),
    prefer_apart: Weighted | Iterable[Weighted] = (),
    prefer_nodes: WeightedNodeTerm | Iterable[WeightedNodeTerm] = (),
) -> Affinity:
    """Return the affinity of a pod.

    `near` and `apart` are terms over pods (`app=web@zone`), `nodes` terms over nodes of which one must match
    (`disk=ssd`); the preferred ones are (weight, term).
    """
    node_affinity = None
    if nodes is not None or prefer_nodes:
        node_terms: tuple[str | NodeSelectorTerm, ...] = () if nodes is None else several(nodes)
        required = NodeSelector(node_selector_terms=tuple(node_term(term) for term in node_terms))
        node_affinity = NodeAffinity(
            required_during_scheduling_ignored_during_execution=None if nodes is None else required,
            preferred_during_scheduling_ignored_during_execution=tuple(
                PreferredSchedulingTerm(weight=weight, preference=node_term(term))
                for weight, term in _weighted(prefer_nodes)
            )
            or None,
        )
    return Affinity(
        node_affinity=node_affinity,
        pod_affinity=_pod_affinity(near, prefer_near),
        pod_anti_affinity=_pod_affinity(apart, prefer_apart),
    )


def a_selector(selector: SelectorText) -> LabelSelector:
    """Return the label selector for a text (`app=web,!old`) or a mapping of labels."""
    return label_selector(selector)


def a_cluster(*objects: ApiObject, options: RequestOptions | None = None) -> ClusterState:
    """Return a cluster with the objects; `options` are the feature gates for the requests of pods."""
    cluster = ClusterState(options)
    for obj in objects:
        cluster.add(obj)
    return cluster


def _meta(name: str, namespace: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace=namespace, uid=f"{namespace}-{name}")


def _amounts(cpu: RawQuantity | None, memory: RawQuantity | None, further: Amounts | None) -> dict[str, RawQuantity]:
    amounts = {name: amount for name, amount in (("cpu", cpu), ("memory", memory)) if amount is not None}
    return {**amounts, **(further or {})}


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _volume(volume: str | Volume) -> Volume:
    if isinstance(volume, Volume):
        return volume
    return Volume(name=volume, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=volume))


def _weighted(terms: Any) -> list[tuple[int, Any]]:
    """Return (weight, term) pairs for one pair or several."""
    pairs = list(terms)
    return [(pairs[0], pairs[1])] if pairs and isinstance(pairs[0], int) else pairs


def _pod_affinity(required: Any, preferred: Any) -> PodAffinity | None:
    if not required and not preferred:
        return None
    return PodAffinity(
        required_during_scheduling_ignored_during_execution=tuple(pod_term(term) for term in several(required)),
        preferred_during_scheduling_ignored_during_execution=tuple(
            WeightedPodAffinityTerm(weight=weight, pod_affinity_term=pod_term(term))
            for weight, term in _weighted(preferred)
        ),
    )
