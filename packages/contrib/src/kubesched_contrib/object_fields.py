"""Fields of custom objects without a schema: lists, and lists of objects.

From a part of an object and the name of a field to its value; a value of another type raises InvalidObjectError with
the field's path.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kubesched import InvalidObjectError


def list_in(holder: Mapping[str, Any], field: str, path: str = "") -> list[Any]:
    """Return a list, an empty one if the field is unset."""
    found = holder.get(field) or []
    if not isinstance(found, list):
        raise InvalidObjectError(f"{_at(path, field)}: expected a list, got {found!r}")
    return found


def objects_in(holder: Mapping[str, Any], field: str, path: str = "") -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a list."""
    for index, item in enumerate(list_in(holder, field, path)):
        if not isinstance(item, Mapping):
            raise InvalidObjectError(f"{_at(path, field)}[{index}]: expected an object, got {item!r}")
        yield item


def object_in(holder: Mapping[str, Any], field: str, path: str = "") -> Mapping[str, Any]:
    """Return an object, an empty one if the field is unset."""
    found = holder.get(field) or {}
    if not isinstance(found, Mapping):
        raise InvalidObjectError(f"{_at(path, field)}: expected an object, got {found!r}")
    return found


def whole_number_in(holder: Mapping[str, Any], field: str, path: str, default: int) -> int:
    """Return a whole number of at most 32 bits that is not negative."""
    found = holder.get(field, default)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < 2**31:
        raise InvalidObjectError(f"{_at(path, field)}: expected a whole number from 0 to {2**31 - 1}, got {found!r}")
    return found


def text_in(holder: Mapping[str, Any], field: str, path: str = "") -> str:
    """Return a text, an empty one if the field is unset."""
    found = holder.get(field) or ""
    if not isinstance(found, str):
        raise InvalidObjectError(f"{_at(path, field)}: expected a text, got {found!r}")
    return found


def _at(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field
