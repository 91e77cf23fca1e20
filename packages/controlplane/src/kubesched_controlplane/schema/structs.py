"""Shapes as msgspec structs: a document is decoded and encoded as Go would do it, at the speed of C.

From a shape to a class. A document that is decoded into its struct and encoded again has no unknown fields, no nulls,
no zeros that Go leaves out, all zeros that Go writes, quantities and times in their canonical form, and fields in Go's
order. A document that the struct refuses goes to `strict_decoder`, which has the messages.
"""

import re
from contextvars import ContextVar
from functools import cache
from keyword import iskeyword
from typing import Annotated, Any, Final

import msgspec

from kubesched_controlplane.schema.scalars import (
    ZERO_TIME,
    canonical_micro_time,
    canonical_milli_quantity,
    canonical_quantity,
    canonical_time,
)
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Scalar, ScalarType, Shape, Type


class _Text(type):
    """Makes annotations for texts of a canonical form; the values themselves are plain strings."""

    def __instancecheck__(cls, value: object) -> bool:
        return True


class QuantityText(metaclass=_Text):
    """A quantity."""


class MilliQuantityText(metaclass=_Text):
    """A quantity in whole thousandths."""


class TimeText(metaclass=_Text):
    """A time to the second."""


class TimeEntryText(metaclass=_Text):
    """A time to the second in a map, where the zero time is kept."""


class MicroTimeText(metaclass=_Text):
    """A time to the microsecond."""


_CANONICAL: dict[type, Any] = {
    QuantityText: canonical_quantity,
    MilliQuantityText: canonical_milli_quantity,
    TimeText: canonical_time,
    TimeEntryText: lambda raw: canonical_time(raw) or f"{ZERO_TIME}Z",
    MicroTimeText: canonical_micro_time,
}
_NO_NAME = re.compile(r"\W")
_INT32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_INT64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_ANNOTATIONS: dict[Scalar, Any] = {
    Scalar.STRING: str,
    Scalar.BOOL: bool,
    Scalar.INT32: _INT32,
    Scalar.INT64: _INT64,
    Scalar.FLOAT64: int | float,
    Scalar.BYTES: bytes,
    Scalar.QUANTITY: QuantityText,
    Scalar.MILLI_QUANTITY: MilliQuantityText,
    Scalar.TIME: TimeText,
    Scalar.MICRO_TIME: MicroTimeText,
    Scalar.INT_OR_STRING: _INT32 | str,
    Scalar.RAW: Any,
    Scalar.ANY: Any,
}
ZEROS: dict[Scalar, Any] = {
    Scalar.STRING: "",
    Scalar.BOOL: False,
    Scalar.INT32: 0,
    Scalar.INT64: 0,
    Scalar.FLOAT64: 0,
    Scalar.BYTES: "",
    Scalar.QUANTITY: "0",
    Scalar.MILLI_QUANTITY: "0",
    Scalar.INT_OR_STRING: 0,
}
# scalars whose zeros Go leaves out
_OMITTED = (Scalar.STRING, Scalar.BOOL, Scalar.INT32, Scalar.INT64)


# the shapes whose structs are being made, by thread
_MAKING: Final[ContextVar[frozenset[Shape]]] = ContextVar("_MAKING", default=frozenset())


def read_scalar(kind: type, raw: Any) -> Any:
    """Return a text in its canonical form (a hook for msgspec)."""
    return _CANONICAL[kind](raw)


@cache
def struct_of(shape: Shape) -> type[msgspec.Struct]:
    """Return the struct of a shape."""
    names = {name: f"{name}_" if iskeyword(name) else _NO_NAME.sub("_", name) for name in shape.fields}
    token = _MAKING.set(_MAKING.get() | {shape})
    try:
        return msgspec.defstruct(
            shape.name,
            [(names[field.name], *_member(field)) for field in shape.fields.values()],
            rename={python: name for name, python in names.items()},
            omit_defaults=True,
            forbid_unknown_fields=True,
            gc=False,
        )
    finally:
        _MAKING.reset(token)


@cache
def _within_itself(shape: Shape) -> type:
    """Return the annotation of a shape inside its own struct; its values are converted when the struct exists."""
    kind = _Text(shape.name, (), {})
    _CANONICAL[kind] = lambda raw: msgspec.convert(raw, struct_of(shape), dec_hook=read_scalar)
    return kind


def _member(field: Field) -> tuple[Any, Any]:
    """Return the annotation and default of a field; a value that equals the default is not encoded."""
    annotation = _annotation(field.type)
    if field.pointer or field.omit_zero:
        return annotation | None, None
    match field.type:
        case ListType() | MapType():
            # differs (D-123): the reference writes null for a missing list that is required; stored objects have no
            # nulls
            if field.always:
                return annotation | None, None
            empty: Any = list if isinstance(field.type, ListType) else dict
            return annotation, msgspec.field(default_factory=empty)
        case Shape():
            return annotation, msgspec.field(default_factory=annotation)
        case ScalarType(scalar) if scalar not in ZEROS:
            return annotation | None, None
        case ScalarType(scalar):
            zero = ZEROS[scalar]
            if scalar in _OMITTED and not field.always:
                return annotation, zero
            # msgspec encodes the values of a factory always
            return annotation, msgspec.field(default_factory=lambda: zero)


def _annotation(type_: Type) -> Any:
    match type_:
        case ListType():
            return list[_annotation(type_.element)]  # type: ignore[misc]
        case MapType():
            value = _annotation(type_.value)
            return dict[str, TimeEntryText if value is TimeText else value]  # type: ignore[misc]
        case Shape():
            return _within_itself(type_) if type_ in _MAKING.get() else struct_of(type_)
        case ScalarType():
            return _ANNOTATIONS[type_.scalar]
