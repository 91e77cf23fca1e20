"""Controllers of pods: replica sets, stateful sets, deployments, daemon sets; and their revisions."""

# upstream: api/apps/v1/types.go (v1.36)

TYPES = """
string: ReplicaSetConditionType, PodManagementPolicyType, StatefulSetUpdateStrategyType, StatefulSetConditionType
string: PersistentVolumeClaimRetentionPolicyType, DeploymentStrategyType, DeploymentConditionType
string: DaemonSetUpdateStrategyType, DaemonSetConditionType

ReplicaSet kind: spec=2 ReplicaSetSpec, status=3 ReplicaSetStatus
ReplicaSetSpec: replicas=1 *int32 default(1), minReadySeconds=4 int32, selector=2! *LabelSelector immutable
    template=3 PodTemplateSpec
ReplicaSetStatus: replicas=1! int32, fullyLabeledReplicas=2 int32, readyReplicas=4 int32, availableReplicas=5 int32
    terminatingReplicas=7 *int32, observedGeneration=3 int64, conditions=6 []ReplicaSetCondition by(type)
ReplicaSetCondition: type=1! ReplicaSetConditionType, status=2! ConditionStatus, lastTransitionTime=3 Time, reason=4
    message=5

StatefulSet kind: spec=2 StatefulSetSpec, status=3 StatefulSetStatus
StatefulSetSpec: replicas=1 *int32 default(1), selector=2! *LabelSelector, template=3! PodTemplateSpec
    volumeClaimTemplates=4 []PersistentVolumeClaim atomic, serviceName=5! string optional
    podManagementPolicy=6 PodManagementPolicyType default(OrderedReady), updateStrategy=7 StatefulSetUpdateStrategy
    revisionHistoryLimit=8 *int32 default(10), minReadySeconds=9 int32
    persistentVolumeClaimRetentionPolicy=10 *StatefulSetPersistentVolumeClaimRetentionPolicy default({})
    ordinals=11 *StatefulSetOrdinals
StatefulSetUpdateStrategy: type=1 StatefulSetUpdateStrategyType, rollingUpdate=2 *RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy: partition=1 *int32, maxUnavailable=2 *IntOrString
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted=1 PersistentVolumeClaimRetentionPolicyType default(Retain)
    whenScaled=2 PersistentVolumeClaimRetentionPolicyType default(Retain)
StatefulSetOrdinals: start=1! int32 optional
StatefulSetStatus: observedGeneration=1 int64, replicas=2! int32, readyReplicas=3 int32, currentReplicas=4 int32
    updatedReplicas=5 int32, currentRevision=6, updateRevision=7, collisionCount=9 *int32
    conditions=10 []StatefulSetCondition by(type), availableReplicas=11! int32 optional
StatefulSetCondition: type=1! StatefulSetConditionType, status=2! ConditionStatus, lastTransitionTime=3 Time, reason=4
    message=5

Deployment kind: spec=2 DeploymentSpec, status=3 DeploymentStatus
DeploymentSpec: replicas=1 *int32 default(1), selector=2! *LabelSelector immutable, template=3! PodTemplateSpec
    strategy=4 DeploymentStrategy retainKeys, minReadySeconds=5 int32
    revisionHistoryLimit=6 *int32 default(10), paused=7 bool, progressDeadlineSeconds=9 *int32 default(600)
DeploymentStrategy: type=1 DeploymentStrategyType default(RollingUpdate), rollingUpdate=2 *RollingUpdateDeployment
RollingUpdateDeployment: maxUnavailable=1 *IntOrString, maxSurge=2 *IntOrString
DeploymentStatus: observedGeneration=1 int64 min(0), replicas=2 int32 min(0), updatedReplicas=3 int32 min(0)
    readyReplicas=7 int32 min(0), availableReplicas=4 int32 min(0), unavailableReplicas=5 int32 min(0)
    terminatingReplicas=9 *int32 min(0), conditions=6 []DeploymentCondition by(type), collisionCount=8 *int32 min(0)
DeploymentCondition: type=1! DeploymentConditionType, status=2! ConditionStatus, lastUpdateTime=6 Time
    lastTransitionTime=7 Time, reason=4, message=5

DaemonSet kind: spec=2 DaemonSetSpec, status=3 DaemonSetStatus
DaemonSetSpec: selector=1! *LabelSelector immutable, template=2! PodTemplateSpec
    updateStrategy=3 DaemonSetUpdateStrategy
    minReadySeconds=4 int32, revisionHistoryLimit=6 *int32 default(10)
DaemonSetUpdateStrategy: type=1 DaemonSetUpdateStrategyType default(RollingUpdate)
    rollingUpdate=2 *RollingUpdateDaemonSet
RollingUpdateDaemonSet: maxUnavailable=1 *IntOrString, maxSurge=2 *IntOrString
DaemonSetStatus: currentNumberScheduled=1! int32 min(0), numberMisscheduled=2! int32 min(0)
    desiredNumberScheduled=3! int32 min(0), numberReady=4! int32 min(0), observedGeneration=5 int64 min(0)
    updatedNumberScheduled=6 int32 min(0), numberAvailable=7 int32 min(0), numberUnavailable=8 int32 min(0)
    collisionCount=9 *int32 min(0), conditions=10 []DaemonSetCondition by(type)
DaemonSetCondition: type=1! DaemonSetConditionType, status=2! ConditionStatus, lastTransitionTime=3 Time, reason=4
    message=5

ControllerRevision kind: data=2 RawExtension, revision=3! int64 min(0)
"""
