"""The kinds that are known, and the way between documents and structs.

From JSON bytes (`decode_json`) or parsed JSON and YAML (`decode`) to frozen structs, and back (`encode`,
`to_builtins`).

Typed decoding comes first and is the only thing a well-formed object pays for. Go writes `null` where it means "nothing
here": when typed decoding fails, nulls are read as Go reads them and decoding is tried once more. What fails then is an
`InvalidObjectError` that names the object, the field and what was expected. Unknown fields are skipped. What is too
deep or too strange for the decoder is read by `tolerant_json`, as far as the kind asks for it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from kubesched.api import tolerant_json
from kubesched.api.coordination import Lease, LeaseCandidate
from kubesched.api.custom import CustomObject, StrangeObject, custom_object
from kubesched.api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubesched.api.events import Event
from kubesched.api.field_types import field_types, is_struct, strip_optional
from kubesched.api.meta import ApiObject, ApiStruct
from kubesched.api.nodes import Namespace, Node
from kubesched.api.owners import ReplicaSet, ReplicationController, Service, StatefulSet
from kubesched.api.pods import Pod
from kubesched.api.policy import PodDisruptionBudget
from kubesched.api.scheduling import PodGroup, PriorityClass, Workload
from kubesched.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    VolumeAttributesClass,
)
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.errors import InvalidObjectError

_KINDS_BY_API_VERSION: dict[str, tuple[type[ApiObject], ...]] = {
    "v1": (Pod, Node, Namespace, Service, ReplicationController, PersistentVolume, PersistentVolumeClaim),
    "apps/v1": (ReplicaSet, StatefulSet),
    "policy/v1": (PodDisruptionBudget,),
    "storage.k8s.io/v1": (
        StorageClass,
        CSINode,
        CSIDriver,
        CSIStorageCapacity,
        VolumeAttachment,
        VolumeAttributesClass,
    ),
    "resource.k8s.io/v1": (ResourceSlice, DeviceClass, ResourceClaim, ResourceClaimTemplate),
    "resource.k8s.io/v1beta2": (DeviceTaintRule,),
    "scheduling.k8s.io/v1": (PriorityClass,),
    "scheduling.k8s.io/v1alpha2": (PodGroup, Workload),
    "coordination.k8s.io/v1": (Lease,),
    "coordination.k8s.io/v1beta1": (LeaseCandidate,),
    "events.k8s.io/v1": (Event,),
}

KINDS: dict[str, type[ApiObject]] = {
    kind_type.__name__: kind_type for kind_types in _KINDS_BY_API_VERSION.values() for kind_type in kind_types
}

# The version that a kind is written in where an object does not say its own.
API_VERSIONS: dict[str, str] = {
    kind_type.__name__: api_version
    for api_version, kind_types in _KINDS_BY_API_VERSION.items()
    for kind_type in kind_types
}

# Versions with another shape, which would decode without an error and mean something else.
_OTHER_SHAPES: dict[str, frozenset[str]] = {
    "resource.k8s.io/v1alpha2": frozenset({"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"}),
    "resource.k8s.io/v1alpha3": frozenset({"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"}),
    "resource.k8s.io/v1beta1": frozenset({"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"}),
    "scheduling.k8s.io/v1alpha1": frozenset({"Workload"}),
}

# Fields that are metav1.MicroTime: the API server refuses them without six digits after the second.
_MICRO_TIMES: dict[type[ApiStruct], tuple[tuple[str, ...], ...]] = {
    Lease: (("spec", "acquireTime"), ("spec", "renewTime")),
    LeaseCandidate: (("spec", "pingTime"), ("spec", "renewTime")),
    Event: (("eventTime",), ("series", "lastObservedTime")),
}

StructT = TypeVar("StructT", bound=ApiStruct)


class _Named(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Identified(msgspec.Struct):
    metadata: _Named | None = None


def decode(document: Mapping[str, Any], where: str = "") -> ApiObject:
    """Return the object that parsed JSON or YAML describes; `where` is put before what an error says."""
    kind_type = _type_of(document, where)
    try:
        return msgspec.convert(document, kind_type)
    except msgspec.ValidationError:
        return _decode_with_nulls(document, kind_type, where)


def is_foreign(document: Mapping[str, Any]) -> bool:
    """Return whether a document is an object of a kind that scheduling does not read, such as a Deployment."""
    kind, api_version = document.get("kind"), document.get("apiVersion")
    return isinstance(kind, str) and isinstance(api_version, str) and bool(kind and api_version) and kind not in KINDS


def flattened(documents: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield documents, and the items of those that are lists."""
    for document in documents:
        kind = document.get("kind") if isinstance(document, Mapping) else None
        items = document.get("items") if isinstance(kind, str) and kind.endswith("List") else None
        if isinstance(items, list):
            # the items of a PodList need not say that they are pods
            own = (
                {} if kind == "List" else {"apiVersion": document.get("apiVersion"), "kind": str(kind)[: -len("List")]}
            )
            yield from flattened([{**own, **item} if isinstance(item, Mapping) else item for item in items])
        else:
            yield document


def decode_json(kind_type: type[StructT], data: bytes | str) -> StructT:
    """Return the object of a known type that JSON describes; items of lists carry no kind, so none is asked for."""
    if issubclass(kind_type, CustomObject):
        return _decode_custom(kind_type, data)  # type: ignore[return-value]
    try:
        obj: StructT = _json_decoder(kind_type).decode(data)
        return obj
    except UNREADABLE:
        pass
    try:
        document = msgspec.json.decode(data)
    except UNREADABLE:
        document = _read_tolerantly(kind_type, data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return _decode_with_nulls(document, kind_type, "")


def _decode_custom(kind_type: type[CustomObject], data: bytes | str) -> CustomObject:
    """Return the object of a kind with any fields."""
    try:
        document = msgspec.json.decode(data)
    except UNREADABLE:
        text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        document = _read_tolerantly(StrangeObject, text)
    if not isinstance(document, dict):
        raise InvalidObjectError(f"{kind_type.__name__}: expected an object, got {_describe(document)}")
    return custom_object(kind_type, _without_nulls(document, StrangeObject))  # type: ignore[arg-type]


def _read_tolerantly(kind_type: type[ApiStruct], data: bytes) -> object:
    """Return what a type asks for of a document that is too strange for the decoder."""
    try:
        return tolerant_json.read(data, kind_type)
    except InvalidObjectError as error:
        name = kind_type.__name__
        with suppress(InvalidObjectError):
            name = _name(tolerant_json.read(data, _Identified), name)
        raise InvalidObjectError(f"{name}: {error}") from None


def encode(obj: ApiStruct) -> bytes:
    """Return the object as JSON, with its kind and version."""
    if type(obj) in _MICRO_TIMES:
        return msgspec.json.encode(to_builtins(obj))
    return msgspec.json.encode(_with_kind(obj))


def to_builtins(obj: ApiStruct) -> dict[str, Any]:
    """Return the object as JSON would have it, in dicts and lists, with its kind and version."""
    # By way of JSON, because msgspec.to_builtins leaves tuples as they are.
    data = msgspec.json.encode(_with_kind(obj))
    opaque = tolerant_json.holds_opaque(type(obj))
    document: dict[str, Any] = tolerant_json.read(data, type(obj)) if opaque else msgspec.json.decode(data)
    for path in _MICRO_TIMES.get(type(obj), ()):
        _write_microseconds(document, path)
    return document


@cache
def _json_decoder(kind_type: type[ApiStruct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind_type)


def _with_kind(obj: ApiStruct) -> ApiStruct:
    """Return the object with kind and apiVersion filled in where they are unset."""
    if not isinstance(obj, ApiObject) or (obj.kind and obj.api_version):
        return obj
    kind = type(obj).__name__
    return msgspec.structs.replace(obj, kind=kind, api_version=obj.api_version or API_VERSIONS.get(kind, ""))


def _write_microseconds(document: dict[str, Any], path: tuple[str, ...]) -> None:
    """Give the time at `path`, if there is one, six digits after the second."""
    *parents, last = path
    for parent in parents:
        document = document.get(parent, {})
    time = document.get(last)
    seconds_length = len("2006-01-02T15:04:05")
    if time and time[seconds_length] != ".":
        document[last] = f"{time[:seconds_length]}.000000{time[seconds_length:]}"


# Which kind a document is of.


def _type_of(document: object, where: str) -> type[ApiObject]:
    """Return the struct for the document's kind, or raise an error that says why there is none."""
    if not isinstance(document, Mapping):
        raise _error(where, f"expected an object with apiVersion and kind, got {_describe(document)}")
    kind, api_version = document.get("kind"), document.get("apiVersion")
    for field, value in (("kind", kind), ("apiVersion", api_version)):
        if value is not None and not isinstance(value, str):
            raise _error(where, f"{_name(document)}: {field}: expected a string, got {_describe(value)}")
        if not value:
            raise _error(where, f"{_name(document)} has no {field}")
    kind_type = KINDS.get(str(kind))
    if kind_type is None:
        raise _error(where, f"{_name(document)}: kind {kind} ({api_version}) is not one that scheduling reads")
    expected = API_VERSIONS[str(kind)]
    if _group(str(api_version)) != _group(expected):
        raise _error(where, f"{_name(document)}: apiVersion: expected {expected}, got {api_version}")
    if kind in _OTHER_SHAPES.get(str(api_version), ()):
        raise _error(where, f"{_name(document)}: apiVersion {api_version} has another shape; write it as {expected}")
    return kind_type


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _name(document: object, kind: str = "") -> str:
    """Return `Pod default/web-0` for a document, as far as it says so."""
    if not isinstance(document, Mapping):
        return kind
    kind = kind or _text(document.get("kind")) or "object"
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return f"{kind} without a name"
    name, namespace = _text(metadata.get("name")), _text(metadata.get("namespace"))
    if not name:
        return f"{kind} without a name"
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# Nulls, as Go reads them.


def _decode_with_nulls(document: object, kind_type: type[StructT], where: str) -> StructT:
    """Return the object with nulls read as Go reads them, or raise the error that names the field."""
    document = _without_nulls(document, kind_type)
    try:
        return msgspec.convert(document, kind_type)
    except msgspec.ValidationError as error:
        name = _name(document, kind_type.__name__)
        raise _error(where, f"{name}: {_problem(str(error), document, kind_type)}") from None


def _without_nulls(value: object, value_type: Any) -> object:
    """Return `value` without null fields, and with the zero value for nulls in lists and maps."""
    value_type, _ = strip_optional(value_type)
    if isinstance(value, Mapping):
        if is_struct(value_type):
            types = field_types(value_type)
            return {key: _without_nulls(item, types.get(key, Any)) for key, item in value.items() if item is not None}
        if get_origin(value_type) is dict:
            item_type = get_args(value_type)[1]
            return {key: _null_as_zero(item, item_type) for key, item in value.items()}
    if isinstance(value, list | tuple) and get_origin(value_type) is tuple:
        item_type = get_args(value_type)[0]
        return [_null_as_zero(item, item_type) for item in value]
    return value


def _null_as_zero(value: object, value_type: Any) -> object:
    """Return `value`, or what Go has for a null of this type."""
    if value is not None:
        return _without_nulls(value, value_type)
    value_type, optional = strip_optional(value_type)
    if optional or value_type is Any:
        return None
    if is_struct(value_type):
        return {}
    if get_origin(value_type) in (Union, UnionType):  # a quantity
        return 0
    return (get_origin(value_type) or value_type)()


# What is wrong, in a sentence.

_ERROR = re.compile(r"(?P<message>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<field>[^.\[]+)|\[(?P<index>\d+)\]|\[(?P<any>\.\.\.)\]")
_EXPECTED = re.compile(r"Expected `(?P<types>[^`]+)`(?P<bound> [<>]= -?\d+)?")
_WORDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
    "datetime": "a time such as 2006-01-02T15:04:05Z",
}


def _problem(text: str, document: object, kind_type: type[ApiStruct]) -> str:
    """Return `field: expected this, got that` for what msgspec says."""
    match = _ERROR.fullmatch(text)
    assert match is not None, text
    path, value = _locate(match["path"] or "", document, kind_type)
    before = f"{path}: " if path else ""
    if match["key"]:
        bad_key = next((key for key in value if not isinstance(key, str)), None)
        return f"{before}expected strings as keys, got {_describe(bad_key)}"
    expected = _expected(match["message"])
    if expected is None:
        return before + match["message"]
    return f"{before}expected {expected}, got {_describe(value)}"


def _locate(path: str, document: object, kind_type: Any) -> tuple[str, Any]:
    """Return the field path as a person writes it, and the value found there."""
    written, value, value_type = "", document, kind_type
    for step in _STEP.finditer(path):
        value_type, _ = strip_optional(value_type)
        if step["field"] and isinstance(value, Mapping) and is_struct(value_type):
            field = step["field"]
            written += f".{field}"
            value, value_type = value.get(field), field_types(value_type).get(field, Any)
        elif step["index"] and isinstance(value, Sequence):
            written += step[0]
            value, value_type = value[int(step["index"])], get_args(value_type)[0]
        elif step["any"] and isinstance(value, Mapping):
            value_type = get_args(value_type)[1]
            key = _first_misfit(value, value_type)
            written += f'["{key}"]'
            value = value.get(key)
    return written.removeprefix("."), value


def _first_misfit(mapping: Mapping[Any, Any], value_type: Any) -> object:
    """Return the first key whose value does not have the type: msgspec does not say which one it was."""
    for key, value in mapping.items():
        try:
            msgspec.convert(value, value_type)
        except msgspec.ValidationError:
            return key
    return None


def _expected(message: str) -> str | None:
    """Return what msgspec expected in words, or None where it did not say."""
    if "datetime" in message:
        return _WORDS["datetime"]
    match = _EXPECTED.match(message)
    if match is None:
        return None
    types = [name for name in match["types"].split(" | ") if name != "null"]
    if set(types) == {"int", "float", "str"}:
        return "a quantity"
    bound = match["bound"] or ""
    return " or ".join(_WORDS.get(name, name) for name in types) + bound


def _describe(value: object) -> str:
    """Return a value in a few words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"' if len(value) <= 40 else f'"{value[:40]}..."'
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
    return str(value)


def _error(where: str, sentence: str) -> InvalidObjectError:
    return InvalidObjectError(f"{where}: {sentence}" if where else sentence)
