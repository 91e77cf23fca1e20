"""The strategy of Services and Endpoints.

The cluster IP of a service does not change; `service_addresses` allocates it.
"""

# upstream: pkg/registry/core/service/strategy.go, pkg/apis/core/v1/defaults.go,
# pkg/apis/core/validation/validation.go (ValidateService, ValidateEndpoints) (v1.36)

from kubesched.api.field_errors import as_json, child, duplicate, forbidden, index, invalid, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.kinds.checks import (
    address_problems,
    dns_label_problems,
    labels_problems,
    one_of,
    part,
    port_problems,
    text_problems,
)
from kubesched.controlplane.kinds.kind_strategy import KindStrategy
from kubesched.controlplane.kinds.network.service_addresses import (
    CLUSTER_IP,
    EXTERNAL,
    NO_ADDRESS,
    NODE_PORTS_FIELD,
    give_addresses,
    node_ports,
)
from kubesched.controlplane.registry.strategy import StrategyContext

PROTOCOLS = ("SCTP", "TCP", "UDP")
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


class ServiceStrategy(KindStrategy):
    """The strategy of services."""

    returns_deleted = True
    create_on_update = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return tuple(dns_label_problems(name))

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and an empty status, and allocate addresses."""
        self.fill_in(new, context)
        new["status"] = {"loadBalancer": {}}
        give_addresses(new, context)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults; keep allocated addresses and node ports that the request leaves out; allocate missing ones."""
        spec, before = part(new, "spec"), old["spec"]
        if spec.get("type") != "ExternalName" and before.get("type") != "ExternalName":
            for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                if not spec.get(field) and before.get(field):
                    spec[field] = before[field]
        elif before.get("type") != "ExternalName":
            for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                if spec.get(field) == before.get(field):
                    spec.pop(field, None)
        _keep_node_ports(spec, before)
        self.fill_in(new, context)
        give_addresses(new, context)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        kind = spec.setdefault("type", "ClusterIP") or "ClusterIP"
        spec["type"] = kind
        if not spec.get("sessionAffinity"):
            spec["sessionAffinity"] = "None"
        if spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        elif not ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds"):
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
        for port in spec.get("ports") or ():
            port["protocol"] = port.get("protocol") or "TCP"
            port["targetPort"] = port.get("targetPort") or port.get("port", 0)
        if kind in EXTERNAL or (kind == "ClusterIP" and spec.get("externalIPs")):
            spec["externalTrafficPolicy"] = spec.get("externalTrafficPolicy") or "Cluster"
        if kind in ("ClusterIP", *EXTERNAL):
            spec["internalTrafficPolicy"] = spec.get("internalTrafficPolicy") or "Cluster"
        if kind == "LoadBalancer":
            spec.setdefault("allocateLoadBalancerNodePorts", True)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a service."""
        spec = document["spec"]
        problems = _type_problems(spec)
        problems += _port_problems(spec)
        problems += labels_problems("spec.selector", spec.get("selector"))
        problems += one_of("spec.sessionAffinity", spec["sessionAffinity"], ("ClientIP", "None"))
        for number, address in enumerate(spec.get("externalIPs") or ()):
            problems += address_problems(index("spec.externalIPs", number), address)
        if spec.get("externalTrafficPolicy"):
            problems += one_of("spec.externalTrafficPolicy", spec["externalTrafficPolicy"], ("Cluster", "Local"))
        if spec.get("internalTrafficPolicy"):
            problems += one_of("spec.internalTrafficPolicy", spec["internalTrafficPolicy"], ("Cluster", "Local"))
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of the cluster IP."""
        spec, before = new["spec"], old["spec"]
        if "ExternalName" in (spec.get("type"), before.get("type")):
            return []
        now, then = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
        if then and now[:1] != then[:1]:
            return [invalid("spec.clusterIPs[0]", as_json(now), "may not change once set")]
        return []

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields, and the node ports, which other services may not have."""
        spec = document.get("spec") or {}
        found = {CLUSTER_IP: spec.get("clusterIP") or "", "spec.type": spec.get("type") or ""}
        ports = node_ports(spec)
        return {**found, NODE_PORTS_FIELD: ",".join(map(str, ports))} if ports else found

    def selectable(self) -> frozenset[str]:
        """Return the names of the selectable fields."""
        return frozenset((CLUSTER_IP, "spec.type"))


def _type_problems(spec: Document) -> list[str]:
    kind = spec["type"]
    headless = spec.get("clusterIP") == NO_ADDRESS
    problems = []
    if not spec.get("ports") and not headless and kind != "ExternalName":
        problems.append(required("spec.ports"))
    if kind in EXTERNAL and headless:
        problems.append(invalid("spec.clusterIPs[0]", NO_ADDRESS, f"may not be set to 'None' for {kind} services"))
    if kind == "ExternalName":
        for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(field):
                problems.append(forbidden(f"spec.{field}", "may not be set for ExternalName services"))
        name = (spec.get("externalName") or "").removesuffix(".")
        if name:
            problems += text_problems("spec.externalName", name, subdomain_problems)
        else:
            problems.append(required("spec.externalName"))
    problems += one_of("spec.type", kind, _TYPES)
    addresses = spec.get("clusterIPs") or []
    if spec.get("clusterIP") and addresses and addresses[0] != spec["clusterIP"]:
        problems.append(invalid("spec.clusterIPs", as_json(addresses), "first value must match `clusterIP`"))
    for number, address in enumerate(addresses):
        if address != NO_ADDRESS:
            problems += address_problems(index("spec.clusterIPs", number), address)
    return problems


def _port_problems(spec: Document) -> list[str]:
    problems = []
    ports = spec.get("ports") or ()
    names, numbers = set(), set()
    for number, port in enumerate(ports):
        here = index("spec.ports", number)
        name, protocol = port.get("name") or "", port["protocol"]
        if not name and len(ports) > 1:
            problems.append(required(child(here, "name")))
        elif name:
            problems += text_problems(child(here, "name"), name, dns_label_problems)
            if name in names:
                problems.append(duplicate(child(here, "name"), name))
            names.add(name)
        problems += port_problems(child(here, "port"), port.get("port") or 0)
        problems += one_of(child(here, "protocol"), protocol, PROTOCOLS)
        if isinstance(port["targetPort"], int):
            problems += port_problems(child(here, "targetPort"), port["targetPort"])
        if spec["type"] == "ClusterIP" and port.get("nodePort"):
            problems.append(forbidden(child(here, "nodePort"), "may not be used when `type` is 'ClusterIP'"))
        if (protocol, port.get("port")) in numbers:
            problems.append(duplicate(here, as_json({"protocol": protocol, "port": port.get("port")})))
        numbers.add((protocol, port.get("port")))
    return problems


def _keep_node_ports(spec: Document, before: Document) -> None:
    """Keep the node ports that a request leaves out, or remove them from types of services without node ports."""
    known = {
        (port.get("protocol") or "TCP", port.get("port")): port.get("nodePort") for port in before.get("ports") or ()
    }
    for port in spec.get("ports") or ():
        was = known.get((port.get("protocol") or "TCP", port.get("port")))
        if spec.get("type") in EXTERNAL:
            if was and not port.get("nodePort"):
                port["nodePort"] = was
        elif was and port.get("nodePort") == was:
            del port["nodePort"]


class EndpointsStrategy(KindStrategy):
    """The strategy of Endpoints."""

    create_on_update = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        for subset in document.get("subsets") or ():
            for port in subset.get("ports") or ():
                port["protocol"] = port.get("protocol") or "TCP"

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an Endpoints object."""
        problems = []
        for number, subset in enumerate(document.get("subsets") or ()):
            here = index("subsets", number)
            if not subset.get("addresses") and not subset.get("notReadyAddresses"):
                problems.append(required(here, "must specify `addresses` or `notReadyAddresses`"))
            for field in ("addresses", "notReadyAddresses"):
                for place, address in enumerate(subset.get(field) or ()):
                    there = index(child(here, field), place)
                    problems += address_problems(child(there, "ip"), address.get("ip") or "")
                    if address.get("hostname"):
                        problems += text_problems(child(there, "hostname"), address["hostname"], dns_label_problems)
                    if address.get("nodeName"):
                        problems += text_problems(child(there, "nodeName"), address["nodeName"], subdomain_problems)
            ports = subset.get("ports") or ()
            for place, port in enumerate(ports):
                problems += _endpoint_port_problems(index(child(here, "ports"), place), port, named=len(ports) > 1)
        return problems


def _endpoint_port_problems(path: str, port: Document, *, named: bool) -> list[str]:
    problems = []
    if port.get("name"):
        problems += text_problems(child(path, "name"), port["name"], dns_label_problems)
    elif named:
        problems.append(required(child(path, "name")))
    problems += port_problems(child(path, "port"), port.get("port") or 0)
    problems += one_of(child(path, "protocol"), port["protocol"], PROTOCOLS)
    if port.get("appProtocol"):
        problems += text_problems(child(path, "appProtocol"), port["appProtocol"], label_key_problems)
    return problems
