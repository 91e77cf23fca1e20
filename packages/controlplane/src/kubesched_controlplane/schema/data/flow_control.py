"""Flow schemas and priority levels."""

# upstream: api/flowcontrol/v1/types.go (v1.36)

TYPES = """
string: FlowDistinguisherMethodType, SubjectKind, FlowSchemaConditionType, PriorityLevelEnablement, LimitResponseType
string: PriorityLevelConfigurationConditionType, ConditionStatus

FlowSchema kind: spec=2 FlowSchemaSpec, status=3 FlowSchemaStatus
FlowSchemaSpec: priorityLevelConfiguration=1! PriorityLevelConfigurationReference
    matchingPrecedence=2! int32 optional default(1000) min(1 must be a positive value)
        max(10000 must not be greater than 10000)
    distinguisherMethod=3 *FlowDistinguisherMethod
    rules=4 []PolicyRulesWithSubjects atomic
FlowDistinguisherMethod: type=1! FlowDistinguisherMethodType
PriorityLevelConfigurationReference: name=1! string nonempty(must reference a priority level) format(subdomain)
PolicyRulesWithSubjects: subjects=1! []Subject atomic nonempty(subjects must contain at least one value)
    resourceRules=2 []ResourcePolicyRule atomic
    nonResourceRules=3 []NonResourcePolicyRule atomic
Subject: kind=1! SubjectKind, user=2 *UserSubject, group=3 *GroupSubject, serviceAccount=4 *ServiceAccountSubject
UserSubject: name=1!
GroupSubject: name=1!
ServiceAccountSubject: namespace=1!, name=2!
ResourcePolicyRule: verbs=1! []string set
    apiGroups=2! []string set nonempty(resource rules must supply at least one api group) wildcard(api groups)
    resources=3! []string set nonempty(resource rules must supply at least one resource) wildcard(resources)
    clusterScope=4 bool, namespaces=5! []string set optional
NonResourcePolicyRule: verbs=1! []string set
    nonResourceURLs=6! []string set nonempty(nonResourceURLs must contain at least one value)
        wildcard(non-resource URLs)
FlowSchemaStatus: conditions=1 []FlowSchemaCondition by(type)
FlowSchemaCondition: type=1 FlowSchemaConditionType, status=2 ConditionStatus, lastTransitionTime=3 Time, reason=4
    message=5

PriorityLevelConfiguration kind: spec=2 PriorityLevelConfigurationSpec, status=3 PriorityLevelConfigurationStatus
PriorityLevelConfigurationSpec: type=1! PriorityLevelEnablement nonempty enum(Exempt|Limited)
    limited=2 *LimitedPriorityLevelConfiguration
    exempt=3 *ExemptPriorityLevelConfiguration
LimitedPriorityLevelConfiguration:
    nominalConcurrencyShares=1! *int32 optional default(30) min(0 must be a non-negative integer)
    limitResponse=2 LimitResponse, lendablePercent=3 *int32 default(0) range(0 100)
    borrowingLimitPercent=4 *int32 min(0 if specified, must be a non-negative integer)
ExemptPriorityLevelConfiguration:
    nominalConcurrencyShares=1 *int32 default(0) min(0 must be a non-negative integer)
    lendablePercent=2 *int32 default(0) range(0 100)
LimitResponse: type=1! LimitResponseType nonempty enum(Queue|Reject), queuing=2 *QueuingConfiguration
QueuingConfiguration:
    queues=1! int32 optional default(64) min(1 must be positive) max(10000000 must not be greater than 10000000)
    handSize=2! int32 optional default(8) min(1 must be positive)
    queueLengthLimit=3! int32 optional default(50) min(1 must be positive)
PriorityLevelConfigurationStatus: conditions=1 []PriorityLevelConfigurationCondition by(type)
PriorityLevelConfigurationCondition: type=1 PriorityLevelConfigurationConditionType, status=2 ConditionStatus
    lastTransitionTime=3 Time, reason=4, message=5
"""
