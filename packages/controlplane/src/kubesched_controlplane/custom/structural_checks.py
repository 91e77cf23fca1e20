"""Validation of structural schemas: every field has one type, which is outside of alternatives (allOf, anyOf, ...).

From schemas to problems.
"""

# upstream: apiextensions-apiserver/pkg/apiserver/schema/{validation,complete,convert}.go (v1.36)

from collections.abc import Iterator
from typing import Any

from kubesched.api.field_errors import as_json, child, forbidden, index, invalid, required
from kubesched.cel.functions.regex import RegexError, compile_regex
from kubesched_controlplane.custom.list_types import LIST_TYPE, MAP_KEYS
from kubesched_controlplane.custom.structure import Schema
from kubesched_controlplane.custom.validating import INT_OR_STRING
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED, PRESERVE

ROOT, ITEM, FIELD = "at the root", "for specified array items", "for specified object fields"
MAP_TYPE, VALIDATIONS = "x-kubernetes-map-type", "x-kubernetes-validations"
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_ALTERNATIVES = ("anyOf", "allOf", "oneOf")
# keywords that are not allowed within alternatives, and the message
_NOT_WITHIN = {
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    PRESERVE: "must be false to be structural",
    EMBEDDED: "must be false to be structural",
    INT_OR_STRING: "must be false to be structural",
    MAP_KEYS: "must be empty to be structural",
    LIST_TYPE: "must be undefined to be structural",
    MAP_TYPE: "must be undefined to be structural",
    VALIDATIONS: "must be empty to be structural",
}
_UNSUPPORTED = {
    "id": "id",
    "$schema": "schema",
    "$ref": "$ref",
    "patternProperties": "patternProperties",
    "dependencies": "dependencies",
    "additionalItems": "additionalItems",
    "definitions": "definitions",
}


def unsupported(schema: Schema) -> str:
    """Return why a schema cannot be converted to a structural schema, an empty text if it can."""
    for field, name in _UNSUPPORTED.items():
        if schema.get(field):
            return f"OpenAPIV3Schema '{name}' is not supported"
    if schema.get(PRESERVE) is False:
        return f"internal error: '{PRESERVE}' must be true or undefined"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return next((found for each in _below(schema) if (found := unsupported(each))), "")


def schemas_in(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and all schemas in it."""
    yield schema
    for each in _below(schema):
        yield from schemas_in(each)


def _below(schema: Schema) -> Iterator[Schema]:
    """Yield the schemas in a schema."""
    for name in _ALTERNATIVES:
        yield from schema.get(name) or ()
    for name in ("not", "items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield schema[name]
    yield from (schema.get("properties") or {}).values()


def structural_problems(path: str, schema: Schema) -> list[str]:
    """Return the problems of a schema that is not structural."""
    return sorted([*_problems(path, schema, ROOT), *_incomplete(schema, schema, path, path)])


def _problems(path: str, schema: Schema, level: str) -> Iterator[str]:
    if schema.get("type") == "array" and "items" not in schema:
        yield required(child(path, "items"), "must be specified")
    if "items" in schema:
        yield from _problems(child(path, "items"), schema["items"], ITEM)
    for name, each in schema.get("properties", {}).items():
        yield from _problems(index(child(path, "properties"), name), each, FIELD)
    further = schema.get("additionalProperties")
    if further is not None:
        where = child(path, "additionalProperties")
        if level == ROOT:
            yield forbidden(where, "must not be used at the root")
        if isinstance(further, dict):
            yield from _problems(where, further, FIELD)
    yield from _extension_problems(path, schema)
    yield from _value_problems(path, schema, level)
    yield from _type_problems(path, schema, level)
    yield from _meta_problems(path, schema, level)


def _extension_problems(path: str, schema: Schema) -> Iterator[str]:
    if schema.get(INT_OR_STRING):
        for name in (PRESERVE, EMBEDDED):
            if schema.get(name):
                yield invalid(child(path, name), as_json(True), f"must be false if {INT_OR_STRING} is true")


def _type_problems(path: str, schema: Schema, level: str) -> Iterator[str]:
    kind, where = schema.get("type") or "", child(path, "type")
    if schema.get(EMBEDDED) and kind != "object":
        words = f"must be object if {EMBEDDED} is true"
        yield invalid(where, kind, words) if kind else required(where, words)
    elif not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        yield required(where, f"must not be empty {level}")
    if schema.get(EMBEDDED) and schema.get("additionalProperties") is not None:
        yield forbidden(child(path, "additionalProperties"), f"must not be used if {EMBEDDED} is set")
    if level == ROOT and kind and kind != "object":
        yield invalid(where, kind, "must be object at the root")


def _meta_problems(path: str, schema: Schema, level: str) -> Iterator[str]:
    named, is_resource = schema.get("properties", {}), level == ROOT or bool(schema.get(EMBEDDED))
    where = child(path, "properties")
    for name in ("kind", "apiVersion"):
        if is_resource and name in named and named[name].get("type") != "string":
            yield invalid(child(index(where, name), "type"), named[name].get("type") or "", "must be string")
    if "metadata" in named:
        meta, here = named["metadata"], index(where, "metadata")
        if is_resource and meta.get("type") != "object":
            yield invalid(child(here, "type"), meta.get("type") or "", "must be object")
        fields = set(meta.get("properties", {}))
        others = set(meta) - {"type", "default", "properties"}
        if level == ROOT and (others or not fields <= {"name", "generateName"}):
            words = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            yield forbidden(here, words)
    if schema.get(EMBEDDED) and not schema.get(PRESERVE) and not named:
        words = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        yield required(where, words)


# -- alternatives


def _value_problems(path: str, schema: Schema, level: str, *, any_of: bool = True) -> Iterator[str]:
    any_of = any_of and schema.get("anyOf") != _INT_OR_STRING
    for name in _ALTERNATIVES:
        if name == "anyOf" and not any_of:
            continue
        for number, each in enumerate(schema.get(name) or ()):
            # anyOf integer or string is allowed here for int-or-string
            first = name == "allOf" and number == 0 and each.get("anyOf") == _INT_OR_STRING
            yield from _nested_problems(index(child(path, name), number), each, level, any_of=not first)
    if "not" in schema:
        yield from _nested_problems(child(path, "not"), schema["not"], level)
    pattern = schema.get("pattern")
    if pattern:
        try:
            compile_regex(pattern)
        except RegexError as error:
            words = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(child(path, "pattern"), pattern, words)


def _nested_problems(path: str, schema: Schema, level: str, *, any_of: bool = True) -> Iterator[str]:
    if any_of and schema.get("anyOf") == _INT_OR_STRING:
        for number, each in enumerate(schema["anyOf"]):
            yield from _nested_problems(index(child(path, "anyOf"), number), each, level)
    yield from _value_problems(path, schema, level, any_of=any_of)
    if "items" in schema:
        yield from _nested_problems(child(path, "items"), schema["items"], level)
    for name, each in schema.get("properties", {}).items():
        yield from _nested_problems(index(child(path, "properties"), name), each, FIELD)
    if schema.get("type"):
        yield forbidden(child(path, "type"), "must be empty to be structural")
    if schema.get("additionalProperties"):
        yield forbidden(child(path, "additionalProperties"), "must be undefined to be structural")
    for name, words in _NOT_WITHIN.items():
        if schema.get(name) or (name in ("default", LIST_TYPE, MAP_TYPE) and name in schema):
            yield forbidden(child(path, name), words)
    if "metadata" in schema.get("properties", {}):
        where = index(child(path, "properties"), "metadata")
        yield forbidden(where, "must not be specified in a nested context")


def _incomplete(said: Schema, schema: Schema | None, path: str, where: str) -> Iterator[str]:
    """Yield the fields that are specified in alternatives but not outside of them."""
    for name in _ALTERNATIVES:
        for number, each in enumerate(said.get(name) or ()):
            yield from _incomplete_part(each, schema, path, index(child(where, name), number))
    if "not" in said:
        yield from _incomplete_part(said["not"], schema, path, child(where, "not"))


def _incomplete_part(said: Schema, schema: Any, path: str, where: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield required(path, f"because it is defined in {where}")
        return
    yield from _incomplete(said, schema, path, where)
    if "items" in said:
        yield from _incomplete_part(said["items"], schema.get("items"), child(path, "items"), child(where, "items"))
    for name, each in said.get("properties", {}).items():
        here, there = (index(child(start, "properties"), name) for start in (path, where))
        yield from _incomplete_part(each, schema.get("properties", {}).get(name), here, there)
