"""Pods, with every field that scheduling reads.

From JSON documents to frozen structs; see `meta` for the conventions.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

import msgspec

from kubesched.api.meta import (
    ApiObject,
    ApiStruct,
    Condition,
    Int32,
    Int64,
    LabelSelector,
    ResourceList,
    Timestamp,
)
from kubesched.api.volumes import Volume


class Taint(ApiStruct, frozen=True):
    """A taint of a node."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Timestamp | None = None


class Toleration(ApiStruct, frozen=True):
    """A toleration of a pod."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class NodeSelectorRequirement(ApiStruct, frozen=True):
    """One expression over node labels or fields; error texts distinguish absent values from empty ones."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class NodeSelectorTerm(ApiStruct, frozen=True):
    """A conjunction of expressions."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(ApiStruct, frozen=True):
    """A disjunction of terms."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(ApiStruct, frozen=True):
    """A node selector term with a weight."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(ApiStruct, frozen=True):
    """spec.affinity.nodeAffinity; an empty list of preferences is not the same as none."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] | None = None


class PodAffinityTerm(ApiStruct, frozen=True):
    """A term of pod affinity or anti-affinity."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(ApiStruct, frozen=True):
    """A preferred term of pod affinity or anti-affinity."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(ApiStruct, frozen=True):
    """spec.affinity.podAffinity, and podAntiAffinity, which has the same shape."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(ApiStruct, frozen=True):
    """spec.affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(ApiStruct, frozen=True):
    """One entry of spec.topologySpreadConstraints."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ContainerPort(ApiStruct, frozen=True):
    """A port of a container."""

    name: str = ""
    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class ResourceClaimRef(ApiStruct, frozen=True):
    """A claim of spec.resourceClaims that a container uses."""

    name: str = ""
    request: str = ""


class ResourceRequirements(ApiStruct, frozen=True):
    """resources of a container or of a pod."""

    requests: ResourceList = {}
    limits: ResourceList = {}
    claims: tuple[ResourceClaimRef, ...] = ()


class ContainerRestartRule(ApiStruct, frozen=True):
    """One entry of a container's restartPolicyRules."""

    action: str = ""


class SeccompProfile(ApiStruct, frozen=True):
    """securityContext.seccompProfile: which system calls are allowed."""

    type: str = ""
    localhost_profile: str | None = None


class SecurityContext(ApiStruct, frozen=True):
    """securityContext of a pod or a container, as far as plugins ask for it."""

    seccomp_profile: SeccompProfile | None = None


class Container(ApiStruct, frozen=True):
    """A container or init container."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    security_context: SecurityContext | None = None


class PodSchedulingGate(ApiStruct, frozen=True):
    """A scheduling gate of a pod."""

    name: str = ""


class PodSchedulingGroup(ApiStruct, frozen=True):
    """spec.schedulingGroup."""

    pod_group_name: str | None = None


class PodResourceClaim(ApiStruct, frozen=True):
    """One entry of spec.resourceClaims."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodOS(ApiStruct, frozen=True):
    """spec.os."""

    name: str = ""


class PodSpec(ApiStruct, frozen=True):
    """spec of a pod."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    scheduler_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    volumes: tuple[Volume, ...] = ()
    overhead: ResourceList = {}
    resources: ResourceRequirements | None = None
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    host_network: bool = False
    host_users: bool | None = None
    os: PodOS | None = None
    restart_policy: str = ""
    termination_grace_period_seconds: Int64 | None = None
    active_deadline_seconds: Int64 | None = None
    runtime_class_name: str | None = None
    security_context: SecurityContext | None = None


class ContainerStatus(ApiStruct, frozen=True):
    """The status of a container: the resources that the kubelet reports."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = {}


class PodResourceClaimStatus(ApiStruct, frozen=True):
    """The claim generated for an entry of spec.resourceClaims."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(ApiStruct, frozen=True):
    """How a container's extended resource maps to a request of the extended resource claim."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(ApiStruct, frozen=True):
    """The claim for a pod's extended resources."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class NodeAllocatableResourceClaimStatus(ApiStruct, frozen=True):
    """Node allocatable resources that a claim takes."""

    resource_claim_name: str = ""
    containers: tuple[str, ...] = ()
    resources: ResourceList = {}


class PodStatus(ApiStruct, frozen=True):
    """status of a pod."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    start_time: Timestamp | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resize: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = {}
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    node_allocatable_resource_claim_statuses: tuple[NodeAllocatableResourceClaimStatus, ...] = ()
    observed_generation: Int64 = 0


class Pod(ApiObject, frozen=True):
    """A pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def uid(self) -> str:
        """Return metadata.uid, or the full name of a pod without one, such as a pod from a manifest."""
        return self.metadata.uid or self.full_name

    @property
    def priority(self) -> int:
        """Return spec.priority, or 0 where it is unset."""
        return self.spec.priority or 0

    @property
    def terminating(self) -> bool:
        """Return whether the pod has a deletion timestamp."""
        return self.metadata.deletion_timestamp is not None

    @property
    def terminal(self) -> bool:
        """Return whether the pod's phase is Succeeded or Failed."""
        return self.status.phase in ("Succeeded", "Failed")
