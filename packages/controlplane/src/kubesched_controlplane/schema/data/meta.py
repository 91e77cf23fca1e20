"""What all kinds share: metadata, label selectors, conditions, options, statuses."""

# upstream: apimachinery/pkg/apis/meta/v1/types.go (v1.36)

TYPES = """
string: ManagedFieldsOperationType, LabelSelectorOperator, FieldSelectorOperator, ConditionStatus, DeletionPropagation
string: StatusReason, CauseType

TypeMeta: kind=1, apiVersion=2

ObjectMeta: name=1, generateName=2, namespace=3, selfLink=4, uid=5 UID, resourceVersion=6, generation=7 int64
    creationTimestamp=8 Time omitzero, deletionTimestamp=9 *Time, deletionGracePeriodSeconds=10 *int64
    labels=11 map[string]string, annotations=12 map[string]string, ownerReferences=13 []OwnerReference by(uid)
    finalizers=14 []string set merge, managedFields=17 []ManagedFieldsEntry atomic

OwnerReference atomic: apiVersion=5!, kind=1!, name=3!, uid=4! UID, controller=6 *bool, blockOwnerDeletion=7 *bool

ManagedFieldsEntry: manager=1, operation=2 ManagedFieldsOperationType, apiVersion=3, time=4 *Time, fieldsType=6
    fieldsV1=7 *FieldsV1, subresource=8

LabelSelector atomic: matchLabels=1 map[string]string, matchExpressions=2 []LabelSelectorRequirement atomic
LabelSelectorRequirement: key=1!, operator=2! LabelSelectorOperator, values=3 []string atomic
FieldSelectorRequirement: key=1!, operator=2! FieldSelectorOperator, values=3 []string atomic

Condition: type=1!, status=2! ConditionStatus, observedGeneration=3 int64, lastTransitionTime=4! Time, reason=5!
    message=6!

DeleteOptions kind: +TypeMeta, gracePeriodSeconds=1 *int64, preconditions=2 *Preconditions, orphanDependents=3 *bool
    propagationPolicy=4 *DeletionPropagation, dryRun=5 []string atomic
    ignoreStoreReadErrorWithClusterBreakingPotential=6 *bool
Preconditions: uid=1 *UID, resourceVersion=2 *string

Status kind: +TypeMeta, metadata=1 ListMeta, status=2, message=3, reason=4 StatusReason, details=5 *StatusDetails
    code=6 int32
ListMeta: selfLink=1, resourceVersion=2, continue=3, remainingItemCount=4 *int64, shardInfo=5 *ShardInfo
ShardInfo: selector=1!
StatusDetails: name=1, group=2, kind=3, uid=6 UID, causes=4 []StatusCause atomic, retryAfterSeconds=5 int32
StatusCause: reason=1 CauseType, message=2, field=3
"""
