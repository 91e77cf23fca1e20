"""The strategy of Services.

The cluster IP of a service does not change; `service_addresses` allocates it.
"""

# upstream: pkg/registry/core/service/strategy.go, pkg/apis/core/v1/defaults.go (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import dns_label_problems, part
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.network.service_addresses import (
    CLUSTER_IP,
    EXTERNAL,
    NODE_PORTS_FIELD,
    give_addresses,
    node_ports,
)
from kubesched_controlplane.kinds.network.service_checks import (
    is_externally_accessible,
    needs_health_check,
    service_change_problems,
    service_problems,
    service_warnings,
)
from kubesched_controlplane.registry.strategy import StrategyContext


class ServiceStrategy(KindStrategy):
    """The strategy of services."""

    returns_deleted = True
    change_first = True
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
        address, same_list = spec.get("clusterIP"), spec.get("clusterIPs") == before.get("clusterIPs")
        if address and address != before.get("clusterIP") and same_list:
            spec["clusterIPs"] = [address]
        if spec.get("type") != "ExternalName" and before.get("type") != "ExternalName":
            for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                unsaid = spec.get(field) is None if field == "ipFamilyPolicy" else not spec.get(field)
                if unsaid and before.get(field):
                    spec[field] = before[field]
        elif before.get("type") != "ExternalName":
            for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                if spec.get(field) == before.get(field):
                    spec.pop(field, None)
        _keep_node_ports(spec, before)
        _drop_fields_of_type(spec, before)
        self.fill_in(new, context)
        give_addresses(new, context)

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        kind = spec["type"]
        if spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        elif ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
        for port in spec.get("ports") or ():
            port["targetPort"] = port.get("targetPort") or port.get("port", 0)
        if is_externally_accessible(spec):
            spec["externalTrafficPolicy"] = spec.get("externalTrafficPolicy") or "Cluster"
        if kind in ("ClusterIP", *EXTERNAL) and spec.get("internalTrafficPolicy") is None:
            spec["internalTrafficPolicy"] = "Cluster"
        if kind == "LoadBalancer":
            spec.setdefault("allocateLoadBalancerNodePorts", True)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a service."""
        return service_problems(document["spec"])

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return service_change_problems(new["spec"], old["spec"])

    def warnings(self, new: Document, old: Document | None) -> list[str]:
        """Return warnings about fields that are ignored or deprecated."""
        return service_warnings(new["spec"])

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields, and the node ports, which other services may not have."""
        spec = document.get("spec") or {}
        found = {CLUSTER_IP: spec.get("clusterIP") or "", "spec.type": spec.get("type") or ""}
        ports = node_ports(spec)
        return {**found, NODE_PORTS_FIELD: ",".join(map(str, ports))} if ports else found

    def selectable(self) -> frozenset[str]:
        """Return the names of the selectable fields."""
        return frozenset((CLUSTER_IP, "spec.type"))


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


def _drop_fields_of_type(spec: Document, before: Document) -> None:
    """Remove unchanged fields that the old type of a service has and its new type has not."""
    dropped = []
    if before.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        dropped += ["allocateLoadBalancerNodePorts", "loadBalancerClass"]
    if needs_health_check(before) and not needs_health_check(spec):
        dropped.append("healthCheckNodePort")
    if is_externally_accessible(before) and not is_externally_accessible(spec):
        dropped.append("externalTrafficPolicy")
    for field in dropped:
        if spec.get(field) == before.get(field):
            spec.pop(field, None)
