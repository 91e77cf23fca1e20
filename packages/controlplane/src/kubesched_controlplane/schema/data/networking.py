"""Ingresses, their classes, network policies, and the addresses of services."""

# upstream: api/networking/v1/types.go (v1.36)

TYPES = """
string: PolicyType, PathType

NetworkPolicy kind: spec=2 NetworkPolicySpec
NetworkPolicySpec: podSelector=1! LabelSelector optional format(selector)
    ingress=2 []NetworkPolicyIngressRule atomic, egress=3 []NetworkPolicyEgressRule atomic
    policyTypes=4 []PolicyType atomic enum(Ingress|Egress)
NetworkPolicyIngressRule: ports=1 []NetworkPolicyPort atomic, from=2 []NetworkPolicyPeer atomic
NetworkPolicyEgressRule: ports=1 []NetworkPolicyPort atomic, to=2 []NetworkPolicyPeer atomic
NetworkPolicyPort: protocol=1 *Protocol default(TCP) enum(TCP|UDP|SCTP), port=2 *IntOrString, endPort=3 *int32
NetworkPolicyPeer: podSelector=1 *LabelSelector format(selector), namespaceSelector=2 *LabelSelector format(selector)
    ipBlock=3 *IPBlock
IPBlock: cidr=1! string nonempty format(network), except=2 []string atomic

Ingress kind: spec=2 IngressSpec, status=3 IngressStatus
IngressSpec: ingressClassName=4 *string format(subdomain), defaultBackend=1 *IngressBackend, tls=2 []IngressTLS atomic
    rules=3 []IngressRule atomic
IngressTLS: hosts=1 []string atomic format(host), secretName=2 string format(subdomain)
IngressRule: host=1 string format(host), +IngressRuleValue=2
IngressRuleValue: http=1 *HTTPIngressRuleValue
HTTPIngressRuleValue: paths=1! []HTTPIngressPath atomic nonempty
HTTPIngressPath: path=1
    pathType=3! *PathType nonempty(pathType must be specified) enum(Exact|ImplementationSpecific|Prefix)
    backend=2! IngressBackend
IngressBackend: service=4 *IngressServiceBackend, resource=3 *TypedLocalObjectReference
IngressServiceBackend: name=1! string nonempty format(label), port=2 ServiceBackendPort
ServiceBackendPort atomic: name=1, number=2 int32
IngressStatus: loadBalancer=1 IngressLoadBalancerStatus
IngressLoadBalancerStatus: ingress=1 []IngressLoadBalancerIngress atomic
IngressLoadBalancerIngress: ip=1, hostname=2, ports=4 []IngressPortStatus atomic
IngressPortStatus: port=1! int32, protocol=2! Protocol, error=3 *string

IngressClass kind: spec=2 IngressClassSpec
IngressClassSpec: controller=1 string nonempty length(250) format(domainpath) immutable
    parameters=2 *IngressClassParametersReference
IngressClassParametersReference: apiGroup=1 *string, kind=2! string nonempty, name=3! string nonempty
    scope=4! *string optional enum(Cluster|Namespace), namespace=5 *string

IPAddress kind: spec=2 IPAddressSpec required
IPAddressSpec: parentRef=1 *ParentReference required nonempty immutable
ParentReference: group=1 string format(subdomain), resource=2 string required nonempty format(segment)
    namespace=3 string format(segment), name=4 string required nonempty format(segment)
ServiceCIDR kind: spec=2 ServiceCIDRSpec, status=3 ServiceCIDRStatus
ServiceCIDRSpec: cidrs=1 []string atomic
ServiceCIDRStatus: conditions=1 []Condition by(type) conditions
"""
