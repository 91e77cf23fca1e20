"""Roles and who has them; reviews of tokens and of access."""

# upstream: api/{rbac,authentication,authorization}/v1/types.go (v1.36)

RBAC = """
Role kind: rules! []PolicyRule atomic optional
ClusterRole kind: rules! []PolicyRule atomic optional, aggregationRule *AggregationRule
AggregationRule: clusterRoleSelectors []LabelSelector atomic
PolicyRule: verbs! []string atomic, apiGroups []string atomic, resources []string atomic
    resourceNames []string atomic, nonResourceURLs []string atomic
RoleBinding kind: subjects []Subject atomic, roleRef! RoleRef
ClusterRoleBinding kind: subjects []Subject atomic, roleRef! RoleRef
Subject atomic: kind!, apiGroup, name!, namespace
RoleRef atomic: apiGroup! string optional, kind!, name!
"""

AUTHENTICATION = """
ExtraValue = []string

TokenReview kind: spec! TokenReviewSpec, status TokenReviewStatus
TokenReviewSpec: token string required, audiences []string atomic
TokenReviewStatus: authenticated bool, user UserInfo, audiences []string atomic, error
UserInfo: username, uid, groups []string atomic, extra map[string]ExtraValue

SelfSubjectReview kind: status SelfSubjectReviewStatus
SelfSubjectReviewStatus: userInfo UserInfo

TokenRequest kind: spec! TokenRequestSpec optional, status TokenRequestStatus
TokenRequestSpec: audiences! []string atomic optional, expirationSeconds! *int64 optional
    boundObjectRef! *BoundObjectReference optional
BoundObjectReference: kind, apiVersion, name, uid UID
TokenRequestStatus: token! string optional, expirationTimestamp! Time optional
"""

AUTHORIZATION = """
ExtraValue = []string

SubjectAccessReview kind: spec! SubjectAccessReviewSpec, status SubjectAccessReviewStatus
LocalSubjectAccessReview kind: spec! SubjectAccessReviewSpec, status SubjectAccessReviewStatus
SubjectAccessReviewSpec: resourceAttributes *ResourceAttributes, nonResourceAttributes *NonResourceAttributes, user
    groups []string atomic, extra map[string]ExtraValue, uid
ResourceAttributes: namespace, verb, group, version, resource, subresource, name
    fieldSelector *FieldSelectorAttributes, labelSelector *LabelSelectorAttributes
FieldSelectorAttributes: rawSelector, requirements []FieldSelectorRequirement atomic
LabelSelectorAttributes: rawSelector, requirements []LabelSelectorRequirement atomic
NonResourceAttributes: path, verb
SubjectAccessReviewStatus: allowed! bool, denied bool, reason, evaluationError

SelfSubjectAccessReview kind: spec! SelfSubjectAccessReviewSpec, status SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: resourceAttributes *ResourceAttributes, nonResourceAttributes *NonResourceAttributes

SelfSubjectRulesReview kind: spec! SelfSubjectRulesReviewSpec, status SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: namespace
SubjectRulesReviewStatus: resourceRules! []ResourceRule atomic, nonResourceRules! []NonResourceRule atomic
    incomplete! bool, evaluationError
ResourceRule: verbs! []string atomic, apiGroups []string atomic, resources []string atomic
    resourceNames []string atomic
NonResourceRule: verbs! []string atomic, nonResourceURLs []string atomic
"""
