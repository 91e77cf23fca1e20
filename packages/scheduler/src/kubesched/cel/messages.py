"""Objects that mutating policies construct: `Object{spec: Object.spec{replicas: 3}}`, `JSONPatch{op: "add"}`.

From the name of a type to its fields, and from fields to a value with that type. All other expressions cannot
construct objects.
"""

# upstream: apiserver/pkg/cel/mutation/{typeresolver,jsonpatch}.go, pkg/cel/mutation/dynamic/objects.go,
# pkg/cel/library/jsonpatch.go (v1.36)

from __future__ import annotations

from typing import Any, Final

from kubesched.cel import types
from kubesched.cel.types import Type
from kubesched.cel.values import CelMap

OBJECT: Final = Type("struct", "Object")
JSON_PATCH: Final = Type("struct", "JSONPatch")
# functions that are declared only where objects can be constructed
FUNCTION_NAMES: Final = frozenset({"jsonpatch.escapeKey"})
# the cost of constructing an object
COST: Final = 40
_PATCH_FIELDS: Final = {"op": types.STRING, "path": types.STRING, "from": types.STRING, "value": types.DYN}


class MessageValue(CelMap):
    """An object that an expression has constructed."""

    __slots__ = ("type",)

    def __init__(self, described: Type) -> None:
        super().__init__()
        self.type = described


def is_message(name: str) -> bool:
    """Return whether objects of a type can be constructed."""
    return name in (OBJECT.name, JSON_PATCH.name) or name.startswith(f"{OBJECT.name}.")


def field_type(name: str, field: str) -> Type | None:
    """Return the type of a field of such objects, None if the field does not exist."""
    return _PATCH_FIELDS.get(field) if name == JSON_PATCH.name else types.DYN


def escaped_key(key: str) -> str:
    """Return a key as it is written in the path of a JSON patch."""
    return key.replace("~", "~0").replace("/", "~1")


def misnamed(value: Any, path: str = OBJECT.name) -> str:
    """Check that each object's type is named after its path; return the first error, or an empty text."""
    if isinstance(value, MessageValue):
        if value.type.name != path:
            words = "which matches field name path from root Object type"
            return f'unexpected type name "{value.type.name}", expected "{path}", {words}'
        return next((why for name, each in value.items() if (why := misnamed(each, f"{path}.{name}"))), "")
    if isinstance(value, CelMap):
        return next((why for _, each in value.items() if (why := misnamed(each, path))), "")
    if isinstance(value, list):
        return next((why for each in value if (why := misnamed(each, path))), "")
    return ""
