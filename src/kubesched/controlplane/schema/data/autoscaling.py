"""The scale of a controller, as its subresource has it; and autoscalers, in two versions."""

# upstream: api/autoscaling/{v1,v2}/types.go (v1.36)

TYPES = """
Scale kind: spec ScaleSpec, status ScaleStatus
ScaleSpec: replicas int32
ScaleStatus: replicas! int32, selector

HorizontalPodAutoscaler kind: spec HorizontalPodAutoscalerSpec, status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec: scaleTargetRef! CrossVersionObjectReference, minReplicas *int32, maxReplicas! int32
    targetCPUUtilizationPercentage *int32
HorizontalPodAutoscalerStatus: observedGeneration *int64, lastScaleTime *Time, currentReplicas! int32
    desiredReplicas! int32, currentCPUUtilizationPercentage *int32
CrossVersionObjectReference atomic: kind!, name!, apiVersion
"""

AUTOSCALERS = """
string: ScalingPolicySelect, HPAScalingPolicyType, MetricSourceType, MetricTargetType
string: HorizontalPodAutoscalerConditionType

HorizontalPodAutoscaler kind: spec HorizontalPodAutoscalerSpec, status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec: scaleTargetRef! CrossVersionObjectReference, minReplicas *int32, maxReplicas! int32
    metrics []MetricSpec atomic, behavior *HorizontalPodAutoscalerBehavior
CrossVersionObjectReference: kind!, name!, apiVersion
HorizontalPodAutoscalerBehavior: scaleUp *HPAScalingRules, scaleDown *HPAScalingRules
HPAScalingRules: stabilizationWindowSeconds *int32, selectPolicy *ScalingPolicySelect
    policies []HPAScalingPolicy atomic, tolerance *Quantity
HPAScalingPolicy: type! HPAScalingPolicyType, value! int32, periodSeconds! int32

MetricSpec: type! MetricSourceType, object *ObjectMetricSource, pods *PodsMetricSource
    resource *ResourceMetricSource, containerResource *ContainerResourceMetricSource, external *ExternalMetricSource
ObjectMetricSource: describedObject! CrossVersionObjectReference, target! MetricTarget, metric! MetricIdentifier
PodsMetricSource: metric! MetricIdentifier, target! MetricTarget
ResourceMetricSource: name! ResourceName, target! MetricTarget
ContainerResourceMetricSource: name! ResourceName, target! MetricTarget, container!
ExternalMetricSource: metric! MetricIdentifier, target! MetricTarget
MetricIdentifier: name!, selector *LabelSelector
MetricTarget: type! MetricTargetType, value *Quantity, averageValue *Quantity, averageUtilization *int32

HorizontalPodAutoscalerStatus: observedGeneration *int64, lastScaleTime *Time, currentReplicas int32
    desiredReplicas! int32, currentMetrics! []MetricStatus atomic optional
    conditions []HorizontalPodAutoscalerCondition by(type)
HorizontalPodAutoscalerCondition: type! HorizontalPodAutoscalerConditionType, status! ConditionStatus
    lastTransitionTime Time, reason, message
MetricStatus: type! MetricSourceType, object *ObjectMetricStatus, pods *PodsMetricStatus
    resource *ResourceMetricStatus, containerResource *ContainerResourceMetricStatus, external *ExternalMetricStatus
ObjectMetricStatus: metric! MetricIdentifier, current! MetricValueStatus, describedObject! CrossVersionObjectReference
PodsMetricStatus: metric! MetricIdentifier, current! MetricValueStatus
ResourceMetricStatus: name! ResourceName, current! MetricValueStatus
ContainerResourceMetricStatus: name! ResourceName, current! MetricValueStatus, container!
ExternalMetricStatus: metric! MetricIdentifier, current! MetricValueStatus
MetricValueStatus: value *Quantity, averageValue *Quantity, averageUtilization *int32
"""
