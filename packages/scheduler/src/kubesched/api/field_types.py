"""The types of the fields of structs, by their names on the wire.

From annotated types to answers for readers of documents. Pure functions.
"""

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec


def strip_optional(value_type: Any) -> tuple[Any, bool]:
    """Return the type without `None` and annotations, and whether `None` was allowed."""
    optional = False
    if get_origin(value_type) in (Union, UnionType):
        choices = [choice for choice in get_args(value_type) if choice is not NoneType]
        optional = len(choices) < len(get_args(value_type))
        if len(choices) == 1:
            value_type = choices[0]
        else:
            value_type = Union[tuple(choices)]  # noqa: UP007
    if get_origin(value_type) is Annotated:
        value_type = get_args(value_type)[0]
    return value_type, optional


def is_struct(value_type: Any) -> bool:
    """Return whether values of a type are structs."""
    return isinstance(value_type, type) and issubclass(value_type, msgspec.Struct)


@cache
def field_types(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the type of each field by its name on the wire."""
    return {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
