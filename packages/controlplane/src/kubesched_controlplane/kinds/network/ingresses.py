"""The strategy of ingresses, ingress classes and network policies, which are stored but not acted on."""

# upstream: pkg/registry/networking, pkg/apis/networking/{v1/defaults.go,validation/validation.go} (v1.36)

from ipaddress import ip_address, ip_network

from kubesched.api.field_errors import as_json, child, forbidden, invalid, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.addresses import network_problems
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    part,
    port_name_problems,
    port_problems,
    text_problems,
)
from kubesched_controlplane.kinds.default_classes import default_class_of
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_ENDS = ("/..", "/.")
# the deprecated annotation that names a class, and the annotation that marks the default class
_CLASS = "kubernetes.io/ingress.class"
_CLASSES, _DEFAULT_CLASS = "ingressclasses.networking.k8s.io", "ingressclass.kubernetes.io/is-default-class"
_NO_ADDRESS = "must be a DNS name, not an IP address"


class NetworkPolicyStrategy(KindStrategy):
    """The strategy of network policies."""

    marks = MARKS
    has_generation = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        spec = part(document, "spec")
        part(spec, "podSelector")
        super().fill_in(document, context)
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else ())]


@MARKS.rule("NetworkPolicySpec")
def _policy_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems, types = fields("podSelector", "ingress", "egress"), spec["policyTypes"]
    if len(types) > 2:
        return [*problems, invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
    return problems + fields("policyTypes")


@MARKS.rule("NetworkPolicyPort")
def _policy_port_problems(path: str, port: Document, fields: Fields) -> list[str]:
    problems = fields()
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


@MARKS.rule("NetworkPolicyPeer")
def _peer_problems(path: str, peer: Document, fields: Fields) -> list[str]:
    problems = fields()
    given = [field for field in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(field) is not None]
    if not given:
        problems.append(required(path, "must specify a peer"))
    elif len(given) > 1 and "ipBlock" in given:
        problems.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return problems


@MARKS.rule("IPBlock")
def _block_problems(path: str, block: Document, fields: Fields) -> list[str]:
    if problems := fields("cidr"):
        return problems
    network = ip_network(block["cidr"], strict=False)
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

    marks = MARKS
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


@MARKS.rule("IngressSpec")
def _ingress_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems = []
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        why = "either `defaultBackend` or `rules` must be specified"
        problems.append(invalid(path, as_json(spec.get("rules")), why))
    return problems + fields("defaultBackend", "rules", "tls", "ingressClassName")


@MARKS.rule("IngressLoadBalancerIngress")
def _address_problems(path: str, point: Document, fields: Fields) -> list[str]:
    problems = []
    if point.get("ip") and not _is_address(point["ip"]):
        why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        problems.append(invalid(f"{path}.ip", point["ip"], why))
    if host := point.get("hostname"):
        problems += text_problems(f"{path}.hostname", host, subdomain_problems)
        if _is_address(host):
            problems.append(invalid(f"{path}.hostname", host, _NO_ADDRESS))
    return problems


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


@MARKS.format("host")
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


@MARKS.rule("IngressRule")
def _rule_problems(path: str, rule: Document, fields: Fields) -> list[str]:
    host = rule.get("host") or ""
    return [*([invalid(child(path, "host"), host, _NO_ADDRESS)] if _is_address(host) else ()), *fields()]


@MARKS.rule("HTTPIngressPath")
def _path_problems(path: str, entry: Document, fields: Fields) -> list[str]:
    kind, text = entry.get("pathType"), entry.get("path") or ""
    here = child(path, "path")
    problems = fields("pathType")
    if kind is None:
        return problems
    if not problems and (text or kind != "ImplementationSpecific") and not text.startswith("/"):
        problems.append(invalid(here, text, "must be an absolute path"))
    if kind in ("Exact", "Prefix"):
        problems += [invalid(here, text, f"must not contain '{each}'") for each in _NOT_IN_PATHS if each in text]
        problems += [invalid(here, text, f"cannot end with '{each}'") for each in _NOT_AT_ENDS if text.endswith(each)]
    return problems + fields("backend")


@MARKS.rule("IngressBackend")
def _backend_problems(path: str, backend: Document, fields: Fields) -> list[str]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return fields("resource")
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    problems = fields("service")
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

    marks = MARKS
    change_first = True

    has_generation = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        parameters = part(document, "spec").get("parameters")
        if parameters is not None:
            parameters["scope"] = parameters.get("scope") or "Cluster"


@MARKS.rule("IngressClassParametersReference")
def _parameters_problems(path: str, parameters: Document, fields: Fields) -> list[str]:
    problems = fields()
    scope, namespace = parameters["scope"], parameters.get("namespace")
    here = child(path, "namespace")
    if scope == "Namespace" and namespace is None:
        problems.append(required(here, "`parameters.scope` is set to 'Namespace'"))
    elif scope == "Namespace":
        problems += text_problems(here, namespace or "", dns_label_problems)
    elif scope == "Cluster" and namespace is not None:
        problems.append(forbidden(here, "`parameters.scope` is set to 'Cluster'"))
    return problems
