"""Validation of services: a service as it is, changes of it, and warnings.

From specs with their defaults and addresses to problems, in the order of the reference.
"""

# upstream: pkg/apis/core/validation/validation.go (validateService, ValidateServiceUpdate), pkg/api/service/warnings.go
# (v1.36)

from typing import Final

from kubesched.api.field_errors import as_json, child, duplicate, forbidden, index, invalid, not_supported, required
from kubesched.api.go_text import quote
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.addresses import address_problems, network_problems, reachable_problems
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    labels_problems,
    one_of,
    port_name_problems,
    port_problems,
    text_problems,
)
from kubesched_controlplane.kinds.network.service_addresses import EXTERNAL, NO_ADDRESS

PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_LONGEST_AFFINITY = 86400
_BALANCED_ONLY = "may only be used when `type` is 'LoadBalancer'"
_ONCE = "may not change once set"


def is_externally_accessible(spec: Document) -> bool:
    """Return whether clients outside of the cluster reach the service."""
    kind = spec.get("type")
    return kind in EXTERNAL or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def needs_health_check(spec: Document) -> bool:
    """Return whether the service has a node port for health checks."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def service_problems(spec: Document) -> list[str]:
    """Return the problems of a service."""
    kind = spec["type"]
    problems = _problems_by_type(spec)
    problems += _ports_problems(spec.get("ports") or ())
    problems += labels_problems("spec.selector", spec.get("selector"))
    problems += one_of("spec.sessionAffinity", spec["sessionAffinity"], ("ClientIP", "None"))
    if spec["sessionAffinity"] == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _LONGEST_AFFINITY:
            path, why = "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "must be greater than 0 and less than"
            problems.append(invalid(path, seconds, f"{why} {_LONGEST_AFFINITY}"))
    if kind != "ExternalName":
        problems += _address_problems(spec)
    for number, address in enumerate(spec.get("externalIPs") or ()):
        here = index("spec.externalIPs", number)
        problems += address_problems(here, address) or reachable_problems(here, address)
    problems += one_of("spec.type", kind, _TYPES)
    problems += _port_number_problems(spec)
    problems += _balancer_problems(spec)
    return problems + _traffic_problems(spec)


def _problems_by_type(spec: Document) -> list[str]:
    kind, headless = spec["type"], spec.get("clusterIP") == NO_ADDRESS
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
    return problems


def _ports_problems(ports: list[Document] | tuple[()]) -> list[str]:
    problems = []
    names = set()
    for number, port in enumerate(ports):
        here = index("spec.ports", number)
        name, target = port.get("name") or "", port["targetPort"]
        if not name and len(ports) > 1:
            problems.append(required(child(here, "name")))
        elif name:
            problems += text_problems(child(here, "name"), name, dns_label_problems)
            if name in names:
                problems.append(duplicate(child(here, "name"), name))
            names.add(name)
        problems += port_problems(child(here, "port"), port.get("port") or 0)
        problems += one_of(child(here, "protocol"), port["protocol"], PROTOCOLS)
        path = child(here, "targetPort")
        is_number = isinstance(target, int)
        problems += port_problems(path, target) if is_number else text_problems(path, target, port_name_problems)
        if port.get("appProtocol") is not None:
            problems += text_problems(child(here, "appProtocol"), port["appProtocol"], label_key_problems)
    return problems


def _address_problems(spec: Document) -> list[str]:
    """Return the problems of cluster IPs and their families."""
    addresses, problems = spec.get("clusterIPs") or [], []
    if spec.get("clusterIP") and addresses and addresses[0] != spec["clusterIP"]:
        problems.append(invalid("spec.clusterIPs", as_json(addresses), "first value must match `clusterIP`"))
    elif addresses and not spec.get("clusterIP"):
        why = "must be empty when `clusterIP` is not specified"
        problems.append(invalid("spec.clusterIPs", as_json(addresses), why))
    families = spec.get("ipFamilies") or []
    for number, family in enumerate(families):
        here = index("spec.ipFamilies", number)
        problems += one_of(here, family, _FAMILIES)
        if family in families[:number]:
            problems.append(duplicate(here, family))
    if spec.get("ipFamilyPolicy") is not None:
        problems += one_of("spec.ipFamilyPolicy", spec["ipFamilyPolicy"], _FAMILY_POLICIES)
    for number, address in enumerate(addresses):
        if address != NO_ADDRESS:
            problems += address_problems(index("spec.clusterIPs", number), address)
    return problems


def _port_number_problems(spec: Document) -> list[str]:
    """Return the problems of node ports, and of ports that are given twice."""
    problems = []
    ports = spec.get("ports") or ()
    if spec["type"] == "ClusterIP":
        why = "may not be used when `type` is 'ClusterIP'"
        paths = (index("spec.ports", number) for number, port in enumerate(ports) if port.get("nodePort"))
        problems += [forbidden(child(path, "nodePort"), why) for path in paths]
    for field in ("nodePort", "port"):
        seen = set()
        for number, port in enumerate(ports):
            key = (port["protocol"], port.get(field) or 0)
            here = index("spec.ports", number)
            if key in seen and field == "port":
                problems.append(duplicate(here, as_json({"protocol": key[0], "port": key[1]})))
            elif key in seen and key[1]:
                problems.append(duplicate(child(here, field), key[1]))
            seen.add(key)
    return problems


def _balancer_problems(spec: Document) -> list[str]:
    """Return the problems of fields that are for load balancers."""
    balanced = spec["type"] == "LoadBalancer"
    problems = []
    ranges, path = spec.get("loadBalancerSourceRanges") or (), "spec.LoadBalancerSourceRanges"
    if ranges and not balanced:
        problems.append(forbidden(path, _BALANCED_ONLY))
    for number, text in enumerate(ranges):
        problems += network_problems(index(path, number), text.strip())
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        problems.append(forbidden("spec.allocateLoadBalancerNodePorts", _BALANCED_ONLY))
    name = spec.get("loadBalancerClass")
    if name is None:
        return problems
    if not balanced:
        return [*problems, forbidden("spec.loadBalancerClass", _BALANCED_ONLY)]
    return problems + text_problems("spec.loadBalancerClass", name, label_key_problems)


def _traffic_problems(spec: Document) -> list[str]:
    problems = []
    policy, path = spec.get("externalTrafficPolicy") or "", "spec.externalTrafficPolicy"
    if policy and not is_externally_accessible(spec):
        problems.append(invalid(path, policy, "may only be set for externally-accessible services"))
    elif policy:
        problems += one_of(path, policy, ("Cluster", "Local"))
    port, path = spec.get("healthCheckNodePort") or 0, "spec.healthCheckNodePort"
    if needs_health_check(spec):
        problems += port_problems(path, port)
    elif port:
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        problems.append(invalid(path, port, why))
    for field, supported in (("internalTrafficPolicy", ("Cluster", "Local")), ("trafficDistribution", _DISTRIBUTIONS)):
        if spec.get(field) is not None and spec[field] not in supported:
            problems.append(not_supported(f"spec.{field}", spec[field], supported))
    return problems


def service_change_problems(spec: Document, before: Document) -> list[str]:
    """Return the problems of a change of a service."""
    problems = []
    if "ExternalName" not in (spec["type"], before.get("type")):
        now, then = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
        if then and now[:1] != then[:1]:
            problems.append(invalid("spec.clusterIPs[0]", as_json(now), _ONCE))
    name = spec.get("loadBalancerClass")
    if spec["type"] == before.get("type") == "LoadBalancer" and name != before.get("loadBalancerClass"):
        problems.append(invalid("spec.loadBalancerClass", name, _ONCE))
    port = spec.get("healthCheckNodePort")
    if needs_health_check(spec) and needs_health_check(before) and port != before.get("healthCheckNodePort"):
        problems.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return problems


def service_warnings(spec: Document) -> list[str]:
    """Return warnings about fields that are ignored or deprecated."""
    kind, external = spec["type"], spec.get("externalIPs")
    warnings = []
    if spec.get("clusterIP") == NO_ADDRESS and kind != "ExternalName":
        ignored = {
            "loadBalancerIP": spec.get("loadBalancerIP"),
            "externalIPs": external,
            "SessionAffinity": spec.get("sessionAffinity") != "None",
        }
        warnings += [f"spec.{field} is ignored for headless services" for field, given in ignored.items() if given]
    elif external and kind != "ExternalName":
        warnings.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if external and kind == "ExternalName":
        warnings.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if spec.get("externalName") and kind != "ExternalName":
        warnings.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        old, new = quote("PreferClose"), quote("PreferSameZone")
        warnings.append(f"spec.trafficDistribution: {old} is deprecated; use {new}")
    return warnings
