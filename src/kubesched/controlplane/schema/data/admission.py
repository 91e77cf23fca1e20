"""Configurations of admission webhooks."""

# upstream: api/admissionregistration/v1/types.go (v1.36)

TYPES = """
string: ScopeType, FailurePolicyType, MatchPolicyType, SideEffectClass, ReinvocationPolicyType, OperationType

ValidatingWebhookConfiguration kind: webhooks []ValidatingWebhook by(name)
ValidatingWebhook: name!, clientConfig! WebhookClientConfig, rules []RuleWithOperations atomic
    failurePolicy *FailurePolicyType, matchPolicy *MatchPolicyType, namespaceSelector *LabelSelector
    objectSelector *LabelSelector, sideEffects! *SideEffectClass, timeoutSeconds *int32
    admissionReviewVersions! []string atomic, matchConditions []MatchCondition by(name)
MutatingWebhookConfiguration kind: webhooks []MutatingWebhook by(name)
MutatingWebhook: name!, clientConfig! WebhookClientConfig, rules []RuleWithOperations atomic
    failurePolicy *FailurePolicyType, matchPolicy *MatchPolicyType, namespaceSelector *LabelSelector
    objectSelector *LabelSelector, sideEffects! *SideEffectClass, timeoutSeconds *int32
    admissionReviewVersions! []string atomic, reinvocationPolicy *ReinvocationPolicyType
    matchConditions []MatchCondition by(name)
RuleWithOperations: operations []OperationType atomic, +Rule
Rule: apiGroups []string atomic, apiVersions []string atomic, resources []string atomic, scope *ScopeType
WebhookClientConfig: url *string, service *ServiceReference, caBundle *bytes
ServiceReference: namespace!, name!, path *string, port *int32
MatchCondition: name!, expression!
"""
