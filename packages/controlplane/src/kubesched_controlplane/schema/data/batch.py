"""Jobs, once and by the clock."""

# upstream: api/batch/v1/types.go (v1.36)

TYPES = """
string: PodFailurePolicyAction, PodFailurePolicyOnExitCodesOperator, CompletionMode, PodReplacementPolicy
string: JobConditionType, ConcurrencyPolicy

Job kind: spec=2 JobSpec, status=3 JobStatus
JobSpec: parallelism=1 *int32, completions=2 *int32, activeDeadlineSeconds=3 *int64
    podFailurePolicy=11 *PodFailurePolicy, successPolicy=16 *SuccessPolicy, backoffLimit=7 *int32
    backoffLimitPerIndex=12 *int32, maxFailedIndexes=13 *int32, selector=4 *LabelSelector, manualSelector=5 *bool
    template=6! PodTemplateSpec, ttlSecondsAfterFinished=8 *int32, completionMode=9 *CompletionMode, suspend=10 *bool
    podReplacementPolicy=14 *PodReplacementPolicy, managedBy=15 *string
PodFailurePolicy: rules=1! []PodFailurePolicyRule atomic
PodFailurePolicyRule: action=1! PodFailurePolicyAction, onExitCodes=2 *PodFailurePolicyOnExitCodesRequirement
    onPodConditions=3 []PodFailurePolicyOnPodConditionsPattern atomic
PodFailurePolicyOnExitCodesRequirement: containerName=1 *string, operator=2! PodFailurePolicyOnExitCodesOperator
    values=3! []int32 set
PodFailurePolicyOnPodConditionsPattern: type=1! PodConditionType, status=2! ConditionStatus optional
SuccessPolicy: rules=1! []SuccessPolicyRule atomic
SuccessPolicyRule: succeededIndexes=1 *string, succeededCount=2 *int32
JobStatus: conditions=1 []JobCondition atomic merge(type), startTime=2 *Time, completionTime=3 *Time, active=4 int32
    succeeded=5 int32, failed=6 int32, terminating=11 *int32, completedIndexes=7, failedIndexes=10 *string
    uncountedTerminatedPods=8 *UncountedTerminatedPods, ready=9 *int32
JobCondition: type=1! JobConditionType, status=2! ConditionStatus, lastProbeTime=3 Time, lastTransitionTime=4 Time
    reason=5, message=6
UncountedTerminatedPods: succeeded=1 []UID set, failed=2 []UID set

CronJob kind: spec=2 CronJobSpec required, status=3 CronJobStatus
CronJobSpec: schedule=1!, timeZone=8 *string, startingDeadlineSeconds=2 *int64
    concurrencyPolicy=3 ConcurrencyPolicy default(Allow), suspend=4 *bool default(false), jobTemplate=5! JobTemplateSpec
    successfulJobsHistoryLimit=6 *int32 default(3), failedJobsHistoryLimit=7 *int32 default(1)
JobTemplateSpec: metadata=1 ObjectMeta, spec=2 JobSpec
CronJobStatus: active=1 []ObjectReference atomic, lastScheduleTime=4 *Time, lastSuccessfulTime=5 *Time
"""
