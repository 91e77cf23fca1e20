"""The types of custom resources for managedFields, and the problems of apply configurations.

From schemas to types (see `managed_fields`), and from configurations to problems with the reference's messages.
"""

# upstream: kube-openapi/pkg/schemaconv, structured-merge-diff/v6/{schema,typed} (validate.go)

from functools import cache
from typing import Any

from kubesched_controlplane.custom.list_types import LIST_TYPE, MAP_KEYS
from kubesched_controlplane.custom.structure import META_FIELDS, Schema, below, items_of
from kubesched_controlplane.custom.validating import INT_OR_STRING, is_number
from kubesched_controlplane.managed_fields.list_types import KeyedList, SetList
from kubesched_controlplane.managed_fields.shape_types import type_of_shape as type_of_built_in
from kubesched_controlplane.managed_fields.types import ATOMIC_PART, LEAF, UNTYPED, FieldType, Map, Struct
from kubesched_controlplane.managed_fields.validation import Problem, list_problems, problems_of
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.go_words import printed, type_name
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED, PRESERVE
from kubesched_controlplane.schema.shapes import Shape

MAP_TYPE = "x-kubernetes-map-type"


class _Open(Struct):
    """A struct that preserves unknown fields."""

    def field_type(self, name: str) -> FieldType:
        """Return the type of a field, the untyped one for an unknown field."""
        return super().field_type(name) if name in self.members else UNTYPED


@cache
def _object_meta() -> Shape:
    found = library().named("meta.k8s.io/v1", "ObjectMeta")
    assert isinstance(found, Shape)
    return found


def type_of_objects(schema: Schema) -> FieldType:
    """Return the type of a kind's objects for managed fields."""
    return type_of_schema({**schema, EMBEDDED: True})


def type_of_schema(schema: Schema | None) -> FieldType:
    """Return the type of a schema's values for managed fields."""
    if schema is None:
        return UNTYPED
    if schema.get("type") == "array":
        return _list_type(schema)
    if schema.get("type") == "object":
        return _map_type(schema)
    return UNTYPED if schema.get(PRESERVE) else LEAF


def _list_type(schema: Schema) -> FieldType:
    items = items_of(schema) or {}
    match schema.get(LIST_TYPE):
        case "set":
            return SetList()
        case "map":
            named = items.get("properties", {})
            keys = {key: named.get(key, {}).get("default") for key in schema.get(MAP_KEYS) or ()}
            return KeyedList(keys, type_of_schema(items))
    return ATOMIC_PART


def _map_type(schema: Schema) -> FieldType:
    if schema.get(MAP_TYPE) == "atomic":
        return ATOMIC_PART
    named = schema.get("properties", {})
    further = schema.get("additionalProperties")
    if further is not None and not named:
        return Map(type_of_schema(further if isinstance(further, dict) else None))
    members = {name: (f"f:{name}", type_of_schema(each), False) for name, each in named.items()}
    if schema.get(EMBEDDED):
        members |= {name: (f"f:{name}", LEAF, False) for name in ("apiVersion", "kind")}
        members["metadata"] = ("f:metadata", type_of_built_in(_object_meta()), True)
    if not members and schema.get(PRESERVE):
        return UNTYPED
    found = _Open() if schema.get(PRESERVE) else Struct()
    found.complete(members)
    return found


# -- validation of apply configurations


def config_problems(config: Any, schema: Schema) -> list[Problem]:
    """Return the problems of an apply configuration, with their paths."""
    return _problems(config, {**schema, EMBEDDED: True}, "")


def _problems(value: Any, schema: Schema | None, path: str) -> list[Problem]:
    if value is None or schema is None:
        return []
    match schema.get("type"):
        case "object":
            return _map_problems(value, schema, path)
        case "array":
            return _list_problems(value, schema, path)
    return _scalar_problems(value, schema, path)


def _map_problems(value: Any, schema: Schema, path: str) -> list[Problem]:
    if not isinstance(value, dict):
        return [(path, f"expected map, got &{{{printed(value)}}}")]
    problems: list[Problem] = []
    for name, each in value.items():
        here = f"{path}.{name}"
        if schema.get(EMBEDDED) and name in META_FIELDS:
            found = problems_of(_object_meta(), each) if name == "metadata" else []
            problems += [(here + where, why) for where, why in found]
            continue
        known, inner = below(schema, name)
        if not known and not schema.get(PRESERVE):
            return [*problems, (here, "field not declared in schema")]
        problems += _problems(each, inner, here)
    return problems


def _list_problems(value: Any, schema: Schema, path: str) -> list[Problem]:
    inner = items_of(schema)
    return list_problems(value, path, _list_type(schema), lambda each, here: _problems(each, inner, here))


def _scalar_problems(value: Any, schema: Schema, path: str) -> list[Problem]:
    why = ""
    match schema.get("type"):
        case "integer" | "number":
            why = "" if is_number(value) else f"expected numeric (int or float), got {type_name(value)}"
        case "boolean":
            why = "" if isinstance(value, bool) else f"expected boolean, got &{{{printed(value)}}}"
        case "string":
            why = "" if isinstance(value, str) else f"expected string, got &{{{printed(value)}}}"
        case None if schema.get(INT_OR_STRING) and isinstance(value, dict | list):
            why = f"expected any scalar, got &{{{printed(value)}}}"
    return [(path, why)] if why else []
