"""Objects between documents and structs.

From JSON bytes (`decode_json`) or parsed JSON and YAML (`decode`) to frozen structs, and back (`encode`,
`to_builtins`).

Typed decoding comes first and is all that a well-formed object costs. Go writes `null` for an unset field: when typed
decoding fails, nulls are read as Go reads them (`go_nulls`) and decoding is tried once more. If that fails, the
`InvalidObjectError` names the object, the field and what was expected (`decoding_errors`).
Unknown fields are skipped. Documents that are nested too deep, or otherwise refused by the decoder, are read by
`tolerant_json`, as far as the kind has fields for them.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import msgspec

from kubesched.api import tolerant_json
from kubesched.api.coordination import Lease, LeaseCandidate
from kubesched.api.custom import CustomObject, StrangeObject, custom_object
from kubesched.api.decoding_errors import described, invalid_object, name_of, problem_of
from kubesched.api.events import Event
from kubesched.api.go_nulls import without_nulls
from kubesched.api.kinds import API_VERSIONS, type_of
from kubesched.api.meta import ApiObject, ApiStruct
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.errors import InvalidObjectError

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
    """Return the object of parsed JSON or YAML; `where` is put before the text of an error."""
    kind_type = type_of(document, where)
    try:
        return msgspec.convert(document, kind_type)
    except msgspec.ValidationError:
        return _decode_with_nulls(document, kind_type, where)


def decode_json(kind_type: type[StructT], data: bytes | str) -> StructT:
    """Return the object of a known type from JSON; its kind is not checked, since items of lists carry none."""
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
        raise InvalidObjectError(f"{kind_type.__name__}: expected an object, got {described(document)}")
    return custom_object(kind_type, without_nulls(document, StrangeObject))  # type: ignore[arg-type]


def _read_tolerantly(kind_type: type[ApiStruct], data: bytes) -> object:
    """Return the fields of a type, as plain values, from a document that the decoder refuses."""
    try:
        return tolerant_json.read(data, kind_type)
    except InvalidObjectError as error:
        name = kind_type.__name__
        with suppress(InvalidObjectError):
            name = name_of(tolerant_json.read(data, _Identified), name)
        raise InvalidObjectError(f"{name}: {error}") from None


def encode(obj: ApiStruct) -> bytes:
    """Return the object as JSON, with its kind and version."""
    if type(obj) in _MICRO_TIMES:
        return msgspec.json.encode(to_builtins(obj))
    return msgspec.json.encode(_with_kind(obj))


def to_builtins(obj: ApiStruct) -> dict[str, Any]:
    """Return the object as dicts and lists, with its kind and version."""
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


def _decode_with_nulls(document: object, kind_type: type[StructT], where: str) -> StructT:
    """Return the object with nulls read as Go reads them, or raise the error that names the field."""
    document = without_nulls(document, kind_type)
    try:
        return msgspec.convert(document, kind_type)
    except msgspec.ValidationError as error:
        name = name_of(document, kind_type.__name__)
        raise invalid_object(where, f"{name}: {problem_of(str(error), document, kind_type)}") from None
