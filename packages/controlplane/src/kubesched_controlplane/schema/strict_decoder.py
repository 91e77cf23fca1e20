"""The strict decoder: decodes a document and reports errors with Go's messages.

From plain values and a shape to values that the shape's struct accepts. It is used when the fast decoder has failed, or
when there may be duplicate fields. It has the errors of two of Go's decoders: the JSON decoder, for bodies and for JSON
and merge patches, and the converter of maps to objects, for strategic merge patches.
"""

# upstream: sigs.k8s.io/json decode.go, apimachinery/pkg/runtime/converter.go (v1.36)

from base64 import b64decode
from collections.abc import Iterable
from typing import Any, NamedTuple

from kubesched.api.go_text import quote
from kubesched_controlplane.schema.go_words import json_name, kind_name, type_name
from kubesched_controlplane.schema.json_text import Twice
from kubesched_controlplane.schema.scalars import (
    ScalarError,
    canonical_micro_time,
    canonical_milli_quantity,
    canonical_quantity,
    canonical_time,
)
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Scalar, ScalarType, Shape, Type
from kubesched_controlplane.schema.structs import ZEROS

MOST_PROBLEMS = 100
_PYTHON = {Scalar.STRING: str, Scalar.BOOL: bool, Scalar.FLOAT64: float}
_BITS = {Scalar.INT32: 31, Scalar.INT64: 63, Scalar.INT_OR_STRING: 31}
_QUANTITIES = {Scalar.QUANTITY: canonical_quantity, Scalar.MILLI_QUANTITY: canonical_milli_quantity}
_TIMES = {Scalar.TIME: canonical_time, Scalar.MICRO_TIME: canonical_micro_time}


class ShapeError(ValueError):
    """A document that does not match the shape, with Go's message."""


class FieldPath(NamedTuple):
    """The path of a value and, for messages of Go's decoder, its struct and the names of the fields on the path."""

    path: str = ""
    struct: str = ""
    names: tuple[str, ...] = ()

    def field(self, shape: Shape, field: Field) -> "FieldPath":
        """Return the path of a field."""
        return FieldPath(self._child(field.name), shape.name, (*self.names, *field.embedded, field.name))

    def entry(self, key: str) -> "FieldPath":
        """Return the path of an entry of a map."""
        return self._replace(path=self._child(key))

    def element(self, number: int) -> "FieldPath":
        """Return the path of an element of a list."""
        return self._replace(path=f"{self.path}[{number}]")

    def _child(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name


class StrictDecoder:
    """Decodes a document like Go's JSON decoder.

    A value of a wrong type is skipped, and the first one is reported at the end; an error of a type's own decoder ends
    the decoding.
    """

    def __init__(self) -> None:
        self.error: str | None = None
        # unknown and duplicate fields
        self.problems: dict[str, None] = {}

    def decode(self, type_: Type, value: Any) -> Any:
        """Decode a value, None for null; raises ShapeError."""
        found = None if value is None else self._decoded(type_, value, FieldPath())
        if self.error is not None:
            raise ShapeError(self.error)
        return found

    def strict_problems(self) -> list[str]:
        """Return the strict decoding errors."""
        return list(self.problems)[:MOST_PROBLEMS]

    # -- messages

    def _unknown(self, path: str) -> None:
        self.problems[f"unknown field {quote(path)}"] = None

    def _mismatch(self, value: Any, type_: Type, place: FieldPath) -> Any:
        """Record the error of a value of a wrong type; return the zero with which Go continues."""
        if self.error is None:
            number = isinstance(type_, ScalarType) and type_.scalar in _BITS
            self.error = self._cannot(_with_digits(value) if number else json_name(value), type_.go, place)
        return _zero(type_)

    def _cannot(self, value: str, go: str, place: FieldPath) -> str:
        where = f"struct field {place.struct}.{'.'.join(place.names)}" if place.names else "value"
        return f"json: cannot unmarshal {value} into Go {where} of type {go}"

    def _refused(self, value: Any, go: str, place: FieldPath) -> ShapeError:
        """Return the error of a type's own decoder."""
        return ShapeError(self._cannot(_with_digits(value) if go == "int32" else json_name(value), go, place))

    # -- decoding

    def _decoded(self, type_: Type, value: Any, place: FieldPath) -> Any:
        match type_:
            case Shape():
                if isinstance(value, dict):
                    return self._fields(type_, value, place)
            case ListType():
                if isinstance(value, list):
                    return [
                        _zero(type_.element)
                        if each is None
                        else self._decoded(type_.element, each, place.element(number))
                        for number, each in enumerate(value)
                    ]
            case MapType():
                if isinstance(value, dict):
                    return self._entries(type_, value, place)
            case ScalarType():
                return self._scalar(type_, value, place)
        return self._mismatch(value, type_, place)

    def _fields(self, shape: Shape, value: dict[str, Any], place: FieldPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        seen: set[str] = set()
        for name, each in _pairs(value):
            field = shape.fields.get(name)
            if field is None:
                self._unknown(place.entry(name).path)
                continue
            self._note_double(name, seen, place)
            if each is None:
                found.pop(name, None)
            else:
                found[name] = self._decoded(field.type, each, place.field(shape, field))
        return found

    def _entries(self, type_: MapType, value: dict[str, Any], place: FieldPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        seen: set[str] = set()
        for key, each in _pairs(value):
            self._note_double(key, seen, place)
            found[key] = (
                _zero(type_.value) if each is None else self._decoded(type_.value, each, self._entry(place, key))
            )
        return {key: each for key, each in found.items() if each is not None}

    def _entry(self, place: FieldPath, key: str) -> FieldPath:
        """Return the path of an entry of a map."""
        return place.entry(key)

    def _note_double(self, name: str, seen: set[str], place: FieldPath) -> None:
        if name in seen:
            self.problems[f"duplicate field {quote(place.entry(name).path)}"] = None
        seen.add(name)

    def _scalar(self, type_: ScalarType, value: Any, place: FieldPath) -> Any:
        scalar = type_.scalar
        if scalar in _QUANTITIES:
            return _own(_QUANTITIES[scalar], value)
        if scalar in _TIMES:
            if not isinstance(value, str):
                raise self._refused(value, "string", place)
            return _own(_TIMES[scalar], value)
        if scalar is Scalar.INT_OR_STRING:
            if not isinstance(value, str) and not _is_whole(value, 31):
                raise self._refused(value, "int32", place)
            return value
        if scalar in (Scalar.RAW, Scalar.ANY):
            return self._any(value, place, strict=scalar is Scalar.ANY)
        if scalar is Scalar.BYTES:
            return self._bytes(type_, value, place)
        if scalar in _BITS:
            return self._whole(type_, value, place)
        if scalar is Scalar.FLOAT64 and isinstance(value, int | float) and not isinstance(value, bool):
            return value
        return value if isinstance(value, _PYTHON[scalar]) else self._mismatch(value, type_, place)

    def _whole(self, type_: ScalarType, value: Any, place: FieldPath) -> Any:
        return value if _is_whole(value, _BITS[type_.scalar]) else self._mismatch(value, type_, place)

    def _bytes(self, type_: ScalarType, value: Any, place: FieldPath) -> Any:
        if not isinstance(value, str):
            return self._mismatch(value, type_, place)
        # Go ignores line ends
        joined = value.replace("\r", "").replace("\n", "")
        try:
            b64decode(joined, validate=True)
        except ValueError:
            self.error = self.error or f"illegal base64 data at input byte {_first_bad_byte(joined)}"
            return ""
        return joined

    def _any(self, value: Any, place: FieldPath, *, strict: bool) -> Any:
        """Return a value of any kind as plain dicts and lists."""
        if isinstance(value, dict):
            found: dict[str, Any] = {}
            seen: set[str] = set()
            for key, each in _pairs(value):
                if strict:
                    self._note_double(key, seen, place)
                found[key] = self._any(each, place.entry(key), strict=strict)
            return found
        if isinstance(value, list):
            return [self._any(each, place.element(number), strict=strict) for number, each in enumerate(value)]
        return value


class ConverterDecoder(StrictDecoder):
    """Decodes a document like Go's converter of maps to objects: the first value of a wrong type is an error."""

    def strict_problems(self) -> list[str]:
        """Return the strict decoding errors."""
        return sorted(self.problems)

    def _unknown(self, path: str) -> None:
        self.problems[f'unknown field "{path}"'] = None

    def _mismatch(self, value: Any, type_: Type, place: FieldPath) -> Any:
        kind = kind_name(value)
        match type_:
            case Shape():
                raise ShapeError(f"cannot restore struct from: {kind}")
            case ListType():
                raise ShapeError(f"cannot restore slice from {kind}")
            case MapType():
                raise ShapeError(f"cannot restore map from {kind}")
        if type_.scalar is Scalar.BYTES:
            raise ShapeError(f"cannot restore slice from {kind}")
        # Go can convert numbers into strings of one character; its converter has a check against this
        numbers = type_.scalar in _BITS and isinstance(value, int | float)
        if not isinstance(value, bool) and (numbers or (type_.scalar is Scalar.STRING and isinstance(value, int))):
            raise ShapeError(f"cannot convert {type_name(value)} to {type_.go}")
        raise ShapeError(f"unrecognized type: {type_.scalar.value}")

    def _refused(self, value: Any, go: str, place: FieldPath) -> ShapeError:
        return super()._refused(value, go, FieldPath())

    def _entry(self, place: FieldPath, key: str) -> FieldPath:
        return place

    def _scalar(self, type_: ScalarType, value: Any, place: FieldPath) -> Any:
        # differs (D-121): the reference truncates a number that is too large to its last bits
        whole = isinstance(value, float) and value.is_integer()
        return super()._scalar(type_, int(value) if whole else value, place)


def _pairs(value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    return value.pairs if isinstance(value, Twice) else value.items()


def _own(read: Any, value: Any) -> Any:
    """Return a value if a type's own decoder accepts it; raises ShapeError."""
    try:
        read(value)
    except ScalarError as error:
        raise ShapeError(str(error)) from None
    return value


def _zero(type_: Type) -> Any:
    match type_:
        case Shape() | MapType():
            return {}
        case ListType():
            return []
        case ScalarType():
            return ZEROS.get(type_.scalar)


def _is_whole(value: Any, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits


def _with_digits(value: Any) -> str:
    """Return the name of a JSON value's type; a number with its digits."""
    name = json_name(value)
    return f"number {value}" if name == "number" else name


def _first_bad_byte(text: str) -> int:
    """Return the index of the first byte of a text that is not base64."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return next((number for number, letter in enumerate(text) if letter not in letters), len(text) - len(text) % 4)
