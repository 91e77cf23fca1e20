"""The rest of the core group: namespaces, services, controllers, configuration, quotas, events."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: FinalizerName, NamespacePhase, NamespaceConditionType, ServiceType, ServiceAffinity, IPFamily, IPFamilyPolicy
string: ServiceExternalTrafficPolicy, ServiceInternalTrafficPolicy, LoadBalancerIPMode, SecretType
string: ReplicationControllerConditionType, LimitType, ResourceQuotaScope, ScopeSelectorOperator

ObjectReference atomic: kind, namespace, name, uid UID, apiVersion, resourceVersion, fieldPath
LocalObjectReference atomic: name

Namespace kind: spec NamespaceSpec, status NamespaceStatus
NamespaceSpec: finalizers []FinalizerName atomic
NamespaceStatus: phase NamespacePhase, conditions []NamespaceCondition by(type)
NamespaceCondition: type! NamespaceConditionType, status! ConditionStatus, lastTransitionTime Time, reason, message

Service kind: spec ServiceSpec, status ServiceStatus
ServiceSpec: ports []ServicePort map(port protocol) merge(port), selector map[string]string atomic, clusterIP
    clusterIPs []string atomic, type ServiceType, externalIPs []string atomic, sessionAffinity ServiceAffinity
    loadBalancerIP, loadBalancerSourceRanges []string atomic, externalName
    externalTrafficPolicy ServiceExternalTrafficPolicy, healthCheckNodePort int32, publishNotReadyAddresses bool
    sessionAffinityConfig *SessionAffinityConfig, ipFamilies []IPFamily atomic, ipFamilyPolicy *IPFamilyPolicy
    allocateLoadBalancerNodePorts *bool, loadBalancerClass *string
    internalTrafficPolicy *ServiceInternalTrafficPolicy, trafficDistribution *string
ServicePort: name, protocol Protocol, appProtocol *string, port! int32, targetPort IntOrString, nodePort int32
SessionAffinityConfig: clientIP *ClientIPConfig
ClientIPConfig: timeoutSeconds *int32
ServiceStatus: loadBalancer LoadBalancerStatus, conditions []Condition by(type)
LoadBalancerStatus: ingress []LoadBalancerIngress atomic
LoadBalancerIngress: ip, hostname, ipMode *LoadBalancerIPMode, ports []PortStatus atomic
PortStatus: port! int32, protocol! Protocol, error *string

Endpoints kind: subsets []EndpointSubset atomic
EndpointSubset: addresses []EndpointAddress atomic, notReadyAddresses []EndpointAddress atomic
    ports []EndpointPort atomic
EndpointAddress atomic: ip!, hostname, nodeName *string, targetRef *ObjectReference
EndpointPort atomic: name, port! int32, protocol Protocol, appProtocol *string

ReplicationController kind: spec ReplicationControllerSpec, status ReplicationControllerStatus
ReplicationControllerSpec: replicas *int32, minReadySeconds int32, selector map[string]string atomic
    template *PodTemplateSpec
ReplicationControllerStatus: replicas! int32, fullyLabeledReplicas int32, readyReplicas int32, availableReplicas int32
    observedGeneration int64, conditions []ReplicationControllerCondition by(type)
ReplicationControllerCondition: type! ReplicationControllerConditionType, status! ConditionStatus
    lastTransitionTime Time, reason, message

ConfigMap kind: immutable *bool, data map[string]string, binaryData map[string]bytes
Secret kind: immutable *bool, data map[string]bytes, stringData map[string]string, type SecretType
ServiceAccount kind: secrets []ObjectReference by(name), imagePullSecrets []LocalObjectReference atomic
    automountServiceAccountToken *bool

LimitRange kind: spec LimitRangeSpec
LimitRangeSpec: limits! []LimitRangeItem atomic
LimitRangeItem: type! LimitType, max ResourceList, min ResourceList, default ResourceList, defaultRequest ResourceList
    maxLimitRequestRatio ResourceList
ResourceQuota kind: spec ResourceQuotaSpec, status ResourceQuotaStatus
ResourceQuotaSpec: hard ResourceList, scopes []ResourceQuotaScope atomic, scopeSelector *ScopeSelector
ResourceQuotaStatus: hard ResourceList, used ResourceList
ScopeSelector atomic: matchExpressions []ScopedResourceSelectorRequirement atomic
ScopedResourceSelectorRequirement: scopeName! ResourceQuotaScope, operator! ScopeSelectorOperator
    values []string atomic

Event kind: +TypeMeta, metadata! ObjectMeta, involvedObject! ObjectReference, reason, message, source EventSource
    firstTimestamp Time, lastTimestamp Time, count int32, type, eventTime MicroTime, series *EventSeries, action
    related *ObjectReference, reportingComponent! string optional, reportingInstance! string optional
EventSource: component, host
EventSeries: count int32, lastObservedTime MicroTime

TopologySelectorTerm atomic: matchLabelExpressions []TopologySelectorLabelRequirement atomic
TopologySelectorLabelRequirement: key!, values! []string atomic
"""
