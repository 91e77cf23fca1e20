"""Tables of services, endpoints, ingresses, network policies and addresses."""

# upstream: pkg/printers/internalversion/printers.go (v1.36)

from collections.abc import Iterator
from datetime import datetime

from kubesched_controlplane.representation.tables.printing import (
    NONE,
    UNKNOWN,
    UNSET,
    Cells,
    Document,
    Printer,
    age,
    columns,
    labels,
    name,
    selector,
    some,
    spec,
    status,
)

_DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"


def _service(service: Document, now: datetime) -> Cells:
    wanted = spec(service)
    ports = ",".join(map(_port, wanted.get("ports") or ()))
    return [
        name(service),
        wanted.get("type") or "",
        next(iter(wanted.get("clusterIPs") or ()), NONE),
        _external(service),
        ports or NONE,
        age(service, now),
        labels(wanted.get("selector")),
    ]


def _port(port: Document) -> str:
    number, protocol = port.get("port", 0), port.get("protocol", "")
    return f"{number}:{port['nodePort']}/{protocol}" if port.get("nodePort") else f"{number}/{protocol}"


def _external(service: Document) -> str:
    """Return the external addresses of a service."""
    wanted = spec(service)
    addresses = list(wanted.get("externalIPs") or ())
    match wanted.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(addresses) or NONE
        case "LoadBalancer":
            return ",".join([*_ingress(service), *addresses]) or "<pending>"
        case "ExternalName":
            return str(wanted.get("externalName", ""))
    return UNKNOWN


def _ingress(document: Document) -> list[str]:
    found = (status(document).get("loadBalancer") or {}).get("ingress") or ()
    return sorted({each.get("ip") or each.get("hostname") or "" for each in found} - {""})


def _endpoints(endpoints: Document, now: datetime) -> Cells:
    subsets = endpoints.get("subsets") or ()
    shown = some(address for subset in subsets for address in _addresses(subset))
    return [name(endpoints), shown if subsets else NONE, age(endpoints, now)]


def _addresses(subset: Document) -> Iterator[str]:
    addresses = [each.get("ip", "") for each in subset.get("addresses") or ()]
    if not subset.get("ports"):
        yield from addresses
    for port in subset.get("ports") or ():
        for address in addresses:
            host = f"[{address}]" if ":" in address else address
            yield f"{host}:{port.get('port', 0)}"


def _slice(found: Document, now: datetime) -> Cells:
    ports = (str(each.get("port") or each.get("name") or "*") for each in found.get("ports") or ())
    addresses = (address for each in found.get("endpoints") or () for address in each.get("addresses") or ())
    kind = found.get("addressType") or ""
    return [name(found), kind, some(ports) or UNSET, some(addresses) or UNSET, age(found, now)]


def _ingress_cells(ingress: Document, now: datetime) -> Cells:
    wanted = spec(ingress)
    hosts = some(each["host"] for each in wanted.get("rules") or () if each.get("host"))
    return [
        name(ingress),
        wanted.get("ingressClassName") or NONE,
        hosts or "*",
        ",".join(_ingress(ingress)),
        "80, 443" if wanted.get("tls") else "80",
        age(ingress, now),
    ]


def _ingress_class(found: Document, now: datetime) -> Cells:
    is_default = (found["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    reference = spec(found).get("parameters")
    parameters = NONE
    if reference is not None:
        kind = reference.get("kind", "")
        kind += f".{reference['apiGroup']}" if reference.get("apiGroup") else ""
        parameters = f"{kind}/{reference.get('name', '')}"
    shown = f"{name(found)} (default)" if is_default else name(found)
    return [shown, spec(found).get("controller") or "", parameters, age(found, now)]


def _address(address: Document, now: datetime) -> Cells:
    parent = spec(address).get("parentRef")
    shown = NONE
    if parent is not None:
        resource = f"{parent.get('resource', '')}.{parent['group']}" if parent.get("group") else parent["resource"]
        shown = "/".join(filter(None, (resource.lower(), parent.get("namespace"), parent.get("name", ""))))
    return [name(address), shown]


def _network(network: Document, now: datetime) -> Cells:
    return [name(network), ",".join(spec(network).get("cidrs") or ()), age(network, now)]


SERVICE_PRINTER = Printer(columns("Name, Type, Cluster-IP, External-IP, Port(s), Age | Selector"), _service)
ENDPOINTS_PRINTER = Printer(columns("Name, Endpoints, Age"), _endpoints)
ENDPOINT_SLICE_PRINTER = Printer(columns("Name, AddressType, Ports, Endpoints, Age"), _slice)
INGRESS_PRINTER = Printer(columns("Name, Class, Hosts, Address, Ports, Age"), _ingress_cells)
INGRESS_CLASS_PRINTER = Printer(columns("Name, Controller, Parameters, Age"), _ingress_class)
NETWORK_POLICY_PRINTER = Printer(
    columns("Name, Pod-Selector, Age"),
    lambda found, now: [name(found), selector(spec(found).get("podSelector")), age(found, now)],
)
IP_ADDRESS_PRINTER = Printer(columns("Name, ParentRef"), _address)
SERVICE_CIDR_PRINTER = Printer(columns("Name, CIDRs, Age"), _network)
