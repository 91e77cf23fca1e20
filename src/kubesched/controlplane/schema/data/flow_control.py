"""Flow schemas and priority levels."""

# upstream: api/flowcontrol/v1/types.go (v1.36)

TYPES = """
string: FlowDistinguisherMethodType, SubjectKind, FlowSchemaConditionType, PriorityLevelEnablement, LimitResponseType
string: PriorityLevelConfigurationConditionType, ConditionStatus

FlowSchema kind: spec FlowSchemaSpec, status FlowSchemaStatus
FlowSchemaSpec: priorityLevelConfiguration! PriorityLevelConfigurationReference, matchingPrecedence! int32 optional
    distinguisherMethod *FlowDistinguisherMethod, rules []PolicyRulesWithSubjects atomic
FlowDistinguisherMethod: type! FlowDistinguisherMethodType
PriorityLevelConfigurationReference: name!
PolicyRulesWithSubjects: subjects! []Subject atomic, resourceRules []ResourcePolicyRule atomic
    nonResourceRules []NonResourcePolicyRule atomic
Subject: kind! SubjectKind, user *UserSubject, group *GroupSubject, serviceAccount *ServiceAccountSubject
UserSubject: name!
GroupSubject: name!
ServiceAccountSubject: namespace!, name!
ResourcePolicyRule: verbs! []string set, apiGroups! []string set, resources! []string set, clusterScope bool
    namespaces! []string set optional
NonResourcePolicyRule: verbs! []string set, nonResourceURLs! []string set
FlowSchemaStatus: conditions []FlowSchemaCondition by(type)
FlowSchemaCondition: type FlowSchemaConditionType, status ConditionStatus, lastTransitionTime Time, reason, message

PriorityLevelConfiguration kind: spec PriorityLevelConfigurationSpec, status PriorityLevelConfigurationStatus
PriorityLevelConfigurationSpec: type! PriorityLevelEnablement, limited *LimitedPriorityLevelConfiguration
    exempt *ExemptPriorityLevelConfiguration
LimitedPriorityLevelConfiguration: nominalConcurrencyShares! *int32 optional, limitResponse LimitResponse
    lendablePercent *int32, borrowingLimitPercent *int32
ExemptPriorityLevelConfiguration: nominalConcurrencyShares *int32, lendablePercent *int32
LimitResponse: type! LimitResponseType, queuing *QueuingConfiguration
QueuingConfiguration: queues! int32 optional, handSize! int32 optional, queueLengthLimit! int32 optional
PriorityLevelConfigurationStatus: conditions []PriorityLevelConfigurationCondition by(type)
PriorityLevelConfigurationCondition: type PriorityLevelConfigurationConditionType, status ConditionStatus
    lastTransitionTime Time, reason, message
"""
