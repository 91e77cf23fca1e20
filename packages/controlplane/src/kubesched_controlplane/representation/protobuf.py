"""Bodies in Protocol Buffers, which Go's typed clients send for built-in kinds (kubectl create, drain).

From bytes to the JSON of the same object, by the shapes of kinds: a body has apiVersion, kind and fields by number.
Unknown fields are ignored, as by every decoder of Protocol Buffers.
"""

# upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go, pkg/runtime/generated.proto (Unknown),
# api/*/*/generated.proto, apimachinery/pkg/apis/meta/v1/generated.proto (v1.36)

from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from math import isfinite
from struct import unpack
from typing import Any

import msgspec

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.shapes import ListType, MapType, Scalar, ScalarType, Shape, Type
from kubesched_controlplane.schema.structs import ZEROS

_MAGIC = b"k8s\x00"
_DEEPEST = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_META = "meta.k8s.io/v1"
_EXTENSIONS = "apiextensions.k8s.io/v1"
_NUMBERS = {Scalar.INT32: 32, Scalar.INT64: 64}
_TEXTS = (Scalar.STRING, Scalar.QUANTITY, Scalar.MILLI_QUANTITY)

# number of a field -> its name, empty for an embedded type, and its type
Members = dict[int, tuple[str, Type]]


class ProtobufError(ValueError):
    """A malformed body."""


def from_protobuf(body: bytes, resource: Resource) -> bytes:
    """Convert a body to JSON, by its own kind or else by that of the resource; raises ProtobufError."""
    if not body.startswith(_MAGIC):
        raise ProtobufError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    if body == _MAGIC:
        raise ProtobufError("empty body")
    envelope = {number: value for number, value in _fields(body[len(_MAGIC) :]) if isinstance(value, bytes)}
    said = {number: _text(value) for number, value in _fields(envelope.get(1, b"")) if isinstance(value, bytes)}
    version, kind = said.get(1) or resource.api_version, said.get(2) or resource.kind
    shape = library().kind(version, kind) or library().kind(_META, kind)
    if shape is None:
        raise ProtobufError(f'no kind "{kind}" is registered for version "{version}" in scheme')
    document = _message(shape, envelope.get(2, b""), 0)
    return msgspec.json.encode({"kind": kind, "apiVersion": version, **document})


# -- messages


def _message(shape: Shape, data: bytes, depth: int) -> dict[str, Any]:
    """Return the fields of a message."""
    if depth > _DEEPEST:
        raise ProtobufError("the message is nested too deeply")
    members = members_of(shape)
    found: dict[str, Any] = {}
    for number, raw in _fields(data):
        member = members.get(number)
        if member is None:
            continue
        name, type_ = member
        if not name:
            assert isinstance(type_, Shape)
            found |= _message(type_, _as_bytes(raw), depth + 1)
        elif isinstance(type_, ListType):
            found.setdefault(name, []).extend(_elements(type_.element, raw, depth))
        elif isinstance(type_, MapType):
            key, value = _entry(type_, _as_bytes(raw), depth)
            found.setdefault(name, {})[key] = value
        else:
            found[name] = _value(type_, raw, depth)
    return found


def _elements(element: Type, raw: bytes | int, depth: int) -> list[Any]:
    """Return an element of a list, or several packed numbers."""
    if isinstance(raw, bytes) and isinstance(element, ScalarType) and element.scalar in (*_NUMBERS, Scalar.BOOL):
        found, at = [], 0
        while at < len(raw):
            number, at = _varint(raw, at)
            found.append(_value(element, number, depth))
        return found
    return [_value(element, raw, depth)]


def _entry(type_: MapType, data: bytes, depth: int) -> tuple[str, Any]:
    key, value = "", _zero(type_.value)
    for number, raw in _fields(data):
        if number == 1:
            key = _text(_as_bytes(raw))
        elif number == 2:
            value = _value(type_.value, raw, depth)
    return key, value


def _zero(type_: Type) -> Any:
    match type_:
        case ScalarType():
            return ZEROS.get(type_.scalar)
        case ListType():
            return []
        case _:
            return {}


def _value(type_: Type, raw: bytes | int, depth: int) -> Any:
    match type_:
        case Shape():
            return _message(type_, _as_bytes(raw), depth + 1)
        case ScalarType():
            alternatives = _ALTERNATIVES.get(type_.go)
            return _scalar(type_.scalar, raw) if alternatives is None else alternatives(_as_bytes(raw), depth)
        case ListType():
            # a named list is a message with the elements as field 1
            items = [_elements(type_.element, each, depth) for number, each in _fields(_as_bytes(raw)) if number == 1]
            return [each for some in items for each in some]
        case MapType():
            return dict(_entry(type_, _as_bytes(each), depth) for _, each in _fields(_as_bytes(raw)))


def _scalar(scalar: Scalar, raw: bytes | int) -> Any:
    if scalar in _NUMBERS or scalar is Scalar.BOOL:
        if not isinstance(raw, int):
            raise ProtobufError("proto: wrong wireType")
        return bool(raw) if scalar is Scalar.BOOL else _signed(raw, _NUMBERS[scalar])
    if scalar is Scalar.FLOAT64:
        return _double(raw)
    data = _as_bytes(raw)
    match scalar:
        case Scalar.STRING:
            return _text(data)
        case Scalar.BYTES:
            return b64encode(data).decode()
        case Scalar.QUANTITY | Scalar.MILLI_QUANTITY:
            return _text(_as_bytes(dict(_fields(data)).get(1, b""))) or "0"
        case Scalar.TIME | Scalar.MICRO_TIME:
            return _time(dict(_fields(data)), scalar)
        case Scalar.INT_OR_STRING:
            return _int_or_string(dict(_fields(data)))
        case _:
            return _raw(_as_bytes(dict(_fields(data)).get(1, b"")))


def _int_or_string(parts: dict[int, bytes | int]) -> int | str:
    if parts.get(1, 0) == 1:
        return _text(_as_bytes(parts.get(3, b"")))
    number = parts.get(2, 0)
    return _signed(number, 32) if isinstance(number, int) else 0


def _time(parts: dict[int, bytes | int], scalar: Scalar) -> str | None:
    """Return a time as in JSON, None for the zero time."""
    seconds, nanos = (_signed(part, 64) if isinstance(part, int) else 0 for part in (parts.get(1, 0), parts.get(2, 0)))
    if not parts:
        return None
    try:
        moment = _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        return None
    # isoformat, since strftime writes the year 1 with one digit
    text = moment.isoformat(timespec="microseconds" if scalar is Scalar.MICRO_TIME else "seconds")
    return text.removesuffix("+00:00") + "Z"


def _raw(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data) if data else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ProtobufError("an embedded object is not JSON") from None


# -- schemas with alternatives


def _schema_or_array(data: bytes, depth: int) -> Any:
    schemas = [_schema(raw, depth) for number, raw in _fields(data) if number == 2]
    return schemas or _one_schema(data, 1, depth)


def _schema_or_bool(data: bytes, depth: int) -> Any:
    schema = _one_schema(data, 2, depth)
    return bool(dict(_fields(data)).get(1, 0)) if schema is None else schema


def _schema_or_texts(data: bytes, depth: int) -> Any:
    texts = [_text(_as_bytes(raw)) for number, raw in _fields(data) if number == 2]
    return texts or _one_schema(data, 1, depth)


def _one_schema(data: bytes, number: int, depth: int) -> Any:
    """Return the schema in the field with a number, None if there is none."""
    raw = dict(_fields(data)).get(number)
    return None if raw is None else _schema(raw, depth)


def _schema(raw: bytes | int, depth: int) -> Any:
    return _value(library().named(_EXTENSIONS, "JSONSchemaProps"), raw, depth)


_ALTERNATIVES: dict[str, Callable[[bytes, int], Any]] = {
    "v1.JSONSchemaPropsOrArray": _schema_or_array,
    "v1.JSONSchemaPropsOrBool": _schema_or_bool,
    "v1.JSONSchemaPropsOrStringArray": _schema_or_texts,
}


# -- field numbers


@cache
def members_of(shape: Shape) -> Members:
    """Return the fields of a message by their numbers."""
    members: Members = {field.number: (field.name, field.type) for field in shape.fields.values() if not field.embedded}
    for name, number in shape.embedded.items():
        members[number] = ("", library().named(shape.api_version, name))
    return members


# -- bytes


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield the number and the content of each field; raises ProtobufError."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
        if kind == _BYTES:
            size, at = _varint(data, at)
        if size is None:
            raise ProtobufError(f"proto: illegal wireType {kind}")
        if at + size > len(data):
            raise ProtobufError("unexpected EOF")
        content = data[at : at + size]
        at += size
        yield number, content if kind == _BYTES else int.from_bytes(content, "little")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and the position after it; raises ProtobufError."""
    number = shift = 0
    while True:
        if at >= len(data):
            raise ProtobufError("unexpected EOF")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return number, at
        shift += 7
        if shift > 63:
            raise ProtobufError("proto: integer overflow")


def _signed(number: int, bits: int) -> int:
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def _as_bytes(raw: bytes | int) -> bytes:
    if isinstance(raw, bytes):
        return raw
    raise ProtobufError("proto: wrong wireType")


def _double(raw: bytes | int) -> float:
    """Return the float in 64 bits; an integer for a whole number, which JSON writes without a point."""
    if not isinstance(raw, int):
        raise ProtobufError("proto: wrong wireType")
    (number,) = unpack("<d", raw.to_bytes(8, "little"))
    return int(number) if isfinite(number) and number.is_integer() else float(number)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
