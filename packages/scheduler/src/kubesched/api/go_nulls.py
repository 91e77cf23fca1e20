"""Nulls as Go reads them: a field that is null is unset, a null in a list or a map is the zero value of its type.

From a document and the type that it is decoded to, to the document without nulls.
"""

from collections.abc import Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from kubesched.api.field_types import field_types, is_struct, strip_optional


def without_nulls(value: object, value_type: Any) -> object:
    """Return `value` without null fields, and with the zero value for nulls in lists and maps."""
    value_type, _ = strip_optional(value_type)
    if isinstance(value, Mapping):
        if is_struct(value_type):
            types = field_types(value_type)
            return {key: without_nulls(item, types.get(key, Any)) for key, item in value.items() if item is not None}
        if get_origin(value_type) is dict:
            item_type = get_args(value_type)[1]
            return {key: _null_as_zero(item, item_type) for key, item in value.items()}
    if isinstance(value, list | tuple) and get_origin(value_type) is tuple:
        item_type = get_args(value_type)[0]
        return [_null_as_zero(item, item_type) for item in value]
    return value


def _null_as_zero(value: object, value_type: Any) -> object:
    """Return `value`, or Go's zero value of this type for a null."""
    if value is not None:
        return without_nulls(value, value_type)
    value_type, optional = strip_optional(value_type)
    if optional or value_type is Any:
        return None
    if is_struct(value_type):
        return {}
    if get_origin(value_type) in (Union, UnionType):  # a quantity
        return 0
    return (get_origin(value_type) or value_type)()
