"""CEL types and values for validation rules.

From schemas to CEL types, and from JSON to CEL values. Rules cannot use fields that the schema does not have.
"""

# upstream: apiserver/pkg/cel/common/schemas.go, pkg/cel/escaping.go,
# apiextensions-apiserver/pkg/apiserver/schema/cel/values.go (v1.36)

import re
from base64 import b64decode
from typing import Any

from kubesched.api.go_text import quote
from kubesched.cel import types
from kubesched.cel.errors import CelRuntimeError
from kubesched.cel.functions.conversions import to_duration, to_timestamp
from kubesched.cel.types import Type
from kubesched.cel.values import CelMap
from kubesched_controlplane.custom.structure import Schema
from kubesched_controlplane.custom.validating import INT_OR_STRING
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED

_RESERVED = re.compile(
    "true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|"
    "while"
)
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED = re.compile(r"__|[-./]")
_NAME = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*", re.ASCII)
_TEXT: Schema = {"type": "string"}
_META: Schema = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}
_FORMATS = {
    "byte": types.BYTES,
    "duration": types.DURATION,
    "date": types.TIMESTAMP,
    "date-time": types.TIMESTAMP,
}
_SCALARS = {"boolean": types.BOOL, "number": types.DOUBLE, "integer": types.INT}


def as_resource(schema: Schema) -> Schema:
    """Return a schema with the kind, apiVersion and metadata (name, generateName) of a resource."""
    own = {"kind": _TEXT, "apiVersion": _TEXT, "metadata": _META}
    return {**schema, "properties": {**schema.get("properties", {}), **own}}


def escaped(name: str) -> str | None:
    """Return the name of a field escaped for CEL, None if it cannot be escaped."""
    if _RESERVED.fullmatch(name):
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], name)


class Declared:
    """The CEL types that a schema declares: the type of its values, and the fields of object types."""

    def __init__(self, schema: Schema) -> None:
        self.fields: dict[str, dict[str, Type]] = {}
        self.type = self._type(schema, "self")

    def _type(self, schema: Schema, path: str) -> Type | None:
        """Return the CEL type of a schema, None if rules cannot use its values."""
        if schema.get(INT_OR_STRING):
            return types.DYN
        if schema.get(EMBEDDED):
            schema = as_resource(schema)
        kind = schema.get("type") or ""
        if kind == "array":
            element = self._type(schema["items"], f"{path}.@idx") if isinstance(schema.get("items"), dict) else None
            return None if element is None else types.list_of(element)
        if kind == "object":
            return self._object(schema, path)
        if kind == "string":
            return _FORMATS.get(schema.get("format") or "", types.STRING)
        return _SCALARS.get(kind)

    def _object(self, schema: Schema, path: str) -> Type | None:
        further = schema.get("additionalProperties")
        if isinstance(further, dict):
            value = self._type(further, f"{path}.@elem")
            return None if value is None else types.map_of(types.STRING, value)
        fields: dict[str, Type] = {}
        for name, each in schema.get("properties", {}).items():
            found, word = self._type(each, f"{path}.{name}"), escaped(name)
            if found is not None and word is not None:
                fields[word] = found
        self.fields[path] = fields
        return Type("struct", path)


def value_of(value: Any, schema: Schema) -> Any:
    """Return the CEL value of a JSON value; raises CelRuntimeError for a text that does not have its format."""
    if value is None or schema.get(INT_OR_STRING):
        return value
    if isinstance(value, dict):
        return _map_of(value, as_resource(schema) if schema.get(EMBEDDED) else schema)
    if isinstance(value, list):
        items = schema.get("items") or {}
        return [value_of(each, items) for each in value]
    if schema.get("type") == "number" and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and schema.get("type") == "string":
        return _text_of(value, schema.get("format") or "")
    return value


def _map_of(value: dict[str, Any], schema: Schema) -> CelMap:
    further = schema.get("additionalProperties")
    if isinstance(further, dict):
        return CelMap({name: value_of(each, further) for name, each in value.items()})
    named = schema.get("properties", {})
    found = {}
    for name, each in value.items():
        word = escaped(name) if name in named else None
        if word is not None:
            found[word] = value_of(each, named[name])
    return CelMap(found)


def _text_of(value: str, form: str) -> Any:
    try:
        match form:
            case "byte":
                return b64decode(value, validate=True)
            case "duration":
                return to_duration(value)
            case "date":
                return to_timestamp(f"{value}T00:00:00Z")
            case "date-time":
                return to_timestamp(value)
    except ValueError as error:
        raise CelRuntimeError(f"Invalid {form} {quote(value)}: {error}") from None
    return value
