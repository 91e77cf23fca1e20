"""Pod groups and workloads, as gang scheduling's alpha version has them."""

# upstream: api/scheduling/v1alpha2/types.go (v1.36)

TYPES = """
string: DisruptionMode

PodGroup kind: spec! PodGroupSpec, status PodGroupStatus
PodGroupSpec: podGroupTemplateRef! *PodGroupTemplateReference optional, schedulingPolicy! PodGroupSchedulingPolicy
    schedulingConstraints *PodGroupSchedulingConstraints, resourceClaims []PodGroupResourceClaim by(name) retainKeys
    disruptionMode *DisruptionMode, priorityClassName, priority *int32
PodGroupTemplateReference: workload! *WorkloadPodGroupTemplateReference optional
WorkloadPodGroupTemplateReference: workloadName!, podGroupTemplateName!
PodGroupSchedulingPolicy: basic *BasicSchedulingPolicy, gang *GangSchedulingPolicy
BasicSchedulingPolicy:
GangSchedulingPolicy: minCount! int32
PodGroupSchedulingConstraints: topology []TopologyConstraint atomic
TopologyConstraint: key!
PodGroupResourceClaim: name!, resourceClaimName *string, resourceClaimTemplateName *string
PodGroupStatus: conditions []Condition by(type), resourceClaimStatuses []PodGroupResourceClaimStatus by(name) retainKeys
PodGroupResourceClaimStatus: name!, resourceClaimName *string

Workload kind: spec! WorkloadSpec
WorkloadSpec: controllerRef *TypedLocalObjectReference, podGroupTemplates! []PodGroupTemplate map(name)
TypedLocalObjectReference: apiGroup, kind!, name!
PodGroupTemplate: name!, schedulingPolicy! PodGroupSchedulingPolicy
    schedulingConstraints! *PodGroupSchedulingConstraints optional
    resourceClaims []PodGroupResourceClaim by(name) retainKeys, disruptionMode *DisruptionMode, priorityClassName
    priority *int32
"""
