"""Pod groups and workloads, as gang scheduling's alpha version has them."""

# upstream: api/scheduling/v1alpha2/types.go (v1.36)

TYPES = """
string: DisruptionMode

PodGroup kind: spec=2! PodGroupSpec, status=3 PodGroupStatus
PodGroupSpec: podGroupTemplateRef=1! *PodGroupTemplateReference optional, schedulingPolicy=2! PodGroupSchedulingPolicy
    schedulingConstraints=3 *PodGroupSchedulingConstraints
    resourceClaims=4 []PodGroupResourceClaim by(name) retainKeys, disruptionMode=5 *DisruptionMode
    priorityClassName=6, priority=7 *int32
PodGroupTemplateReference: workload=1! *WorkloadPodGroupTemplateReference optional
WorkloadPodGroupTemplateReference: workloadName=1!, podGroupTemplateName=2!
PodGroupSchedulingPolicy: basic=1 *BasicSchedulingPolicy, gang=2 *GangSchedulingPolicy
BasicSchedulingPolicy:
GangSchedulingPolicy: minCount=1! int32
PodGroupSchedulingConstraints: topology=1 []TopologyConstraint atomic
TopologyConstraint: key=1!
PodGroupResourceClaim: name=1!, resourceClaimName=2 *string, resourceClaimTemplateName=3 *string
PodGroupStatus: conditions=1 []Condition by(type)
    resourceClaimStatuses=2 []PodGroupResourceClaimStatus by(name) retainKeys
PodGroupResourceClaimStatus: name=1!, resourceClaimName=2 *string

Workload kind: spec=2! WorkloadSpec
WorkloadSpec: controllerRef=1 *TypedLocalObjectReference, podGroupTemplates=2! []PodGroupTemplate map(name)
TypedLocalObjectReference: apiGroup=1, kind=2!, name=3!
PodGroupTemplate: name=1!, schedulingPolicy=2! PodGroupSchedulingPolicy
    schedulingConstraints=3! *PodGroupSchedulingConstraints optional
    resourceClaims=4 []PodGroupResourceClaim by(name) retainKeys, disruptionMode=5 *DisruptionMode
    priorityClassName=6, priority=7 *int32
"""
