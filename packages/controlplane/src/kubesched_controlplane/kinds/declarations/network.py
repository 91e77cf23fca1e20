"""The kinds of the network: networking and discovery."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.network.endpoint_slices import EndpointSliceStrategy
from kubesched_controlplane.kinds.network.ingresses import IngressClassStrategy, IngressStrategy, NetworkPolicyStrategy
from kubesched_controlplane.kinds.network.service_cidrs import IPAddressStrategy, ServiceCIDRStrategy
from kubesched_controlplane.registry.declaration import STATUS, Declaration
from kubesched_controlplane.representation.tables.services import (
    ENDPOINT_SLICE_PRINTER,
    INGRESS_CLASS_PRINTER,
    INGRESS_PRINTER,
    IP_ADDRESS_PRINTER,
    NETWORK_POLICY_PRINTER,
    SERVICE_CIDR_PRINTER,
)

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "networking.k8s.io",
            "v1",
            "ingresses",
            "Ingress",
            short_names=("ing",),
            subresources=STATUS,
            printer=INGRESS_PRINTER,
        ),
        "kept; no controller gives it an address",
        IngressStrategy(),
    ),
    Declaration(
        Resource(
            "networking.k8s.io", "v1", "ingressclasses", "IngressClass", namespaced=False, printer=INGRESS_CLASS_PRINTER
        ),
        "kept; a marked class is the default of Ingresses",
        IngressClassStrategy(),
    ),
    Declaration(
        Resource(
            "networking.k8s.io",
            "v1",
            "networkpolicies",
            "NetworkPolicy",
            short_names=("netpol",),
            printer=NETWORK_POLICY_PRINTER,
        ),
        "kept; there is no network",
        NetworkPolicyStrategy(),
    ),
    Declaration(
        Resource(
            "networking.k8s.io",
            "v1",
            "servicecidrs",
            "ServiceCIDR",
            namespaced=False,
            subresources=STATUS,
            printer=SERVICE_CIDR_PRINTER,
        ),
        "kept; addresses come out of the default network",
        ServiceCIDRStrategy(),
    ),
    Declaration(
        Resource(
            "networking.k8s.io",
            "v1",
            "ipaddresses",
            "IPAddress",
            namespaced=False,
            short_names=("ip",),
            printer=IP_ADDRESS_PRINTER,
        ),
        "one for each address of a service",
        IPAddressStrategy(),
    ),
    Declaration(
        Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", printer=ENDPOINT_SLICE_PRINTER),
        "has the pods of a service, a hundred in each slice",
        EndpointSliceStrategy(),
    ),
)
