"""Ingresses, their classes, network policies, and the addresses of services."""

# upstream: api/networking/v1/types.go (v1.36)

TYPES = """
string: PolicyType, PathType

NetworkPolicy kind: spec NetworkPolicySpec
NetworkPolicySpec: podSelector! LabelSelector optional, ingress []NetworkPolicyIngressRule atomic
    egress []NetworkPolicyEgressRule atomic, policyTypes []PolicyType atomic
NetworkPolicyIngressRule: ports []NetworkPolicyPort atomic, from []NetworkPolicyPeer atomic
NetworkPolicyEgressRule: ports []NetworkPolicyPort atomic, to []NetworkPolicyPeer atomic
NetworkPolicyPort: protocol *Protocol, port *IntOrString, endPort *int32
NetworkPolicyPeer: podSelector *LabelSelector, namespaceSelector *LabelSelector, ipBlock *IPBlock
IPBlock: cidr!, except []string atomic

Ingress kind: spec IngressSpec, status IngressStatus
IngressSpec: ingressClassName *string, defaultBackend *IngressBackend, tls []IngressTLS atomic
    rules []IngressRule atomic
IngressTLS: hosts []string atomic, secretName
IngressRule: host, +IngressRuleValue
IngressRuleValue: http *HTTPIngressRuleValue
HTTPIngressRuleValue: paths! []HTTPIngressPath atomic
HTTPIngressPath: path, pathType! *PathType, backend! IngressBackend
IngressBackend: service *IngressServiceBackend, resource *TypedLocalObjectReference
IngressServiceBackend: name!, port ServiceBackendPort
ServiceBackendPort atomic: name, number int32
IngressStatus: loadBalancer IngressLoadBalancerStatus
IngressLoadBalancerStatus: ingress []IngressLoadBalancerIngress atomic
IngressLoadBalancerIngress: ip, hostname, ports []IngressPortStatus atomic
IngressPortStatus: port! int32, protocol! Protocol, error *string

IngressClass kind: spec IngressClassSpec
IngressClassSpec: controller, parameters *IngressClassParametersReference
IngressClassParametersReference: apiGroup *string, kind!, name!, scope! *string optional, namespace *string

IPAddress kind: spec IPAddressSpec
IPAddressSpec: parentRef *ParentReference
ParentReference: group, resource, namespace, name
ServiceCIDR kind: spec ServiceCIDRSpec, status ServiceCIDRStatus
ServiceCIDRSpec: cidrs []string atomic
ServiceCIDRStatus: conditions []Condition by(type)
"""
