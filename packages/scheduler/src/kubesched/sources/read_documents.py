"""Objects that are kept as documents: workloads, and the kinds by which the API server admits pods.

From a document to a smaller one with the fields that questions read, or to InvalidObjectError with the object and the
field.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ObjectMeta, ResourceList
from kubesched.api.pods import Toleration
from kubesched.api.quantity import InvalidQuantityError, quantity_of
from kubesched.errors import InvalidObjectError
from kubesched.model.cluster_objects import ADMISSION_KINDS
from kubesched.sources.reduction import reduced_meta
from kubesched.sources.workloads import WORKLOAD_KINDS, Document, is_workload, reduced_workload

DOCUMENT_KINDS: Final = {**WORKLOAD_KINDS, **ADMISSION_KINDS}


def is_read(document: Mapping[str, Any]) -> bool:
    """Return whether a document's kind is kept as a document."""
    return is_workload(document) or is_admission(document)


def is_admission(document: Mapping[str, Any]) -> bool:
    """Return whether the API server uses an object to admit pods."""
    version = ADMISSION_KINDS.get(str(document.get("kind")))
    return version is not None and version == document.get("apiVersion")


def reduced_document(document: Mapping[str, Any]) -> Document:
    """Return a document reduced to the fields that questions read; raises InvalidObjectError."""
    return reduced_workload(document) if is_workload(document) else _reduced_admission(document)


# -- kinds for admission


class _Requirement(msgspec.Struct, rename="camel", omit_defaults=True):
    scope_name: str = ""
    operator: str = ""
    values: list[str] | None = None


class _ScopeSelector(msgspec.Struct, rename="camel", omit_defaults=True):
    match_expressions: list[_Requirement] | None = None


class _Amounts(msgspec.Struct, omit_defaults=True):
    hard: ResourceList | None = None
    used: ResourceList | None = None


class _QuotaSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    hard: ResourceList | None = None
    scopes: list[str] | None = None
    scope_selector: _ScopeSelector | None = None


class _Quota(msgspec.Struct, omit_defaults=True):
    metadata: ObjectMeta
    spec: _QuotaSpec | None = None
    status: _Amounts | None = None


class _Limit(msgspec.Struct, rename="camel", omit_defaults=True):
    type: str = ""
    max: ResourceList | None = None
    min: ResourceList | None = None
    default: ResourceList | None = None
    default_request: ResourceList | None = None
    max_limit_request_ratio: ResourceList | None = None


class _Limits(msgspec.Struct, omit_defaults=True):
    limits: list[_Limit] | None = None


class _LimitRange(msgspec.Struct, omit_defaults=True):
    metadata: ObjectMeta
    spec: _Limits | None = None


class _Overhead(msgspec.Struct, rename="camel", omit_defaults=True):
    pod_fixed: ResourceList | None = None


class _Scheduling(msgspec.Struct, rename="camel", omit_defaults=True):
    node_selector: dict[str, str] | None = None
    tolerations: list[Toleration] | None = None


class _RuntimeClass(msgspec.Struct, omit_defaults=True):
    metadata: ObjectMeta
    handler: str = ""
    overhead: _Overhead | None = None
    scheduling: _Scheduling | None = None


_SHAPES: Final[dict[str, type[_Quota | _LimitRange | _RuntimeClass]]] = {
    "ResourceQuota": _Quota,
    "LimitRange": _LimitRange,
    "RuntimeClass": _RuntimeClass,
}


def _reduced_admission(document: Mapping[str, Any]) -> Document:
    kind = str(document["kind"])
    meta = document.get("metadata")
    named = f"{kind} {meta.get('name', '')}" if isinstance(meta, Mapping) else kind
    try:
        shape = msgspec.convert(document, _SHAPES[kind])
        for path, amounts in _amounts(shape, ""):
            for name, raw in amounts.items():
                _check_quantity(f"{path}[{name}]", raw)
    except (msgspec.ValidationError, InvalidObjectError) as error:
        raise InvalidObjectError(f"{named}: {error}") from None
    if not shape.metadata.name:
        raise InvalidObjectError(f"{kind} without a name")
    head = {"apiVersion": document["apiVersion"], "kind": kind}
    return {**head, **msgspec.to_builtins(shape), "metadata": to_builtins(reduced_meta(shape.metadata))}


def _check_quantity(path: str, raw: Any) -> None:
    try:
        quantity_of(raw)
    except InvalidQuantityError as error:
        raise InvalidObjectError(f"{path}: {raw!r}: {error.reason}") from None


def _amounts(value: Any, path: str) -> Iterator[tuple[str, ResourceList]]:
    """Yield the lists of amounts in a shape, with their paths."""
    parts: Iterable[tuple[str, Any]] = ()
    if isinstance(value, msgspec.Struct) and not isinstance(value, ObjectMeta):
        fields = msgspec.structs.fields(value)
        parts = ((f"{path}.{each.encode_name}".lstrip("."), getattr(value, each.name)) for each in fields)
    elif isinstance(value, list) and not path.endswith("tolerations"):
        parts = ((f"{path}[{number}]", each) for number, each in enumerate(value))
    for name, part in parts:
        if isinstance(part, dict) and not name.endswith("nodeSelector"):
            yield name, part
        else:
            yield from _amounts(part, name)
