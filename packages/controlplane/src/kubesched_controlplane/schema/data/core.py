"""The rest of the core group: namespaces, services, controllers, configuration, quotas, events."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: FinalizerName, NamespacePhase, NamespaceConditionType, ServiceType, ServiceAffinity, IPFamily, IPFamilyPolicy
string: ServiceExternalTrafficPolicy, ServiceInternalTrafficPolicy, LoadBalancerIPMode, SecretType
string: ReplicationControllerConditionType, LimitType, ResourceQuotaScope, ScopeSelectorOperator

ObjectReference atomic: kind=1, namespace=2, name=3, uid=4 UID, apiVersion=5, resourceVersion=6, fieldPath=7
LocalObjectReference atomic: name=1

Namespace kind: spec=2 NamespaceSpec, status=3 NamespaceStatus
NamespaceSpec: finalizers=1 []FinalizerName atomic
NamespaceStatus: phase=1 NamespacePhase, conditions=2 []NamespaceCondition by(type)
NamespaceCondition: type=1! NamespaceConditionType, status=2! ConditionStatus, lastTransitionTime=4 Time, reason=5
    message=6

Service kind: spec=2 ServiceSpec, status=3 ServiceStatus
ServiceSpec: ports=1 []ServicePort map(port protocol) merge(port), selector=2 map[string]string atomic, clusterIP=3
    clusterIPs=18 []string atomic, type=4 ServiceType default(ClusterIP), externalIPs=5 []string atomic
    sessionAffinity=7 ServiceAffinity default(None), loadBalancerIP=8, loadBalancerSourceRanges=9 []string atomic
    externalName=10
    externalTrafficPolicy=11 ServiceExternalTrafficPolicy, healthCheckNodePort=12 int32
    publishNotReadyAddresses=13 bool, sessionAffinityConfig=14 *SessionAffinityConfig, ipFamilies=19 []IPFamily atomic
    ipFamilyPolicy=17 *IPFamilyPolicy, allocateLoadBalancerNodePorts=20 *bool, loadBalancerClass=21 *string
    internalTrafficPolicy=22 *ServiceInternalTrafficPolicy, trafficDistribution=23 *string
ServicePort: name=1, protocol=2 Protocol default(TCP), appProtocol=6 *string, port=3! int32
    targetPort=4 IntOrString
    nodePort=5 int32
SessionAffinityConfig: clientIP=1 *ClientIPConfig
ClientIPConfig: timeoutSeconds=1 *int32
ServiceStatus: loadBalancer=1 LoadBalancerStatus, conditions=2 []Condition by(type)
LoadBalancerStatus: ingress=1 []LoadBalancerIngress atomic
LoadBalancerIngress: ip=1, hostname=2, ipMode=3 *LoadBalancerIPMode, ports=4 []PortStatus atomic
PortStatus: port=1! int32, protocol=2! Protocol, error=3 *string

Endpoints kind: subsets=2 []EndpointSubset atomic
EndpointSubset: addresses=1 []EndpointAddress atomic, notReadyAddresses=2 []EndpointAddress atomic
    ports=3 []EndpointPort atomic
EndpointAddress atomic: ip=1!, hostname=3 string format(label)
    nodeName=4 *string format(subdomain), targetRef=2 *ObjectReference
EndpointPort atomic: name=1 string format(label), port=2! int32
    protocol=3 Protocol default(TCP) enum(SCTP|TCP|UDP), appProtocol=4 *string

ReplicationController kind: spec=2 ReplicationControllerSpec, status=3 ReplicationControllerStatus
ReplicationControllerSpec: replicas=1 *int32 default(1), minReadySeconds=4 int32, selector=2 map[string]string atomic
    template=3 *PodTemplateSpec
ReplicationControllerStatus: replicas=1! int32, fullyLabeledReplicas=2 int32, readyReplicas=4 int32
    availableReplicas=5 int32, observedGeneration=3 int64, conditions=6 []ReplicationControllerCondition by(type)
ReplicationControllerCondition: type=1! ReplicationControllerConditionType, status=2! ConditionStatus
    lastTransitionTime=3 Time, reason=4, message=5

ConfigMap kind: immutable=4 *bool, data=2 map[string]string, binaryData=3 map[string]bytes
Secret kind: immutable=5 *bool, data=2 map[string]bytes, stringData=4 map[string]string, type=3 SecretType
ServiceAccount kind: secrets=2 []ObjectReference by(name), imagePullSecrets=3 []LocalObjectReference atomic
    automountServiceAccountToken=4 *bool

LimitRange kind: spec=2 LimitRangeSpec
LimitRangeSpec: limits=1! []LimitRangeItem atomic
LimitRangeItem: type=1! LimitType, max=2 ResourceList, min=3 ResourceList, default=4 ResourceList
    defaultRequest=5 ResourceList, maxLimitRequestRatio=6 ResourceList
ResourceQuota kind: spec=2 ResourceQuotaSpec, status=3 ResourceQuotaStatus
ResourceQuotaSpec: hard=1 ResourceList, scopes=2 []ResourceQuotaScope atomic, scopeSelector=3 *ScopeSelector
ResourceQuotaStatus: hard=1 ResourceList, used=2 ResourceList
ScopeSelector atomic: matchExpressions=1 []ScopedResourceSelectorRequirement atomic
ScopedResourceSelectorRequirement: scopeName=1! ResourceQuotaScope, operator=2! ScopeSelectorOperator
    values=3 []string atomic

Event kind: +TypeMeta, metadata=1! ObjectMeta, involvedObject=2! ObjectReference, reason=3, message=4
    source=5 EventSource, firstTimestamp=6 Time, lastTimestamp=7 Time, count=8 int32, type=9, eventTime=10 MicroTime
    series=11 *EventSeries, action=12, related=13 *ObjectReference, reportingComponent=14! string optional
    reportingInstance=15! string optional
EventSource: component=1, host=2
EventSeries: count=1 int32, lastObservedTime=2 MicroTime

TopologySelectorTerm atomic: matchLabelExpressions=1 []TopologySelectorLabelRequirement atomic
TopologySelectorLabelRequirement: key=1!, values=2! []string atomic
"""
