"""The strategy of EndpointSlices."""

# upstream: pkg/registry/discovery/endpointslice, pkg/apis/discovery/{v1/defaults.go,validation/validation.go},
# pkg/apis/core/validation/validation.go (ValidateEndpointIP) (v1.36)

from ipaddress import ip_address

from kubesched.api.field_errors import child, duplicate, index, invalid, required
from kubesched.api.labels import label_key_problems, label_value_problems, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.addresses import address_problems, reachable_problems
from kubesched_controlplane.kinds.checks import (
    dns_label_problems,
    immutable,
    one_of,
    text_problems,
    too_many,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

_MOST_ENDPOINTS, _MOST_ADDRESSES, _MOST_PORTS, _MOST_HINTS = 1000, 100, 20_000, 8
_FAMILIES = {"IPv4": 4, "IPv6": 6}
_ADDRESS_TYPES = ("FQDN", *_FAMILIES)
_PROTOCOLS = ("SCTP", "TCP", "UDP")


class EndpointSliceStrategy(KindStrategy):
    """Defaulting and validation of EndpointSlices."""

    has_generation = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults, and drop deprecatedTopology, which this version does not accept."""
        for port in document.get("ports") or ():
            if port.get("name") is None:
                port["name"] = ""
            if port.get("protocol") is None:
                port["protocol"] = "TCP"
        for endpoint in document.get("endpoints") or ():
            endpoint.pop("deprecatedTopology", None)
            if endpoint.get("conditions") is None:
                endpoint["conditions"] = {}

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and raise the generation if the slice or its labels change."""
        super().prepare_update(new, old, context)
        if any(_said(new, field) != _said(old, field) for field in ("addressType", "endpoints", "ports", "labels")):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a slice, except its endpoints."""
        kind = document.get("addressType") or ""
        problems = one_of("addressType", kind, _ADDRESS_TYPES) if kind else [required("addressType")]
        return problems + _ports_problems("ports", document.get("ports") or [])

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new slice."""
        return self.problems(new, context) + _endpoints_problems(new)

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change; unchanged endpoints are not checked."""
        problems = [] if _said(new, "endpoints") == _said(old, "endpoints") else _endpoints_problems(new)
        return problems + immutable("addressType", new.get("addressType"), old.get("addressType"))


def _said(document: Document, field: str) -> object:
    place = document["metadata"] if field == "labels" else document
    return place.get(field) or None


def _ports_problems(path: str, ports: list[Document]) -> list[str]:
    if len(ports) > _MOST_PORTS:
        return [too_many(path, len(ports), _MOST_PORTS)]
    problems = []
    names = set()
    for number, port in enumerate(ports):
        here = index(path, number)
        name = port["name"]
        if name:
            problems += text_problems(child(here, "name"), name, dns_label_problems)
        if name in names:
            problems.append(duplicate(child(here, "name"), name))
        names.add(name)
        problems += one_of(child(here, "protocol"), port["protocol"], _PROTOCOLS)
        if port.get("appProtocol") is not None:
            problems += text_problems(child(here, "appProtocol"), port["appProtocol"], label_key_problems)
    return problems


def _endpoints_problems(document: Document) -> list[str]:
    endpoints = document.get("endpoints") or []
    if len(endpoints) > _MOST_ENDPOINTS:
        return [too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)]
    kind = document.get("addressType") or ""
    return [
        problem
        for number, endpoint in enumerate(endpoints)
        for problem in _endpoint_problems(index("endpoints", number), endpoint, kind)
    ]


def _endpoint_problems(path: str, endpoint: Document, kind: str) -> list[str]:
    here, addresses = child(path, "addresses"), endpoint.get("addresses") or []
    problems = []
    if not addresses:
        problems.append(required(here, "must contain at least 1 address"))
    elif len(addresses) > _MOST_ADDRESSES:
        problems.append(too_many(here, len(addresses), _MOST_ADDRESSES))
    for number, address in enumerate(addresses):
        if kind in _FAMILIES:
            problems += _address_problems(here, number, address, kind)
        elif kind == "FQDN":
            problems += _domain_problems(index(here, number), address)
    if endpoint.get("nodeName") is not None:
        problems += text_problems(child(path, "nodeName"), endpoint["nodeName"], subdomain_problems)
    if endpoint.get("hostname") is not None:
        problems += text_problems(child(path, "hostname"), endpoint["hostname"], dns_label_problems)
    hints = endpoint.get("hints") or {}
    problems += _hint_problems(child(path, "hints", "forZones"), hints.get("forZones") or [], zones=True)
    return problems + _hint_problems(child(path, "hints", "forNodes"), hints.get("forNodes") or [], zones=False)


def _address_problems(path: str, number: int, text: str, kind: str) -> list[str]:
    here = index(path, number)
    problems = address_problems(here, text)
    if problems:
        return problems
    address = ip_address(text)
    if address.version != _FAMILIES[kind]:
        problems.append(invalid(path, text, f"must be an {kind} address"))
    return problems + reachable_problems(here, text)


def _domain_problems(path: str, text: str) -> list[str]:
    if not text:
        return [required(path)]
    name = text.removesuffix(".")
    if wrong := subdomain_problems(name):
        return [invalid(path, name, ",".join(wrong))]
    if "." not in name:
        return [invalid(path, name, "should be a domain with at least two segments separated by dots")]
    for label in name.split("."):
        if problems := dns_label_problems(label):
            return [invalid(path, label, ",".join(problems))]
    return []


def _hint_problems(path: str, hints: list[Document], *, zones: bool) -> list[str]:
    if len(hints) > _MOST_HINTS:
        return [too_many(path, len(hints), _MOST_HINTS)]
    problems = []
    names = set()
    for number, hint in enumerate(hints):
        here, name = child(index(path, number), "name"), hint.get("name") or ""
        if name in names:
            problems.append(duplicate(here, name))
        names.add(name)
        problems += text_problems(here, name, label_value_problems if zones else subdomain_problems)
    return problems
