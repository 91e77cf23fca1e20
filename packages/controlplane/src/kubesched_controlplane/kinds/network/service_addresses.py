"""Allocation of cluster IPs and node ports of services: requested ones if they are free, otherwise any free ones.

Addresses come from one IPv4 range, chosen by the service's UID, so that the same seed gives the same addresses. A node
port belongs to one service; within it, ports of one number and different protocols share one.
"""

# upstream: pkg/registry/core/service/{ipallocator/cidrallocator.go,portallocator/allocator.go,storage/alloc.go} (v1.36)

from collections.abc import Container, Iterable
from ipaddress import IPv4Address, IPv4Network, ip_address

from kubesched.api.field_errors import as_json, child, index, invalid
from kubesched_controlplane.api import statuses
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.registry.strategy import StrategyContext

SERVICES = "services"
SERVICE_NETWORK = IPv4Network("10.96.0.0/12")
NODE_PORTS = range(30000, 32768)
NO_ADDRESS = "None"
EXTERNAL = ("LoadBalancer", "NodePort")
# the stored fields with a service's allocations
CLUSTER_IP, NODE_PORTS_FIELD = "spec.clusterIP", "spec.nodePorts"

_TAKEN_PORT = "provided port is already allocated"
_STRANGE_PORT = (
    f"provided port is not in the valid range. The range of valid ports is {NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
)


def give_addresses(document: Document, context: StrategyContext) -> None:
    """Allocate the missing cluster IP and node ports of a service. Raises ApiError if a requested one is not free."""
    spec = document["spec"]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    if spec["type"] == "ExternalName" or (spec.get("clusterIPs") and not spec.get("clusterIP")):
        # validation refuses these addresses
        return
    if not context.imported:
        _check_families(document, context)
    _give_cluster_ip(document, context)
    spec.setdefault("ipFamilies", ["IPv6" if ":" in spec["clusterIP"] else "IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    if spec["type"] in EXTERNAL:
        _give_node_ports(document, context)


def node_ports(spec: Document) -> list[int]:
    """Return the node ports of a service, with its health check node port."""
    found = [port.get("nodePort") or 0 for port in spec.get("ports") or ()]
    return [number for number in (*found, spec.get("healthCheckNodePort") or 0) if number]


# -- cluster IPs


def _give_cluster_ip(document: Document, context: StrategyContext) -> None:
    spec, uid = document["spec"], document["metadata"]["uid"]
    if spec.get("clusterIP") and _had(document, context):
        # validation refuses another address
        return
    if spec.get("clusterIP"):
        if spec["clusterIP"] != NO_ADDRESS and not context.imported:
            _check_cluster_ip(document, _taken_addresses(uid, context), context)
        return
    spec["clusterIP"] = _free_address(uid, _taken_addresses(uid, context))
    spec["clusterIPs"] = [spec["clusterIP"]]


def _check_families(document: Document, context: StrategyContext) -> None:
    """Raise ApiError if a service must have IPv6, which the cluster does not have."""
    spec = document["spec"]
    if spec.get("clusterIP") == NO_ADDRESS and not spec.get("selector"):
        return
    families = enumerate(spec.get("ipFamilies") or ())
    why = "not configured on this cluster"
    problems = [invalid(index("spec.ipFamilies", at), each, why) for at, each in families if each == "IPv6"]
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        why = "this cluster is not configured for dual-stack services"
        problems.append(invalid("spec.ipFamilyPolicy", "RequireDualStack", why))
    if problems:
        raise statuses.invalid(context.resource, document["metadata"]["name"], problems)


def _had(document: Document, context: StrategyContext) -> str:
    """Return the stored cluster IP of an existing service, an empty text for a new one."""
    meta = document["metadata"]
    stored = context.store.get(context.resource.prefix, meta.get("namespace", ""), meta.get("name", ""))
    return "" if stored is None or stored.uid != meta["uid"] else stored.fields.get(CLUSTER_IP, "")


def _taken_addresses(uid: str, context: StrategyContext) -> set[str]:
    others = (stored for stored in context.store.set_of(context.resource.prefix) if stored.uid != uid)
    return {stored.fields.get(CLUSTER_IP, "") for stored in others}


def _check_cluster_ip(document: Document, taken: Container[str], context: StrategyContext) -> None:
    spec = document["spec"]
    text = spec["clusterIP"]
    try:
        address = ip_address(text)
    except ValueError:
        # validation reports the problem
        return
    if address.version == 6:
        problem = invalid("spec.clusterIPs[0]", as_json(spec["clusterIPs"]), "IPv6 is not configured on this cluster")
        raise statuses.invalid(context.resource, document["metadata"]["name"], [problem])
    inside = address in SERVICE_NETWORK and address not in (SERVICE_NETWORK[0], SERVICE_NETWORK[-1])
    if inside and text not in taken:
        return
    strange = f"the provided IP ({text}) is not in the valid range. The range of valid IPs is {SERVICE_NETWORK}"
    why = "provided IP is already allocated" if inside else strange
    problem = invalid("spec.clusterIPs", as_json(spec["clusterIPs"]), f"failed to allocate IP {text}: {why}")
    raise statuses.invalid(context.resource, document["metadata"]["name"], [problem])


def _free_address(uid: str, taken: Container[str]) -> str:
    # the first and the last address of a network are not allocated
    count = SERVICE_NETWORK.num_addresses - 2
    start = _number(uid) % count
    for step in range(count):
        address = str(IPv4Address(int(SERVICE_NETWORK[0]) + 1 + (start + step) % count))
        if address not in taken:
            return address
    raise statuses.internal_error("failed to allocate a serviceIP: range is full")


def _number(uid: str) -> int:
    """Return a number from the first digits of a UID."""
    return int(uid.replace("-", "")[:12], 16)


# -- node ports


def _give_node_ports(document: Document, context: StrategyContext) -> None:
    spec, uid = document["spec"], document["metadata"]["uid"]
    taken, own = _taken_ports(uid, context)
    allocates = spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True)
    ports = spec.get("ports") or ()
    # node ports that are allocated in this request; ports of one number and different protocols share a node port
    given: set[int] = set()
    shared: dict[int, int] = {}
    for number, port in enumerate(ports):
        asked = port.get("nodePort") or 0
        if not asked and not allocates:
            continue
        wanted = asked or shared.get(port.get("port", 0)) or _asked_elsewhere(ports, port)
        if not wanted:
            wanted = _free_port(_number(uid) + number, taken | own | given)
        elif wanted != shared.get(port.get("port", 0)):
            problem = _port_problem(wanted, given if wanted in own else taken | given)
            if problem and not context.imported:
                path = child(index("spec.ports", number), "nodePort")
                problems = [invalid(path, wanted, problem)]
                raise statuses.invalid(context.resource, document["metadata"]["name"], problems)
        port["nodePort"] = wanted
        given.add(wanted)
        shared.setdefault(port.get("port", 0), wanted)
    if spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local":
        _give_health_port(spec, _number(uid) + len(ports), taken | given, own, imported=context.imported)


def _asked_elsewhere(ports: Iterable[Document], port: Document) -> int:
    """Return the node port that another port of the same number requests, 0 for none."""
    return next(
        (each["nodePort"] for each in ports if each.get("nodePort") and each.get("port") == port.get("port")), 0
    )


def _give_health_port(spec: Document, start: int, taken: set[int], own: set[int], *, imported: bool) -> None:
    wanted = spec.get("healthCheckNodePort")
    if not wanted:
        spec["healthCheckNodePort"] = _free_port(start, taken)
    elif wanted not in own and not imported and (problem := _port_problem(wanted, taken)):
        raise statuses.internal_error(f"failed to allocate requested HealthCheck NodePort {wanted}: {problem}")


def _port_problem(number: int, taken: Container[int]) -> str:
    if number not in NODE_PORTS:
        return _STRANGE_PORT
    return _TAKEN_PORT if number in taken else ""


def _taken_ports(uid: str, context: StrategyContext) -> tuple[set[int], set[int]]:
    """Return the node ports of other services, and the node ports of the service itself."""
    taken: set[int] = set()
    own: set[int] = set()
    for stored in context.store.set_of(context.resource.prefix):
        found = stored.fields.get(NODE_PORTS_FIELD)
        if found:
            (own if stored.uid == uid else taken).update(map(int, found.split(",")))
    return taken, own


def _free_port(start: int, taken: Container[int]) -> int:
    for step in range(len(NODE_PORTS)):
        number = NODE_PORTS[(start + step) % len(NODE_PORTS)]
        if number not in taken:
            return number
    raise statuses.internal_error("failed to allocate a nodePort: range is full")
