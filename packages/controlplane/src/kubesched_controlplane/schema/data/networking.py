"""Ingresses, their classes, network policies, and the addresses of services."""

# upstream: api/networking/v1/types.go (v1.36)

TYPES = """
string: PolicyType, PathType

NetworkPolicy kind: spec=2 NetworkPolicySpec
NetworkPolicySpec: podSelector=1! LabelSelector optional, ingress=2 []NetworkPolicyIngressRule atomic
    egress=3 []NetworkPolicyEgressRule atomic, policyTypes=4 []PolicyType atomic
NetworkPolicyIngressRule: ports=1 []NetworkPolicyPort atomic, from=2 []NetworkPolicyPeer atomic
NetworkPolicyEgressRule: ports=1 []NetworkPolicyPort atomic, to=2 []NetworkPolicyPeer atomic
NetworkPolicyPort: protocol=1 *Protocol, port=2 *IntOrString, endPort=3 *int32
NetworkPolicyPeer: podSelector=1 *LabelSelector, namespaceSelector=2 *LabelSelector, ipBlock=3 *IPBlock
IPBlock: cidr=1!, except=2 []string atomic

Ingress kind: spec=2 IngressSpec, status=3 IngressStatus
IngressSpec: ingressClassName=4 *string, defaultBackend=1 *IngressBackend, tls=2 []IngressTLS atomic
    rules=3 []IngressRule atomic
IngressTLS: hosts=1 []string atomic, secretName=2
IngressRule: host=1, +IngressRuleValue=2
IngressRuleValue: http=1 *HTTPIngressRuleValue
HTTPIngressRuleValue: paths=1! []HTTPIngressPath atomic
HTTPIngressPath: path=1, pathType=3! *PathType, backend=2! IngressBackend
IngressBackend: service=4 *IngressServiceBackend, resource=3 *TypedLocalObjectReference
IngressServiceBackend: name=1!, port=2 ServiceBackendPort
ServiceBackendPort atomic: name=1, number=2 int32
IngressStatus: loadBalancer=1 IngressLoadBalancerStatus
IngressLoadBalancerStatus: ingress=1 []IngressLoadBalancerIngress atomic
IngressLoadBalancerIngress: ip=1, hostname=2, ports=4 []IngressPortStatus atomic
IngressPortStatus: port=1! int32, protocol=2! Protocol, error=3 *string

IngressClass kind: spec=2 IngressClassSpec
IngressClassSpec: controller=1, parameters=2 *IngressClassParametersReference
IngressClassParametersReference: apiGroup=1 *string, kind=2!, name=3!, scope=4! *string optional, namespace=5 *string

IPAddress kind: spec=2 IPAddressSpec required
IPAddressSpec: parentRef=1 *ParentReference required
ParentReference: group=1, resource=2 string required, namespace=3, name=4 string required
ServiceCIDR kind: spec=2 ServiceCIDRSpec, status=3 ServiceCIDRStatus
ServiceCIDRSpec: cidrs=1 []string atomic
ServiceCIDRStatus: conditions=1 []Condition by(type)
"""
