"""Pruning, defaulting and dropping of nulls by a structural schema.

From values and structural schemas to values, changed in place. A schema that is None has no fields, as for values of
`additionalProperties: true`.
"""

# upstream: apiextensions-apiserver/pkg/apiserver/schema/{pruning,defaulting}/*.go (v1.36)

from copy import deepcopy
from typing import Any

from kubesched_controlplane.schema.openapi_extensions import EMBEDDED, PRESERVE

Schema = dict[str, Any]

META_FIELDS = ("apiVersion", "kind", "metadata")


def below(schema: Schema, name: str) -> tuple[bool, Schema | None]:
    """Return whether the schema of an object has a field, and the schema of the field."""
    found = schema.get("properties", {}).get(name)
    if found is not None:
        return True, found
    further = schema.get("additionalProperties")
    return further is not None, further if isinstance(further, dict) else None


def items_of(schema: Schema | None) -> Schema | None:
    """Return the schema of the elements of a list."""
    return None if schema is None else schema.get("items")


def prune(value: Any, schema: Schema, *, resource: bool = False) -> list[str]:
    """Drop unknown fields; return their paths. apiVersion, kind and metadata of a resource are kept."""
    unknown: list[str] = []
    _prune(value, {**schema, EMBEDDED: True} if resource else schema, "", unknown)
    return sorted(unknown)


def _prune(value: Any, schema: Schema | None, path: str, unknown: list[str]) -> None:
    preserved = schema is not None and bool(schema.get(PRESERVE))
    if isinstance(value, list):
        for number, each in enumerate(value):
            inner, where = items_of(schema), f"{path}[{number}]"
            # elements of a list that preserves unknown fields preserve them, too
            if preserved and inner is not None:
                inner = {**inner, PRESERVE: True}
            if inner is not None or not preserved:
                _prune(each, inner, where, unknown)
    elif isinstance(value, dict):
        for name in list(value):
            where = f"{path}.{name}" if path else name
            if schema is not None and schema.get(EMBEDDED) and name in META_FIELDS:
                continue
            known, inner = (False, None) if schema is None else below(schema, name)
            if known:
                _prune(value[name], inner, where, unknown)
            elif not preserved:
                unknown.append(where)
                del value[name]


def fill_in(value: Any, schema: Schema | None) -> None:
    """Set the defaults of a schema, also in place of nulls that are not nullable."""
    if schema is None:
        return
    if isinstance(value, dict):
        for name, inner in schema.get("properties", {}).items():
            if "default" in inner and (name not in value or _may_not_be(value[name], inner)):
                value[name] = deepcopy(inner["default"])
        for name in value:
            known, found = below(schema, name)
            if known and name not in schema.get("properties", {}) and _may_not_be(value[name], found):
                value[name] = deepcopy((found or {}).get("default"))
            fill_in(value[name], found)
    elif isinstance(value, list):
        inner = items_of(schema)
        for number, each in enumerate(value):
            if inner is not None and _may_not_be(each, inner):
                value[number] = deepcopy(inner.get("default"))
            fill_in(value[number], inner)


def _may_not_be(value: Any, schema: Schema | None) -> bool:
    return value is None and schema is not None and not schema.get("nullable")


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Drop nulls that are not nullable and have no default."""
    if isinstance(value, dict):
        for name in list(value):
            inner = None if schema is None else below(schema, name)[1]
            if _may_not_be(value[name], inner) and "default" not in (inner or {}):
                del value[name]
            else:
                drop_nulls(value[name], inner)
    elif isinstance(value, list):
        for each in value:
            drop_nulls(each, items_of(schema))
