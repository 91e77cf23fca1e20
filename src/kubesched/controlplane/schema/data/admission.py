"""Configurations of admission webhooks, and admission policies."""

# upstream: api/admissionregistration/v1/types.go (v1.36)

TYPES = """
string: ScopeType, FailurePolicyType, MatchPolicyType, SideEffectClass, ReinvocationPolicyType, OperationType
string: ValidationAction, ParameterNotFoundActionType, PatchType

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

ValidatingAdmissionPolicy kind: spec ValidatingAdmissionPolicySpec, status ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicySpec: paramKind *ParamKind, matchConstraints *MatchResources
    validations []Validation atomic, failurePolicy *FailurePolicyType, auditAnnotations []AuditAnnotation atomic
    matchConditions []MatchCondition by(name), variables []Variable by(name)
ValidatingAdmissionPolicyStatus: observedGeneration int64, typeChecking *TypeChecking
    conditions []Condition map(type)
TypeChecking: expressionWarnings []ExpressionWarning atomic
ExpressionWarning: fieldRef!, warning!
ParamKind atomic: apiVersion, kind
Validation: expression!, message, reason *StatusReason, messageExpression
Variable atomic: name!, expression!
AuditAnnotation: key!, valueExpression!
ValidatingAdmissionPolicyBinding kind: spec ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec: policyName, paramRef *ParamRef, matchResources *MatchResources
    validationActions []ValidationAction set
ParamRef atomic: name, namespace, selector *LabelSelector, parameterNotFoundAction *ParameterNotFoundActionType
MatchResources atomic: namespaceSelector *LabelSelector, objectSelector *LabelSelector
    resourceRules []NamedRuleWithOperations atomic, excludeResourceRules []NamedRuleWithOperations atomic
    matchPolicy *MatchPolicyType
NamedRuleWithOperations atomic: resourceNames []string atomic, +RuleWithOperations

MutatingAdmissionPolicy kind: spec MutatingAdmissionPolicySpec
MutatingAdmissionPolicySpec: paramKind *ParamKind, matchConstraints *MatchResources, variables []Variable atomic
    mutations []Mutation atomic, failurePolicy *FailurePolicyType, matchConditions []MatchCondition by(name)
    reinvocationPolicy ReinvocationPolicyType
Mutation: patchType! PatchType, applyConfiguration *ApplyConfiguration, jsonPatch *JSONPatch
ApplyConfiguration: expression
JSONPatch: expression
MutatingAdmissionPolicyBinding kind: spec MutatingAdmissionPolicyBindingSpec
MutatingAdmissionPolicyBindingSpec: policyName, paramRef *ParamRef, matchResources *MatchResources
"""
