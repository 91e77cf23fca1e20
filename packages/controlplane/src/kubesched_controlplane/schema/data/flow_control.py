"""Flow schemas and priority levels."""

# upstream: api/flowcontrol/v1/types.go (v1.36)

TYPES = """
string: FlowDistinguisherMethodType, SubjectKind, FlowSchemaConditionType, PriorityLevelEnablement, LimitResponseType
string: PriorityLevelConfigurationConditionType, ConditionStatus

FlowSchema kind: spec=2 FlowSchemaSpec, status=3 FlowSchemaStatus
FlowSchemaSpec: priorityLevelConfiguration=1! PriorityLevelConfigurationReference
    matchingPrecedence=2! int32 optional, distinguisherMethod=3 *FlowDistinguisherMethod
    rules=4 []PolicyRulesWithSubjects atomic
FlowDistinguisherMethod: type=1! FlowDistinguisherMethodType
PriorityLevelConfigurationReference: name=1!
PolicyRulesWithSubjects: subjects=1! []Subject atomic, resourceRules=2 []ResourcePolicyRule atomic
    nonResourceRules=3 []NonResourcePolicyRule atomic
Subject: kind=1! SubjectKind, user=2 *UserSubject, group=3 *GroupSubject, serviceAccount=4 *ServiceAccountSubject
UserSubject: name=1!
GroupSubject: name=1!
ServiceAccountSubject: namespace=1!, name=2!
ResourcePolicyRule: verbs=1! []string set, apiGroups=2! []string set, resources=3! []string set, clusterScope=4 bool
    namespaces=5! []string set optional
NonResourcePolicyRule: verbs=1! []string set, nonResourceURLs=6! []string set
FlowSchemaStatus: conditions=1 []FlowSchemaCondition by(type)
FlowSchemaCondition: type=1 FlowSchemaConditionType, status=2 ConditionStatus, lastTransitionTime=3 Time, reason=4
    message=5

PriorityLevelConfiguration kind: spec=2 PriorityLevelConfigurationSpec, status=3 PriorityLevelConfigurationStatus
PriorityLevelConfigurationSpec: type=1! PriorityLevelEnablement, limited=2 *LimitedPriorityLevelConfiguration
    exempt=3 *ExemptPriorityLevelConfiguration
LimitedPriorityLevelConfiguration: nominalConcurrencyShares=1! *int32 optional, limitResponse=2 LimitResponse
    lendablePercent=3 *int32, borrowingLimitPercent=4 *int32
ExemptPriorityLevelConfiguration: nominalConcurrencyShares=1 *int32, lendablePercent=2 *int32
LimitResponse: type=1! LimitResponseType, queuing=2 *QueuingConfiguration
QueuingConfiguration: queues=1! int32 optional, handSize=2! int32 optional, queueLengthLimit=3! int32 optional
PriorityLevelConfigurationStatus: conditions=1 []PriorityLevelConfigurationCondition by(type)
PriorityLevelConfigurationCondition: type=1 PriorityLevelConfigurationConditionType, status=2 ConditionStatus
    lastTransitionTime=3 Time, reason=4, message=5
"""
