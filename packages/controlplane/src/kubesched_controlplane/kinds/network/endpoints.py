"""The strategy of Endpoints."""

# upstream: pkg/registry/core/endpoint/strategy.go, pkg/apis/core/validation/validation.go (ValidateEndpoints) (v1.36)

from kubesched.api.field_errors import child, index, invalid, required
from kubesched.api.labels import label_key_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.addresses import address_problems, reachable_problems
from kubesched_controlplane.kinds.checks import port_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks

MARKS = Marks()
_NO_ADDRESS = "must be a valid IP address"


class EndpointsStrategy(KindStrategy):
    """The strategy of Endpoints."""

    marks = MARKS
    create_on_update = True


@MARKS.rule("EndpointSubset")
def _subset_problems(path: str, subset: Document, fields: Fields) -> list[str]:
    problems = fields("addresses", "notReadyAddresses")
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        problems.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
    ports = subset.get("ports") or ()
    for number, port in enumerate(ports):
        if len(ports) > 1 and not port.get("name"):
            problems.append(required(child(index(child(path, "ports"), number), "name")))
        problems += fields.item("ports", number)
    return problems


@MARKS.rule("EndpointAddress")
def _endpoint_problems(path: str, address: Document, fields: Fields) -> list[str]:
    here, text = child(path, "ip"), address.get("ip") or ""
    problems = address_problems(here, text)
    # the reference asks two validations about each address, and the second one has shorter words
    if problems and "leading 0s" not in problems[0]:
        problems.append(invalid(here, text, _NO_ADDRESS))
    return (problems or reachable_problems(here, text)) + fields("hostname", "nodeName")


@MARKS.rule("EndpointPort")
def _endpoint_port_problems(path: str, port: Document, fields: Fields) -> list[str]:
    problems = fields("name") + port_problems(child(path, "port"), port.get("port") or 0) + fields("protocol")
    if port.get("appProtocol"):
        problems += text_problems(child(path, "appProtocol"), port["appProtocol"], label_key_problems)
    return problems
