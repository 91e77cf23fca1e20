"""The scale of a controller, as its subresource has it; and autoscalers, in two versions."""

# upstream: api/autoscaling/{v1,v2}/types.go (v1.36)

TYPES = """
Scale kind: spec=2 ScaleSpec, status=3 ScaleStatus
ScaleSpec: replicas=1 int32
ScaleStatus: replicas=1! int32, selector=2

HorizontalPodAutoscaler kind: spec=2 HorizontalPodAutoscalerSpec required, status=3 HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec: scaleTargetRef=1! CrossVersionObjectReference, minReplicas=2 *int32, maxReplicas=3! int32
    targetCPUUtilizationPercentage=4 *int32
HorizontalPodAutoscalerStatus: observedGeneration=1 *int64, lastScaleTime=2 *Time, currentReplicas=3! int32
    desiredReplicas=4! int32, currentCPUUtilizationPercentage=5 *int32
CrossVersionObjectReference atomic: kind=1!, name=2!, apiVersion=3
"""

AUTOSCALERS = """
string: ScalingPolicySelect, HPAScalingPolicyType, MetricSourceType, MetricTargetType
string: HorizontalPodAutoscalerConditionType

HorizontalPodAutoscaler kind: spec=2 HorizontalPodAutoscalerSpec required, status=3 HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec: scaleTargetRef=1! CrossVersionObjectReference, minReplicas=2 *int32 default(1) min(1)
    maxReplicas=3! int32 nonempty(must be set and greater than 0) min(1)
    metrics=4 []MetricSpec atomic, behavior=5 *HorizontalPodAutoscalerBehavior
CrossVersionObjectReference: kind=1! string nonempty format(segment), name=2! string nonempty format(segment)
    apiVersion=3
HorizontalPodAutoscalerBehavior: scaleUp=1 *HPAScalingRules, scaleDown=2 *HPAScalingRules
HPAScalingRules: stabilizationWindowSeconds=3 *int32 min(0 must be greater than or equal to zero) max(3600)
    selectPolicy=1 *ScalingPolicySelect enum(Disabled|Max|Min)
    policies=2 []HPAScalingPolicy atomic nonempty(must specify at least one Policy), tolerance=4 *Quantity
HPAScalingPolicy: type=1! HPAScalingPolicyType enum(Percent|Pods), value=2! int32 min(1 must be greater than zero)
    periodSeconds=3! int32 min(1 must be greater than zero) max(1800)

MetricSpec: type=1! MetricSourceType, object=2 *ObjectMetricSource, pods=3 *PodsMetricSource
    resource=4 *ResourceMetricSource, containerResource=7 *ContainerResourceMetricSource
    external=5 *ExternalMetricSource
ObjectMetricSource: describedObject=1! CrossVersionObjectReference, target=2! MetricTarget, metric=3! MetricIdentifier
PodsMetricSource: metric=1! MetricIdentifier, target=2! MetricTarget
ResourceMetricSource: name=1! ResourceName nonempty(must specify a resource name), target=2! MetricTarget
ContainerResourceMetricSource: name=1! ResourceName nonempty(must specify a resource name) format(containerresource)
    target=2! MetricTarget, container=3! string nonempty(must specify a container) format(label)
ExternalMetricSource: metric=1! MetricIdentifier, target=2! MetricTarget
MetricIdentifier: name=1! string nonempty(must specify a metric name) format(segment), selector=2 *LabelSelector
MetricTarget: type=1! MetricTargetType, value=2 *Quantity, averageValue=3 *Quantity, averageUtilization=4 *int32

HorizontalPodAutoscalerStatus: observedGeneration=1 *int64, lastScaleTime=2 *Time, currentReplicas=3 int32 min(0)
    desiredReplicas=4! int32 min(0), currentMetrics=5! []MetricStatus atomic optional
    conditions=6 []HorizontalPodAutoscalerCondition by(type)
HorizontalPodAutoscalerCondition: type=1! HorizontalPodAutoscalerConditionType, status=2! ConditionStatus
    lastTransitionTime=3 Time, reason=4, message=5
MetricStatus: type=1! MetricSourceType, object=2 *ObjectMetricStatus, pods=3 *PodsMetricStatus
    resource=4 *ResourceMetricStatus, containerResource=7 *ContainerResourceMetricStatus
    external=5 *ExternalMetricStatus
ObjectMetricStatus: metric=1! MetricIdentifier, current=2! MetricValueStatus
    describedObject=3! CrossVersionObjectReference
PodsMetricStatus: metric=1! MetricIdentifier, current=2! MetricValueStatus
ResourceMetricStatus: name=1! ResourceName, current=2! MetricValueStatus
ContainerResourceMetricStatus: name=1! ResourceName, current=2! MetricValueStatus, container=3!
ExternalMetricStatus: metric=1! MetricIdentifier, current=2! MetricValueStatus
MetricValueStatus: value=1 *Quantity, averageValue=2 *Quantity, averageUtilization=3 *int32
"""
