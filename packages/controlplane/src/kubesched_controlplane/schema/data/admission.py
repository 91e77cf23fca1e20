"""Configurations of admission webhooks, and admission policies."""

# upstream: api/admissionregistration/v1/types.go (v1.36)

TYPES = """
string: ScopeType, FailurePolicyType, MatchPolicyType, SideEffectClass, ReinvocationPolicyType, OperationType
string: ValidationAction, ParameterNotFoundActionType, PatchType

ValidatingWebhookConfiguration kind: webhooks=2 []ValidatingWebhook by(name)
ValidatingWebhook: name=1! string nonempty format(hook), clientConfig=2! WebhookClientConfig
    rules=3 []RuleWithOperations atomic
    failurePolicy=4 *FailurePolicyType default(Fail) enum(Fail|Ignore)
    matchPolicy=9 *MatchPolicyType default(Equivalent) enum(Equivalent|Exact)
    namespaceSelector=5 *LabelSelector default({}) format(selector)
    objectSelector=10 *LabelSelector default({}) format(selector)
    sideEffects=6! *SideEffectClass nonempty(must specify one of None, NoneOnDryRun) enum(None|NoneOnDryRun)
    timeoutSeconds=7 *int32 default(10) range(1 30 the timeout value must be between 1 and 30 seconds)
    admissionReviewVersions=8! []string atomic, matchConditions=11 []MatchCondition by(name)
MutatingWebhookConfiguration kind: webhooks=2 []MutatingWebhook by(name)
MutatingWebhook: name=1! string nonempty format(hook), clientConfig=2! WebhookClientConfig
    rules=3 []RuleWithOperations atomic
    failurePolicy=4 *FailurePolicyType default(Fail) enum(Fail|Ignore)
    matchPolicy=9 *MatchPolicyType default(Equivalent) enum(Equivalent|Exact)
    namespaceSelector=5 *LabelSelector default({}) format(selector)
    objectSelector=11 *LabelSelector default({}) format(selector)
    sideEffects=6! *SideEffectClass nonempty(must specify one of None, NoneOnDryRun) enum(None|NoneOnDryRun)
    timeoutSeconds=7 *int32 default(10) range(1 30 the timeout value must be between 1 and 30 seconds)
    admissionReviewVersions=8! []string atomic
    reinvocationPolicy=10 *ReinvocationPolicyType default(Never) enum(IfNeeded|Never)
    matchConditions=12 []MatchCondition by(name)
RuleWithOperations: operations=1 []OperationType atomic nonempty wildcard(operations)
        enum(*|CONNECT|CREATE|DELETE|UPDATE)
    +Rule=2
Rule: apiGroups=1 []string atomic nonempty wildcard(API groups)
    apiVersions=2 []string atomic nonempty wildcard(API versions) format(given), resources=3 []string atomic
    scope=4 *ScopeType default(*) enum(*|Cluster|Namespaced)
WebhookClientConfig: url=3 *string, service=1 *ServiceReference, caBundle=2 *bytes
ServiceReference: namespace=1!, name=2!, path=3 *string, port=4 *int32 default(443)
MatchCondition: name=1!, expression=2!

ValidatingAdmissionPolicy kind: spec=2 ValidatingAdmissionPolicySpec, status=3 ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicySpec: paramKind=1 *ParamKind, matchConstraints=2 *MatchResources nonempty
    validations=3 []Validation atomic, failurePolicy=4 *FailurePolicyType default(Fail) enum(Fail|Ignore)
    auditAnnotations=5 []AuditAnnotation atomic
    matchConditions=6 []MatchCondition by(name), variables=7 []Variable by(name)
ValidatingAdmissionPolicyStatus: observedGeneration=1 int64, typeChecking=2 *TypeChecking
    conditions=3 []Condition map(type)
TypeChecking: expressionWarnings=1 []ExpressionWarning atomic
ExpressionWarning: fieldRef=2!, warning=3!
ParamKind atomic: apiVersion=1, kind=2
Validation: expression=1!, message=2, reason=3 *StatusReason, messageExpression=4
Variable atomic: name=1!, expression=2!
AuditAnnotation: key=1!, valueExpression=2!
ValidatingAdmissionPolicyBinding kind: spec=2 ValidatingAdmissionPolicyBindingSpec required
ValidatingAdmissionPolicyBindingSpec: policyName=1 string required nonempty format(subdomain), paramRef=2 *ParamRef
    matchResources=3 *MatchResources, validationActions=4 []ValidationAction set required
ParamRef atomic: name=1 string format(segment), namespace=2, selector=3 *LabelSelector format(selector)
    parameterNotFoundAction=4 *ParameterNotFoundActionType enum(Deny|Allow)
MatchResources atomic: namespaceSelector=1 *LabelSelector default({}) format(selector)
    objectSelector=2 *LabelSelector default({}) format(selector)
    resourceRules=3 []NamedRuleWithOperations atomic, excludeResourceRules=4 []NamedRuleWithOperations atomic
    matchPolicy=7 *MatchPolicyType default(Equivalent) enum(Equivalent|Exact)
NamedRuleWithOperations atomic: resourceNames=1 []string atomic, +RuleWithOperations=2

MutatingAdmissionPolicy kind: spec=2 MutatingAdmissionPolicySpec
MutatingAdmissionPolicySpec: paramKind=1 *ParamKind, matchConstraints=2 *MatchResources nonempty
    variables=3 []Variable atomic
    mutations=4 []Mutation atomic, failurePolicy=5 *FailurePolicyType default(Fail) enum(Fail|Ignore)
    matchConditions=6 []MatchCondition by(name)
    reinvocationPolicy=7 ReinvocationPolicyType
Mutation: patchType=2! PatchType, applyConfiguration=3 *ApplyConfiguration, jsonPatch=4 *JSONPatch
ApplyConfiguration: expression=1
JSONPatch: expression=1
MutatingAdmissionPolicyBinding kind: spec=2 MutatingAdmissionPolicyBindingSpec
MutatingAdmissionPolicyBindingSpec: policyName=1 string nonempty format(subdomain)
    paramRef=2 *ParamRef, matchResources=3 *MatchResources
"""
