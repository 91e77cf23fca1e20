"""The definitions of custom kinds in both versions of OpenAPI.

From schemas to definitions. OpenAPI v3 has the schemas unchanged; v2 has no alternatives and no nullable fields.
"""

# upstream: apiextensions-apiserver/pkg/controller/openapi/{builder/builder,v2/conversion}.go (v1.36)

from typing import Any

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED, PRESERVE

Schema = dict[str, Any]

_WHICH_KIND = "x-kubernetes-group-version-kind"
_UNSAID = ("oneOf", "anyOf", "allOf", "not", "nullable", "default")


def definition_name(resource: Resource) -> str:
    """Return the name of the definition of a kind: its reversed group, its version and the kind."""
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


def definition_of(schema: Schema, metadata: Schema, texts: dict[str, Schema], kind: Schema) -> Schema:
    """Return the definition of a kind; `metadata` refers to ObjectMeta, `texts` has apiVersion and kind."""
    found = _with_metadata({"type": "object", **schema}, metadata, texts)
    return {**found, _WHICH_KIND: [kind]}


def _with_metadata(schema: Schema, metadata: Schema, texts: dict[str, Schema]) -> Schema:
    """Add apiVersion, kind and metadata to the schema of a resource and of embedded resources."""
    described = metadata.get("description")
    found = {**schema, "properties": {**schema.get("properties", {})}}
    for name, text in texts.items():
        found["properties"].setdefault(name, text)
    own = found["properties"].get("metadata") or {}
    found["properties"]["metadata"] = {**metadata, "description": own.get("description") or described}
    others = {name: each for name, each in found["properties"].items() if name != "metadata"}
    found["properties"] |= {name: _embedded(each, metadata, texts) for name, each in others.items()}
    return found


def _embedded(schema: Any, metadata: Schema, texts: dict[str, Schema]) -> Any:
    if not isinstance(schema, dict):
        return schema
    if schema.get(EMBEDDED):
        return _with_metadata(schema, metadata, texts)
    found = dict(schema)
    if "properties" in found:
        found["properties"] = {name: _embedded(each, metadata, texts) for name, each in found["properties"].items()}
    for name in ("items", "additionalProperties"):
        if name in found:
            found[name] = _embedded(found[name], metadata, texts)
    return found


def root_in_second(schema: Schema) -> Schema:
    """Return the definition of a kind in OpenAPI v2.

    A kind that preserves unknown fields is just an object there: clients would refuse fields beside its properties.
    """
    if schema.get(PRESERVE):
        return {name: schema[name] for name in ("type", _WHICH_KIND) if name in schema}
    found: Schema = in_second(schema)
    return found


def in_second(schema: Any) -> Any:
    """Return a schema without the keywords that OpenAPI v2 lacks."""
    if not isinstance(schema, dict):
        return schema
    found = {name: each for name, each in schema.items() if name not in _UNSAID}
    if schema.get("nullable"):
        # clients would refuse a null if they knew the type
        found = {name: each for name, each in found.items() if name not in ("type", "items", "properties")}
    if "properties" in found:
        found["properties"] = {name: in_second(each) for name, each in found["properties"].items()}
    for name in ("items", "additionalProperties"):
        if name in found:
            found[name] = in_second(found[name])
    return found
