"""Jobs, once and by the clock."""

# upstream: api/batch/v1/types.go (v1.36)

TYPES = """
string: PodFailurePolicyAction, PodFailurePolicyOnExitCodesOperator, CompletionMode, PodReplacementPolicy
string: JobConditionType, ConcurrencyPolicy

Job kind: spec JobSpec, status JobStatus
JobSpec: parallelism *int32, completions *int32, activeDeadlineSeconds *int64, podFailurePolicy *PodFailurePolicy
    successPolicy *SuccessPolicy, backoffLimit *int32, backoffLimitPerIndex *int32, maxFailedIndexes *int32
    selector *LabelSelector, manualSelector *bool, template! PodTemplateSpec, ttlSecondsAfterFinished *int32
    completionMode *CompletionMode, suspend *bool, podReplacementPolicy *PodReplacementPolicy, managedBy *string
PodFailurePolicy: rules! []PodFailurePolicyRule atomic
PodFailurePolicyRule: action! PodFailurePolicyAction, onExitCodes *PodFailurePolicyOnExitCodesRequirement
    onPodConditions []PodFailurePolicyOnPodConditionsPattern atomic
PodFailurePolicyOnExitCodesRequirement: containerName *string, operator! PodFailurePolicyOnExitCodesOperator
    values! []int32 set
PodFailurePolicyOnPodConditionsPattern: type! PodConditionType, status! ConditionStatus optional
SuccessPolicy: rules! []SuccessPolicyRule atomic
SuccessPolicyRule: succeededIndexes *string, succeededCount *int32
JobStatus: conditions []JobCondition atomic merge(type), startTime *Time, completionTime *Time, active int32
    succeeded int32, failed int32, terminating *int32, completedIndexes, failedIndexes *string
    uncountedTerminatedPods *UncountedTerminatedPods, ready *int32
JobCondition: type! JobConditionType, status! ConditionStatus, lastProbeTime Time, lastTransitionTime Time, reason
    message
UncountedTerminatedPods: succeeded []UID set, failed []UID set

CronJob kind: spec CronJobSpec required, status CronJobStatus
CronJobSpec: schedule!, timeZone *string, startingDeadlineSeconds *int64, concurrencyPolicy ConcurrencyPolicy
    suspend *bool, jobTemplate! JobTemplateSpec, successfulJobsHistoryLimit *int32, failedJobsHistoryLimit *int32
JobTemplateSpec: metadata ObjectMeta, spec JobSpec
CronJobStatus: active []ObjectReference atomic, lastScheduleTime *Time, lastSuccessfulTime *Time
"""
