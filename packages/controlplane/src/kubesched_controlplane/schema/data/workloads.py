"""Pod groups and workloads, as gang scheduling's alpha version has them."""

# upstream: api/scheduling/v1alpha2/types.go (v1.36)

TYPES = """
string: DisruptionMode

PodGroup kind: spec=2! PodGroupSpec, status=3 PodGroupStatus
PodGroupSpec: podGroupTemplateRef=1! *PodGroupTemplateReference optional immutable
    schedulingPolicy=2! PodGroupSchedulingPolicy immutable
    schedulingConstraints=3 *PodGroupSchedulingConstraints immutable
    resourceClaims=4 []PodGroupResourceClaim by(name) retainKeys most(4) distinct(name) immutable
    disruptionMode=5 *DisruptionMode enum(Pod|PodGroup) immutable
    priorityClassName=6 string format(subdomain) immutable, priority=7 *int32 immutable
PodGroupTemplateReference: workload=1! *WorkloadPodGroupTemplateReference optional
WorkloadPodGroupTemplateReference: workloadName=1! string nonempty format(subdomain)
    podGroupTemplateName=2! string nonempty format(label)
PodGroupSchedulingPolicy: basic=1 *BasicSchedulingPolicy, gang=2 *GangSchedulingPolicy
BasicSchedulingPolicy:
GangSchedulingPolicy: minCount=1! int32 nonempty min(1)
PodGroupSchedulingConstraints: topology=1 []TopologyConstraint atomic most(1)
TopologyConstraint: key=1! string nonempty format(labelkey)
PodGroupResourceClaim: name=1! string nonempty format(label), resourceClaimName=2 *string format(subdomain)
    resourceClaimTemplateName=3 *string format(subdomain)
PodGroupStatus: conditions=1 []Condition by(type) conditions
    resourceClaimStatuses=2 []PodGroupResourceClaimStatus by(name) retainKeys
PodGroupResourceClaimStatus: name=1!, resourceClaimName=2 *string

Workload kind: spec=2! WorkloadSpec
WorkloadSpec: controllerRef=1 *TypedLocalObjectReference immutable
    podGroupTemplates=2! []PodGroupTemplate map(name) nonempty most(8) distinct(name) immutable
TypedLocalObjectReference: apiGroup=1 string format(subdomain), kind=2! string nonempty, name=3! string nonempty
PodGroupTemplate: name=1! string nonempty format(label), schedulingPolicy=2! PodGroupSchedulingPolicy
    schedulingConstraints=3! *PodGroupSchedulingConstraints optional
    resourceClaims=4 []PodGroupResourceClaim by(name) retainKeys most(4) distinct(name)
    disruptionMode=5 *DisruptionMode enum(Pod|PodGroup), priorityClassName=6 string format(subdomain)
    priority=7 *int32
"""
