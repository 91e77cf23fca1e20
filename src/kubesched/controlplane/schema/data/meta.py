"""What all kinds share: metadata, label selectors, conditions, options, statuses."""

# upstream: apimachinery/pkg/apis/meta/v1/types.go (v1.36)

TYPES = """
string: ManagedFieldsOperationType, LabelSelectorOperator, FieldSelectorOperator, ConditionStatus, DeletionPropagation
string: StatusReason, CauseType

TypeMeta: kind, apiVersion

ObjectMeta: name, generateName, namespace, selfLink, uid UID, resourceVersion, generation int64
    creationTimestamp Time omitzero, deletionTimestamp *Time, deletionGracePeriodSeconds *int64
    labels map[string]string, annotations map[string]string, ownerReferences []OwnerReference by(uid)
    finalizers []string set merge, managedFields []ManagedFieldsEntry atomic

OwnerReference atomic: apiVersion!, kind!, name!, uid! UID, controller *bool, blockOwnerDeletion *bool

ManagedFieldsEntry: manager, operation ManagedFieldsOperationType, apiVersion, time *Time, fieldsType
    fieldsV1 *FieldsV1, subresource

LabelSelector atomic: matchLabels map[string]string, matchExpressions []LabelSelectorRequirement atomic
LabelSelectorRequirement: key!, operator! LabelSelectorOperator, values []string atomic
FieldSelectorRequirement: key!, operator! FieldSelectorOperator, values []string atomic

Condition: type!, status! ConditionStatus, observedGeneration int64, lastTransitionTime! Time, reason!, message!

DeleteOptions kind: +TypeMeta, gracePeriodSeconds *int64, preconditions *Preconditions, orphanDependents *bool
    propagationPolicy *DeletionPropagation, dryRun []string atomic
    ignoreStoreReadErrorWithClusterBreakingPotential *bool
Preconditions: uid *UID, resourceVersion *string

Status kind: +TypeMeta, metadata ListMeta, status, message, reason StatusReason, details *StatusDetails, code int32
ListMeta: selfLink, resourceVersion, continue, remainingItemCount *int64, shardInfo *ShardInfo
ShardInfo: selector!
StatusDetails: name, group, kind, uid UID, causes []StatusCause atomic, retryAfterSeconds int32
StatusCause: reason CauseType, message, field
"""
