"""Controllers of pods: replica sets, stateful sets, deployments, daemon sets; and their revisions."""

# upstream: api/apps/v1/types.go (v1.36)

TYPES = """
string: ReplicaSetConditionType, PodManagementPolicyType, StatefulSetUpdateStrategyType, StatefulSetConditionType
string: PersistentVolumeClaimRetentionPolicyType, DeploymentStrategyType, DeploymentConditionType
string: DaemonSetUpdateStrategyType, DaemonSetConditionType

ReplicaSet kind: spec ReplicaSetSpec, status ReplicaSetStatus
ReplicaSetSpec: replicas *int32, minReadySeconds int32, selector! *LabelSelector, template PodTemplateSpec
ReplicaSetStatus: replicas! int32, fullyLabeledReplicas int32, readyReplicas int32, availableReplicas int32
    terminatingReplicas *int32, observedGeneration int64, conditions []ReplicaSetCondition by(type)
ReplicaSetCondition: type! ReplicaSetConditionType, status! ConditionStatus, lastTransitionTime Time, reason, message

StatefulSet kind: spec StatefulSetSpec, status StatefulSetStatus
StatefulSetSpec: replicas *int32, selector! *LabelSelector, template! PodTemplateSpec
    volumeClaimTemplates []PersistentVolumeClaim atomic, serviceName! string optional
    podManagementPolicy PodManagementPolicyType, updateStrategy StatefulSetUpdateStrategy, revisionHistoryLimit *int32
    minReadySeconds int32, persistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy
    ordinals *StatefulSetOrdinals
StatefulSetUpdateStrategy: type StatefulSetUpdateStrategyType, rollingUpdate *RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy: partition *int32, maxUnavailable *IntOrString
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted PersistentVolumeClaimRetentionPolicyType
    whenScaled PersistentVolumeClaimRetentionPolicyType
StatefulSetOrdinals: start! int32 optional
StatefulSetStatus: observedGeneration int64, replicas! int32, readyReplicas int32, currentReplicas int32
    updatedReplicas int32, currentRevision, updateRevision, collisionCount *int32
    conditions []StatefulSetCondition by(type), availableReplicas! int32 optional
StatefulSetCondition: type! StatefulSetConditionType, status! ConditionStatus, lastTransitionTime Time, reason, message

Deployment kind: spec DeploymentSpec, status DeploymentStatus
DeploymentSpec: replicas *int32, selector! *LabelSelector, template! PodTemplateSpec
    strategy DeploymentStrategy retainKeys, minReadySeconds int32, revisionHistoryLimit *int32, paused bool
    progressDeadlineSeconds *int32
DeploymentStrategy: type DeploymentStrategyType, rollingUpdate *RollingUpdateDeployment
RollingUpdateDeployment: maxUnavailable *IntOrString, maxSurge *IntOrString
DeploymentStatus: observedGeneration int64, replicas int32, updatedReplicas int32, readyReplicas int32
    availableReplicas int32, unavailableReplicas int32, terminatingReplicas *int32
    conditions []DeploymentCondition by(type), collisionCount *int32
DeploymentCondition: type! DeploymentConditionType, status! ConditionStatus, lastUpdateTime Time
    lastTransitionTime Time, reason, message

DaemonSet kind: spec DaemonSetSpec, status DaemonSetStatus
DaemonSetSpec: selector! *LabelSelector, template! PodTemplateSpec, updateStrategy DaemonSetUpdateStrategy
    minReadySeconds int32, revisionHistoryLimit *int32
DaemonSetUpdateStrategy: type DaemonSetUpdateStrategyType, rollingUpdate *RollingUpdateDaemonSet
RollingUpdateDaemonSet: maxUnavailable *IntOrString, maxSurge *IntOrString
DaemonSetStatus: currentNumberScheduled! int32, numberMisscheduled! int32, desiredNumberScheduled! int32
    numberReady! int32, observedGeneration int64, updatedNumberScheduled int32, numberAvailable int32
    numberUnavailable int32, collisionCount *int32, conditions []DaemonSetCondition by(type)
DaemonSetCondition: type! DaemonSetConditionType, status! ConditionStatus, lastTransitionTime Time, reason, message

ControllerRevision kind: data RawExtension, revision! int64
"""
