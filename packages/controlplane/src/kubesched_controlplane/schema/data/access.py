"""Roles and who has them; reviews of tokens and of access."""

# upstream: api/{rbac,authentication,authorization}/v1/types.go (v1.36)

RBAC = """
Role kind: rules=2! []PolicyRule atomic optional
ClusterRole kind: rules=2! []PolicyRule atomic optional, aggregationRule=3 *AggregationRule
AggregationRule: clusterRoleSelectors=1 []LabelSelector atomic
PolicyRule: verbs=1! []string atomic, apiGroups=2 []string atomic, resources=3 []string atomic
    resourceNames=4 []string atomic, nonResourceURLs=5 []string atomic
RoleBinding kind: subjects=2 []Subject atomic, roleRef=3! RoleRef
ClusterRoleBinding kind: subjects=2 []Subject atomic, roleRef=3! RoleRef
Subject atomic: kind=1!, apiGroup=2, name=3!, namespace=4
RoleRef atomic: apiGroup=1! string optional, kind=2!, name=3!
"""

AUTHENTICATION = """
ExtraValue = []string

TokenReview kind: spec=2! TokenReviewSpec, status=3 TokenReviewStatus
TokenReviewSpec: token=1 string required, audiences=2 []string atomic
TokenReviewStatus: authenticated=1 bool, user=2 UserInfo, audiences=4 []string atomic, error=3
UserInfo: username=1, uid=2, groups=3 []string atomic, extra=4 map[string]ExtraValue

SelfSubjectReview kind: status=2 SelfSubjectReviewStatus
SelfSubjectReviewStatus: userInfo=1 UserInfo

TokenRequest kind: spec=2! TokenRequestSpec optional, status=3 TokenRequestStatus
TokenRequestSpec: audiences=1! []string atomic optional, expirationSeconds=4! *int64 optional
    boundObjectRef=3! *BoundObjectReference optional
BoundObjectReference: kind=1, apiVersion=2, name=3, uid=4 UID
TokenRequestStatus: token=1! string optional, expirationTimestamp=2! Time optional
"""

AUTHORIZATION = """
ExtraValue = []string

SubjectAccessReview kind: spec=2! SubjectAccessReviewSpec, status=3 SubjectAccessReviewStatus
LocalSubjectAccessReview kind: spec=2! SubjectAccessReviewSpec, status=3 SubjectAccessReviewStatus
SubjectAccessReviewSpec: resourceAttributes=1 *ResourceAttributes, nonResourceAttributes=2 *NonResourceAttributes
    user=3, groups=4 []string atomic, extra=5 map[string]ExtraValue, uid=6
ResourceAttributes: namespace=1, verb=2, group=3, version=4, resource=5, subresource=6, name=7
    fieldSelector=8 *FieldSelectorAttributes, labelSelector=9 *LabelSelectorAttributes
FieldSelectorAttributes: rawSelector=1, requirements=2 []FieldSelectorRequirement atomic
LabelSelectorAttributes: rawSelector=1, requirements=2 []LabelSelectorRequirement atomic
NonResourceAttributes: path=1, verb=2
SubjectAccessReviewStatus: allowed=1! bool, denied=4 bool, reason=2, evaluationError=3

SelfSubjectAccessReview kind: spec=2! SelfSubjectAccessReviewSpec, status=3 SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: resourceAttributes=1 *ResourceAttributes, nonResourceAttributes=2 *NonResourceAttributes

SelfSubjectRulesReview kind: spec=2! SelfSubjectRulesReviewSpec, status=3 SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: namespace=1
SubjectRulesReviewStatus: resourceRules=1! []ResourceRule atomic, nonResourceRules=2! []NonResourceRule atomic
    incomplete=3! bool, evaluationError=4
ResourceRule: verbs=1! []string atomic, apiGroups=2 []string atomic, resources=3 []string atomic
    resourceNames=4 []string atomic
NonResourceRule: verbs=1! []string atomic, nonResourceURLs=2 []string atomic
"""
