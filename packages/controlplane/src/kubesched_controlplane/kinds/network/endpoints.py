"""The strategy of Endpoints."""

# upstream: pkg/registry/core/endpoint/strategy.go, pkg/apis/core/validation/validation.go (ValidateEndpoints) (v1.36)

from kubesched.api.field_errors import child, index, invalid, required
from kubesched.api.labels import label_key_problems, subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.addresses import address_problems, reachable_problems
from kubesched_controlplane.kinds.checks import dns_label_problems, one_of, port_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.network.service_checks import PROTOCOLS
from kubesched_controlplane.registry.strategy import StrategyContext

_NO_ADDRESS = "must be a valid IP address"


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
                    problems += _endpoint_address_problems(child(there, "ip"), address.get("ip") or "")
                    if address.get("hostname"):
                        problems += text_problems(child(there, "hostname"), address["hostname"], dns_label_problems)
                    if address.get("nodeName") is not None:
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


def _endpoint_address_problems(path: str, text: str) -> list[str]:
    problems = address_problems(path, text)
    # the reference asks two validations about each address, and the second one has shorter words
    is_address = not problems or "leading 0s" in problems[0]
    return problems or reachable_problems(path, text) if is_address else [*problems, invalid(path, text, _NO_ADDRESS)]
