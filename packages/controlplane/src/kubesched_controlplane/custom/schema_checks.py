"""Validation of the schemas of definitions: supported keywords, structural schemas, defaults and rules.

From schemas to problems.
"""

# upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go
# (ValidateCustomResourceDefinitionOpenAPISchema), pkg/apiserver/schema/defaulting/validation.go (v1.36)

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from kubesched.api.field_errors import Shown, as_json, child, forbidden, index, invalid, not_supported, required
from kubesched_controlplane.custom.embedded import embedded_problems
from kubesched_controlplane.custom.list_types import LIST_TYPE, MAP_KEYS
from kubesched_controlplane.custom.rule_forms import form_problems
from kubesched_controlplane.custom.structural_checks import (
    MAP_TYPE,
    VALIDATIONS,
    schemas_in,
    structural_problems,
    unsupported,
)
from kubesched_controlplane.custom.structure import META_FIELDS, Schema, prune
from kubesched_controlplane.custom.validating import value_problems
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED, PRESERVE

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_SUPPORTED_AT_ROOT = {
    "description": "Description",
    "type": "Type",
    "format": "Format",
    "title": "Title",
    "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum",
    "minimum": "Minimum",
    "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength",
    "minLength": "MinLength",
    "pattern": "Pattern",
    "maxItems": "MaxItems",
    "minItems": "MinItems",
    "uniqueItems": "UniqueItems",
    "multipleOf": "MultipleOf",
    "required": "Required",
    "items": "Items",
    "properties": "Properties",
    "externalDocs": "ExternalDocs",
    "example": "Example",
    PRESERVE: "XPreserveUnknownFields",
    VALIDATIONS: "XValidations",
}
_NOT_SUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


class _Place(NamedTuple):
    """A place in a schema: why defaults are not allowed there, and whether it is in the metadata of a resource."""

    no_defaults: str = ""
    in_metadata: bool = False
    uncorrelated: str = ""


def schema_problems(path: str, schema: Schema, *, has_status: bool) -> list[str]:
    """Return the problems of the schema of a kind."""
    here = child(path, "openAPIV3Schema")
    problems = _root_problems(here, schema) if has_status else []
    if schema.get("nullable"):
        problems.append(forbidden(child(here, "nullable"), "nullable cannot be true at the root"))
    reason = unsupported(schema)
    right = False
    if not reason:
        found = structural_problems(here, schema) or list(_default_problems(here, schema, root=True))
        problems += found
        right = not found
    found = list(_problems(here, schema, _Place(), root=True))
    problems += found
    if right and not found and any(each.get(VALIDATIONS) for each in schemas_in(schema)):
        # CEL takes a while to import, and few kinds have rules
        from kubesched_controlplane.custom.rule_checks import rule_problems

        problems += rule_problems(here, schema)
    if not problems and reason:
        problems.append(invalid(here, "", reason))
    return problems


def _root_problems(path: str, schema: Schema) -> list[str]:
    """Return the fields that the root of a schema with a status subresource may not have."""
    if schema.get("type") not in (None, "object"):
        words = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        return [invalid(child(path, "type"), schema["type"], words)]
    if set(schema) <= set(_SUPPORTED_AT_ROOT):
        return []
    names = " ".join(_SUPPORTED_AT_ROOT.values())
    words = f"only [{names}] fields are allowed at the root of the schema if the status subresource is enabled"
    # differs (D-161): the reference shows every field of the schema, including fields that are not set
    return [invalid(path, as_json(schema), words)]


# -- supported keywords


def _problems(path: str, schema: Schema, place: _Place, *, root: bool = False) -> Iterator[str]:
    yield from _standard_problems(path, schema, place)
    if schema.get("uniqueItems"):
        words = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(child(path, "uniqueItems"), words)
    further, named = schema.get("additionalProperties"), schema.get("properties", {})
    if further is not None and further is not True and named:
        words = "additionalProperties and properties are mutual exclusive"
        yield forbidden(child(path, "additionalProperties"), words)
    yield from _problems_below(path, schema, place, root=root)
    if schema.get(PRESERVE) is False:
        yield invalid(child(path, PRESERVE), as_json(False), "must be true or undefined")
    yield from _map_problems(path, schema)
    yield from _list_problems(path, schema)
    for number, rule in enumerate(schema.get(VALIDATIONS) or ()):
        yield from form_problems(index(child(path, VALIDATIONS), number), rule, schema)


def _standard_problems(path: str, schema: Schema, place: _Place) -> Iterator[str]:
    kind = schema.get("type")
    if kind and kind not in _TYPES:
        yield not_supported(child(path, "type"), kind, _TYPES)
    if "default" in schema and place.no_defaults:
        yield forbidden(child(path, "default"), f"must not be set {place.no_defaults}")
    for name in _NOT_SUPPORTED:
        if name in schema:
            yield forbidden(child(path, name), f"{name} is not supported")
    if kind == "null":
        yield forbidden(child(path, "type"), "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list) and schema["items"]:
        yield forbidden(child(path, "items"), "items must be a schema object and not an array")
    if place.in_metadata and schema.get(EMBEDDED):
        yield forbidden(child(path, EMBEDDED), "must not be used inside of resource meta")


def _problems_below(path: str, schema: Schema, place: _Place, *, root: bool) -> Iterator[str]:
    further = schema.get("additionalProperties")
    if isinstance(further, dict):
        reason = "inside additionalProperties applying to object metadata" if place.in_metadata else place.no_defaults
        yield from _problems(child(path, "additionalProperties"), further, place._replace(no_defaults=reason))
    for name, each in schema.get("properties", {}).items():
        inner = place
        if (root or schema.get(EMBEDDED)) and name in META_FIELDS:
            inner = inner._replace(in_metadata=True)
            if root:
                inner = inner._replace(no_defaults=f"in top-level {name}")
        yield from _problems(index(child(path, "properties"), name), each, inner)
    if "not" in schema:
        yield from _problems(child(path, "not"), schema["not"], place)
    for name in ("allOf", "oneOf", "anyOf"):
        for number, each in enumerate(schema.get(name) or ()):
            yield from _problems(index(child(path, name), number), each, place)
    for name, each in (schema.get("definitions") or {}).items():
        yield from _problems(index(child(path, "definitions"), name), each, place)
    items = schema.get("items")
    for where, each in _items(path, items):
        yield from _problems(where, each, place)


def _items(path: str, items: Any) -> Iterator[tuple[str, Schema]]:
    where = child(path, "items")
    if isinstance(items, dict):
        yield where, items
    for number, each in enumerate(items if isinstance(items, list) else ()):
        yield index(where, number), each


def _map_problems(path: str, schema: Schema) -> Iterator[str]:
    kind, found = schema.get("type") or "", schema.get(MAP_TYPE)
    if found is None:
        return
    if kind != "object":
        words = f"must be object if {MAP_TYPE} is specified"
        yield invalid(child(path, "type"), kind, words) if kind else required(child(path, "type"), words)
    if found not in ("atomic", "granular"):
        yield not_supported(child(path, MAP_TYPE), found, ("atomic", "granular"))


def _list_problems(path: str, schema: Schema) -> Iterator[str]:
    kind, found, keys = schema.get("type") or "", schema.get(LIST_TYPE), schema.get(MAP_KEYS) or []
    items = schema["items"] if isinstance(schema.get("items"), dict) else None
    if found is not None and kind != "array":
        words = f"must be array if {LIST_TYPE} is specified"
        yield invalid(child(path, "type"), kind, words) if kind else required(child(path, "type"), words)
    elif found == "set" and items is not None:
        yield from _set_problems(path, items)
    if found not in (None, "atomic", "set", "map"):
        yield not_supported(child(path, LIST_TYPE), found, ("atomic", "set", "map"))
    if keys and found != "map":
        words = f"must be map if {MAP_KEYS} is non-empty"
        yield (
            required(child(path, LIST_TYPE), words) if found is None else invalid(child(path, LIST_TYPE), found, words)
        )
    if found == "map":
        yield from _keyed_problems(path, schema, items, keys)
    if found in ("set", "map") and items is not None and items.get("nullable"):
        yield forbidden(f"{path}.items.nullable", f"cannot be nullable when {LIST_TYPE} is {found}")
    if found == "map" and items is not None:
        yield from _key_problems(f"{path}.items.properties", items, keys)


def _set_problems(path: str, items: Schema) -> Iterator[str]:
    words = f"must be atomic as item of a list with {LIST_TYPE}=set"
    inner = items.get(LIST_TYPE)
    if items.get("type") == "array" and inner not in (None, "atomic"):
        yield invalid(f"{path}.items.{LIST_TYPE}", inner, words)
    if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        yield invalid(f"{path}.items.{MAP_TYPE}", Shown("null") if inner is None else inner, words)


def _keyed_problems(path: str, schema: Schema, items: Schema | None, keys: list[str]) -> Iterator[str]:
    if not keys:
        yield required(child(path, MAP_KEYS), f"must not be empty if {LIST_TYPE} is map")
    if "items" not in schema:
        yield required(child(path, "items"), f"must have a schema if {LIST_TYPE} is map")
    if items is None:
        return
    kind = items.get("type") or ""
    if kind != "object":
        yield invalid(f"{path}.items.type", kind, f"must be object if parent array's {LIST_TYPE} is map")
        return
    for number, key in enumerate(keys):
        inner = items.get("properties", {}).get(key)
        if inner is None:
            yield invalid(child(path, MAP_KEYS), keys, "entries must all be names of item properties")
        elif inner.get("type") in ("array", "object"):
            where = f"{path}.items.properties[{key}].type"
            yield invalid(where, kind, f"must be a scalar type if parent array's {LIST_TYPE} is map")
        if key in keys[:number]:
            yield invalid(child(path, MAP_KEYS), keys, "must not contain duplicate entries")


def _key_problems(path: str, items: Schema, keys: list[str]) -> Iterator[str]:
    """Yield the problems of key fields of a list map: optional without a default, or nullable."""
    start = f"this property is in {MAP_KEYS}, so it"
    for key in keys:
        inner = items.get("properties", {}).get(key)
        if inner is None:
            continue
        here = index(path, key)
        if key not in (items.get("required") or ()) and "default" not in inner:
            yield required(child(here, "default"), f"{start} must have a default or be a required property")
        if inner.get("nullable"):
            yield forbidden(child(here, "nullable"), f"{start} cannot be nullable")


# -- defaults


def _default_problems(path: str, schema: Schema, *, root: bool = False) -> Iterator[str]:
    if "default" in schema:
        default, where = schema["default"], child(path, "default")
        pruned = deepcopy(default)
        prune(pruned, schema, resource=bool(schema.get(EMBEDDED)))
        if pruned != default:
            yield invalid(where, as_json(default), "must not have unknown fields")
        found = embedded_problems(default, schema, where) or value_problems(default, schema, field=where)
        yield from found
    if isinstance(schema.get("items"), dict):
        yield from _default_problems(child(path, "items"), schema["items"])
    for name, each in schema.get("properties", {}).items():
        if not (root and name in META_FIELDS):
            yield from _default_problems(index(child(path, "properties"), name), each)
