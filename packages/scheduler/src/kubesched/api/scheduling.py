"""Priority classes, pod groups and workloads (scheduling.k8s.io).

From JSON documents to frozen structs; see `meta` for the conventions. PodGroup and Workload have the shape of v1alpha2.
"""

from kubesched.api.meta import ApiObject, ApiStruct, Condition, Int32, TypedLocalObjectReference


class PriorityClass(ApiObject, frozen=True):
    """A named priority."""

    value: Int32 = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: str | None = None


class BasicSchedulingPolicy(ApiStruct, frozen=True):
    """Pods of the group are scheduled one by one."""


class GangSchedulingPolicy(ApiStruct, frozen=True):
    """At least `min_count` pods of the group are scheduled, or none."""

    min_count: Int32 = 0


class PodGroupSchedulingPolicy(ApiStruct, frozen=True):
    """How the pods of a group are scheduled; one of the two is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(ApiStruct, frozen=True):
    """All pods of the group go to nodes with one value of this label."""

    key: str = ""


class PodGroupSchedulingConstraints(ApiStruct, frozen=True):
    """The scheduling constraints of a group: where its pods may run together."""

    topology: tuple[TopologyConstraint, ...] = ()


class PodGroupResourceClaim(ApiStruct, frozen=True):
    """A claim that the pods of a group share."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class WorkloadPodGroupTemplateReference(ApiStruct, frozen=True):
    """A template of a workload."""

    workload_name: str = ""
    pod_group_template_name: str = ""


class PodGroupTemplateReference(ApiStruct, frozen=True):
    """The template that a group was created from."""

    workload: WorkloadPodGroupTemplateReference | None = None


class PodGroupSpec(ApiStruct, frozen=True):
    """spec of a pod group."""

    pod_group_template_ref: PodGroupTemplateReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None


class PodGroupResourceClaimStatus(ApiStruct, frozen=True):
    """The claim generated for an entry of spec.resourceClaims."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(ApiStruct, frozen=True):
    """status of a pod group."""

    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class PodGroup(ApiObject, frozen=True):
    """Pods that are scheduled together."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class PodGroupTemplate(ApiStruct, frozen=True):
    """A template of pod groups."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None


class WorkloadSpec(ApiStruct, frozen=True):
    """spec of a workload."""

    controller_ref: TypedLocalObjectReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()


class Workload(ApiObject, frozen=True):
    """A set of pod group templates."""

    spec: WorkloadSpec = WorkloadSpec()
