"""Validation of references to fields of a pod and to resources of its containers, in variables and volumes.

From a reference and the fields that may be named to problems.
"""

# upstream: pkg/apis/core/validation/validation.go (validateObjectFieldSelector,
# validateContainerResourceFieldSelector), pkg/apis/core/pods/helpers.go (v1.36)

import re
from collections.abc import Sequence
from typing import Any, Final

from kubesched.api.field_errors import invalid, not_supported, required
from kubesched.api.labels import label_key_problems
from kubesched.api.quantity import ZERO, quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import one_of, text_problems

FIELDS_OF_VARIABLES: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
FIELDS_OF_VOLUMES: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_KNOWN = {
    *FIELDS_OF_VARIABLES,
    *FIELDS_OF_VOLUMES,
    *("spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"),
}
_SUBSCRIPTED = re.compile(r"(.*)\['(.*)'\]", re.DOTALL)
_RESOURCES: Final = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_UNITS = ("1m", "1")
_SIZES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def field_problems(path: str, reference: Document, supported: Sequence[str]) -> list[str]:
    """Return the problems of a reference to a field of the pod."""
    field, version = reference.get("fieldPath") or "", reference.get("apiVersion") or "v1"
    if not field:
        return [required(f"{path}.fieldPath")]
    subscripted = _SUBSCRIPTED.fullmatch(field)
    name, subscript = subscripted.groups() if subscripted else (field, "")
    failure = _conversion_failure(version, field, name, subscripted=subscripted is not None)
    if failure:
        return [invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {failure}")]
    if subscripted is None:
        name = "spec.nodeName" if name == "spec.host" else name
        return [] if name in supported else [not_supported(f"{path}.fieldPath", name, supported)]
    return text_problems(path, subscript.lower() if name.endswith("annotations") else subscript, label_key_problems)


def _conversion_failure(version: str, field: str, name: str, *, subscripted: bool) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscripted and name not in ("metadata.annotations", "metadata.labels"):
        return f"field label does not support subscript: {field}"
    return "" if name in _KNOWN else f"field label not supported: {field}"


def resource_reference_problems(path: str, reference: Document, *, of_volume: bool = False) -> list[str]:
    """Return the problems of a reference to a resource of a container, which references in volumes must name."""
    resource, problems = reference.get("resource") or "", []
    if of_volume and not reference.get("containerName"):
        problems.append(required(f"{path}.containerName"))
    elif not resource:
        problems.append(required(f"{path}.resource"))
    elif not resource.startswith(_HUGE_PAGES):
        problems += one_of(f"{path}.resource", resource, _RESOURCES)
    return problems + _divisor_problems(path, resource, reference.get("divisor"))


def _divisor_problems(path: str, resource: str, raw: Any) -> list[str]:
    if raw is None or (divisor := quantity_of(raw)) == ZERO:
        return []
    kinds = {"cpu": "cpu", "memory": "memory", "ephemeral-storage": "local ephemeral storage"}
    name = resource.partition(".")[2]
    kind = "hugepages" if resource.startswith(_HUGE_PAGES) else kinds.get(name, "")
    allowed = _UNITS if kind == "cpu" else _SIZES
    if not kind or str(divisor) in allowed:
        return []
    listed = "1m and 1" if kind == "cpu" else ", ".join(_SIZES)
    why = f"only divisor's values {listed} are supported with the {kind} resource"
    return [invalid(f"{path}.divisor", resource, why)]
