"""The types of shapes for managedFields."""

# upstream: structured-merge-diff/v6/schema/elements.go, kube-openapi/pkg/schemaconv

from functools import cache
from typing import Any

from kubesched_controlplane.managed_fields.list_types import KeyedList, SetList
from kubesched_controlplane.managed_fields.types import ATOMIC_PART, UNTYPED, FieldType, Map, Struct
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Scalar, ScalarType, Shape, Type
from kubesched_controlplane.schema.structs import ZEROS

# defaults of list keys that are not zero; the reference has them in its schema
_KEY_DEFAULTS = {"protocol": "TCP"}
_structs: dict[Shape, Struct] = {}


@cache
def type_of_shape(shape: Shape) -> FieldType:
    """Return the type of a shape's objects."""
    return ATOMIC_PART if shape.atomic else _struct(shape)


def _struct(shape: Shape) -> Struct:
    found = _structs.get(shape)
    if found is None:
        # registered before its fields, which may be of the same type
        found = _structs[shape] = Struct()
        fields = shape.fields.values()
        found.complete({field.name: (f"f:{field.name}", type_of_field(field), _is_always(field)) for field in fields})
    return found


def _is_always(field: Field) -> bool:
    if field.pointer or field.omit_zero:
        return False
    return field.always or (isinstance(field.type, Shape) and not field.type.atomic)


def type_of_field(field: Field) -> FieldType:
    """Return the type of a field."""
    if field.list_type == "atomic":
        return ATOMIC_PART
    if field.list_type == "granular" and isinstance(field.type, Shape):
        return _struct(field.type)
    if isinstance(field.type, ListType):
        if field.list_type == "map":
            element = field.type.element
            assert isinstance(element, Shape)
            return KeyedList({key: _key_default(element, key) for key in field.map_keys}, _field_type(element))
        return SetList() if field.list_type == "set" else ATOMIC_PART
    return _field_type(field.type)


def _field_type(type_: Type) -> FieldType:
    match type_:
        case Shape():
            return ATOMIC_PART if type_.atomic else _struct(type_)
        case MapType():
            return Map(_field_type(type_.value))
        case ListType():
            return ATOMIC_PART
        case ScalarType(scalar):
            return UNTYPED if scalar in (Scalar.RAW, Scalar.ANY) else _leaf(scalar)


@cache
def _leaf(scalar: Scalar) -> FieldType:
    return FieldType(ZEROS.get(scalar))


def _key_default(element: Shape, key: str) -> Any:
    field = element.fields[key]
    if key in _KEY_DEFAULTS:
        return _KEY_DEFAULTS[key]
    if field.always and isinstance(field.type, ScalarType):
        return ZEROS.get(field.type.scalar)
    return None
