"""The strategy of ingresses, ingress classes and network policies, which are stored but not acted on."""

# upstream: pkg/registry/networking, pkg/apis/networking/{v1/defaults.go,validation/validation.go} (v1.36)

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from kubesched.api.field_errors import as_json, child, forbidden, invalid, not_supported, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.addresses import network_problems
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    domain_path_problems,
    immutable,
    label_selector_problems,
    one_of,
    part,
    port_problems,
    text_problems,
    too_long,
)
from kubesched_controlplane.kinds.default_classes import default_class_of
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.probes import port_name_problems
from kubesched_controlplane.registry.strategy import StrategyContext

_LONGEST_CONTROLLER = 250
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_ENDS = ("/..", "/.")
# the deprecated annotation that names a class, and the annotation that marks the default class
_CLASS = "kubernetes.io/ingress.class"
_CLASSES, _DEFAULT_CLASS = "ingressclasses.networking.k8s.io", "ingressclass.kubernetes.io/is-default-class"
_NO_ADDRESS = "must be a DNS name, not an IP address"


class NetworkPolicyStrategy(KindStrategy):
    """The strategy of network policies."""

    has_generation = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        part(spec, "podSelector")
        for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
            for port in rule.get("ports") or ():
                if port.get("protocol") is None:
                    port["protocol"] = "TCP"
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else ())]

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a network policy."""
        spec = document["spec"]
        problems = label_selector_problems("spec.podSelector", spec["podSelector"])
        for direction, peers in (("ingress", "from"), ("egress", "to")):
            for number, rule in enumerate(spec.get(direction) or ()):
                path = f"spec.{direction}[{number}]"
                for place, port in enumerate(rule.get("ports") or ()):
                    problems += _policy_port_problems(f"{path}.ports[{place}]", port)
                for place, peer in enumerate(rule.get(peers) or ()):
                    problems += _peer_problems(f"{path}.{peers}[{place}]", peer)
        types = spec["policyTypes"]
        if len(types) > 2:
            return [*problems, invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
        for number, kind in enumerate(types):
            problems += one_of(f"spec.policyTypes[{number}]", kind, ("Ingress", "Egress"))
        return problems


def _policy_port_problems(path: str, port: Document) -> list[str]:
    problems = one_of(child(path, "protocol"), port["protocol"], _PROTOCOLS)
    number, end = port.get("port"), port.get("endPort")
    if isinstance(number, int):
        problems += port_problems(child(path, "port"), number)
        if end is not None and end < number:
            problems.append(invalid(child(path, "endPort"), number, "must be greater than or equal to `port`"))
        if end is not None:
            problems += port_problems(child(path, "endPort"), end)
        return problems
    if end is not None:
        why = "not specified" if number is None else "non-numeric"
        problems.append(invalid(child(path, "endPort"), end, f"may not be specified when `port` is {why}"))
    return problems + (text_problems(child(path, "port"), number, port_name_problems) if number is not None else [])


def _peer_problems(path: str, peer: Document) -> list[str]:
    problems = []
    for field in ("podSelector", "namespaceSelector"):
        problems += label_selector_problems(child(path, field), peer.get(field))
    block = peer.get("ipBlock")
    if block is not None:
        problems += _block_problems(child(path, "ipBlock"), block)
    given = [field for field in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(field) is not None]
    if not given:
        problems.append(required(path, "must specify a peer"))
    elif len(given) > 1 and block is not None:
        problems.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return problems


def _block_problems(path: str, block: Document) -> list[str]:
    text = block.get("cidr") or ""
    if not text:
        return [required(child(path, "cidr"))]
    problems = network_problems(child(path, "cidr"), text)
    if problems:
        return problems
    network = ip_network(text, strict=False)
    for number, each in enumerate(block.get("except") or ()):
        here = f"{path}.except[{number}]"
        wrong = network_problems(here, each)
        problems += wrong
        if wrong:
            continue
        other = ip_network(each, strict=False)
        inside = other.version == network.version and other.network_address in network
        if not inside or network.prefixlen >= other.prefixlen:
            problems.append(invalid(here, each, "must be a strict subset of `cidr`"))
    return problems


class IngressStrategy(KindStrategy):
    """The strategy of ingresses."""

    has_generation = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set the default ingress class, and an empty status."""
        spec = part(new, "spec")
        unsaid = spec.get("ingressClassName") is None and _CLASS not in (new["metadata"].get("annotations") or {})
        if unsaid and not context.imported:
            name = default_class_of(context.store, _CLASSES, _DEFAULT_CLASS)
            if name is not None:
                spec["ingressClassName"] = name
        new["status"] = {"loadBalancer": {}}

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Add a missing spec."""
        part(document, "spec")

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an ingress."""
        spec = document["spec"]
        problems = []
        if not spec.get("rules") and spec.get("defaultBackend") is None:
            why = "either `defaultBackend` or `rules` must be specified"
            problems.append(invalid("spec", as_json(spec.get("rules")), why))
        if spec.get("defaultBackend") is not None:
            problems += _backend_problems("spec.defaultBackend", spec["defaultBackend"])
        for number, rule in enumerate(spec.get("rules") or ()):
            problems += _rule_problems(f"spec.rules[{number}]", rule)
        for number, tls in enumerate(spec.get("tls") or ()):
            path = f"spec.tls[{number}]"
            for place, host in enumerate(tls.get("hosts") or ()):
                problems += _host_problems(f"{path}.hosts[{place}]", host)
            if tls.get("secretName"):
                problems += text_problems(f"{path}.secretName", tls["secretName"], subdomain_problems)
        if spec.get("ingressClassName") is not None:
            problems += text_problems("spec.ingressClassName", spec["ingressClassName"], subdomain_problems)
        return problems

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        return list(_address_problems((new.get("status") or {}).get("loadBalancer") or {}))


def _address_problems(status: Document) -> Iterator[str]:
    for number, point in enumerate(status.get("ingress") or ()):
        path = f"status.loadBalancer.ingress[{number}]"
        if point.get("ip") and not _is_address(point["ip"]):
            why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            yield invalid(f"{path}.ip", point["ip"], why)
        if host := point.get("hostname"):
            yield from text_problems(f"{path}.hostname", host, subdomain_problems)
            if _is_address(host):
                yield invalid(f"{path}.hostname", host, _NO_ADDRESS)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _host_problems(path: str, host: str) -> list[str]:
    if "*" not in host:
        return text_problems(path, host, subdomain_problems)
    if host.startswith("*.") and not subdomain_problems(host[2:]):
        return []
    pattern = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
    why = (
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
        "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
        f"regex used for validation is '{pattern}')"
    )
    return [invalid(path, host, why)]


def _rule_problems(path: str, rule: Document) -> list[str]:
    problems = []
    if host := rule.get("host"):
        if _is_address(host):
            problems.append(invalid(child(path, "host"), host, _NO_ADDRESS))
        problems += _host_problems(child(path, "host"), host)
    http = rule.get("http")
    if http is not None:
        path = child(path, "http", "paths")
        if not http.get("paths"):
            problems.append(required(path))
        for number, entry in enumerate(http.get("paths") or ()):
            problems += _path_problems(f"{path}[{number}]", entry)
    return problems


def _path_problems(path: str, entry: Document) -> list[str]:
    kind, text = entry.get("pathType"), entry.get("path") or ""
    here = child(path, "path")
    if kind is None:
        return [required(child(path, "pathType"), "pathType must be specified")]
    problems = []
    if kind not in _PATH_TYPES:
        problems.append(not_supported(child(path, "pathType"), kind, _PATH_TYPES))
    elif (text or kind != "ImplementationSpecific") and not text.startswith("/"):
        problems.append(invalid(here, text, "must be an absolute path"))
    if kind in ("Exact", "Prefix"):
        problems += [invalid(here, text, f"must not contain '{each}'") for each in _NOT_IN_PATHS if each in text]
        problems += [invalid(here, text, f"cannot end with '{each}'") for each in _NOT_AT_ENDS if text.endswith(each)]
    return problems + _backend_problems(child(path, "backend"), entry.get("backend") or {})


def _backend_problems(path: str, backend: Document) -> list[str]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        problems = []
        if resource.get("apiGroup") is not None:
            problems += text_problems(f"{path}.resource.apiGroup", resource["apiGroup"], subdomain_problems)
        missing = [field for field in ("kind", "name") if not resource.get(field)]
        return problems + [required(f"{path}.resource.{field}") for field in missing]
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    name = service.get("name") or ""
    here = f"{path}.service.name"
    problems = text_problems(here, name, dns_label_problems) if name else [required(here)]
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        problems.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        problems += text_problems(f"{path}.service.port.name", port["name"], port_name_problems)
    elif port.get("number"):
        problems += port_problems(f"{path}.service.port.number", port["number"])
    else:
        problems.append(required(path, "port name or number is required"))
    return problems


class IngressClassStrategy(KindStrategy):
    """The strategy of ingress classes."""

    change_first = True

    has_generation = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        parameters = part(document, "spec").get("parameters")
        if parameters is not None:
            parameters["scope"] = parameters.get("scope") or "Cluster"

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a class."""
        controller = document["spec"].get("controller") or ""
        path = "spec.controller"
        problems = [too_long(path, _LONGEST_CONTROLLER)] if len(controller.encode()) > _LONGEST_CONTROLLER else []
        problems += domain_path_problems(path, controller)
        parameters = document["spec"].get("parameters")
        return problems + (_parameters_problems("spec.parameters", parameters) if parameters is not None else [])

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        now, then = (each["spec"].get("controller") or "" for each in (new, old))
        return immutable("spec.controller", now, then)


def _parameters_problems(path: str, parameters: Document) -> list[str]:
    problems = [required(child(path, field)) for field in ("kind", "name") if not parameters.get(field)]
    scope, namespace = parameters["scope"], parameters.get("namespace")
    problems += one_of(child(path, "scope"), scope, ("Cluster", "Namespace"))
    here = child(path, "namespace")
    if scope == "Namespace" and namespace is None:
        problems.append(required(here, "`parameters.scope` is set to 'Namespace'"))
    elif scope == "Namespace":
        problems += text_problems(here, namespace or "", dns_label_problems)
    elif scope == "Cluster" and namespace is not None:
        problems.append(forbidden(here, "`parameters.scope` is set to 'Cluster'"))
    return problems
