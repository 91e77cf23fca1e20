"""Validation of apply configurations, with the messages of the reference.

From a type and a value to problems with their paths. Unknown fields are problems, and so are list elements with the
same key.
"""

# upstream: structured-merge-diff/v6/typed/{validate,helpers}.go

from collections.abc import Callable
from typing import Any

from kubesched_controlplane.managed_fields.field_sets import words
from kubesched_controlplane.managed_fields.list_types import Elements, FieldTypeError
from kubesched_controlplane.managed_fields.shape_types import type_of_field
from kubesched_controlplane.managed_fields.types import FieldType
from kubesched_controlplane.schema.go_words import printed, type_name
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Scalar, ScalarType, Shape, Type

Problem = tuple[str, str]

_NUMBERS = (Scalar.INT32, Scalar.INT64, Scalar.FLOAT64)
_UNTYPED = (Scalar.QUANTITY, Scalar.MILLI_QUANTITY, Scalar.INT_OR_STRING)
_ANY = (Scalar.RAW, Scalar.ANY)


def problems_of(shape: Shape, document: Any) -> list[Problem]:
    """Return the problems of an apply configuration, with their paths."""
    return _problems(shape, document, "", None)


def in_words(problems: list[Problem]) -> str:
    """Format problems as one text."""
    lines = [f"{path}: {why}" if path else why for path, why in problems]
    return lines[0] if len(lines) == 1 else "\n  ".join(["errors:", *lines])


def _problems(type_: Type, value: Any, path: str, field: Field | None) -> list[Problem]:
    if value is None:
        return []
    match type_:
        case ScalarType():
            return _scalar(type_.scalar, value, path)
        case ListType():
            return _list(type_, value, path, field)
        case Shape() | MapType():
            return _map(type_, value, path)


def _map(type_: Shape | MapType, value: Any, path: str) -> list[Problem]:
    if not isinstance(value, dict):
        return [(path, f"expected map, got &{{{printed(value)}}}")]
    problems: list[Problem] = []
    for name, each in value.items():
        here = f"{path}.{name}"
        if isinstance(type_, MapType):
            problems += _problems(type_.value, each, here, None)
            continue
        field = type_.fields.get(name)
        if field is None:
            return [*problems, (here, "field not declared in schema")]
        problems += _problems(field.type, each, here, field)
    return problems


def _list(type_: ListType, value: Any, path: str, field: Field | None) -> list[Problem]:
    field_type = type_of_field(field) if field is not None else None
    return list_problems(value, path, field_type, lambda each, here: _problems(type_.element, each, here, None))


def list_problems(
    value: Any, path: str, field_type: FieldType | None, below: Callable[[Any, str], list[Problem]]
) -> list[Problem]:
    """Return the problems of a list; `below` returns the problems of an element at a path."""
    if not isinstance(value, list):
        return [(path, f"expected list, got &{{{printed(value)}}}")]
    problems: list[Problem] = []
    seen: set[str] = set()
    for number, each in enumerate(value):
        where = f"[{number}]"
        if isinstance(field_type, Elements):
            try:
                key = field_type.key(each)
            except FieldTypeError as error:
                return [*problems, (path, f"element {number}: {error}")]
            where = words(key)
            if key in seen:
                problems.append((path, f"duplicate entries for key {where}"))
            seen.add(key)
        problems += below(each, path + where)
    return problems


def _scalar(scalar: Scalar, value: Any, path: str) -> list[Problem]:
    if scalar in _ANY:
        return []
    if scalar in _NUMBERS:
        right = isinstance(value, int | float) and not isinstance(value, bool)
        why = f"expected numeric (int or float), got {type_name(value)}"
    elif scalar is Scalar.BOOL:
        right, why = isinstance(value, bool), f"expected boolean, got &{{{printed(value)}}}"
    elif scalar in _UNTYPED:
        right, why = not isinstance(value, dict | list), f"expected any scalar, got &{{{printed(value)}}}"
    else:
        right = isinstance(value, str)
        why = f"expected string, got &value.valueUnstructured{{Value:{_go_value(value)}}}"
    return [] if right else [(path, why)]


def _go_value(value: Any) -> str:
    """Return a value as Go's %#v prints it."""
    if isinstance(value, dict):
        entries = (f'"{key}":{_go_value(value[key])}' for key in sorted(value))
        return f"map[string]interface {{}}{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_value, value))}}}"
    return f'"{value}"' if isinstance(value, str) else printed(value)
