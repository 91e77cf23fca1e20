"""Types and fields as both servers publish them in OpenAPI."""

import json
from typing import Any

from kubesched_controlplane.representation.openapi.definitions import definition_of, name_of
from kubesched_controlplane.schema import library
from tools.upstream.report import Section, differences
from tools.upstream.sources import Source

SECOND_EDITION = "api/openapi-spec/swagger.json"
THIRD_EDITION = "api/openapi-spec/v3/*_openapi.json"

Facts = dict[str, Any]
# what is a fact about a schema; descriptions and defaults of Go's zero are not
_KEYS = (
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
)


def compare(source: Source) -> Section:
    """Compare the types that kubesched knows; types that upstream does not publish are passed over."""
    theirs = {name: facts(schema) for name, schema in _published(source).items()}
    ours = {name_of(shape): facts(definition_of(shape)) for shape in library().shapes()}
    shared = {name: ours[name] for name in ours if name in theirs}
    unknown = [f"{name}: not published upstream" for name in sorted(ours.keys() - theirs.keys()) if _is_referred(name)]
    found = list(differences(shared, {name: theirs[name] for name in shared}))
    return Section("types in OpenAPI", len(shared), found + unknown)


def _is_referred(name: str) -> bool:
    """Return whether upstream publishes the type: it does not publish what Go embeds, nor the metrics API."""
    embedded = {name for shape in library().shapes() for field in shape.fields.values() for name in field.embedded}
    return name.rpartition(".")[2] not in embedded and ".metrics." not in name


def _published(source: Source) -> dict[str, Facts]:
    """Return the schemas of the second edition or, where it is not at hand, those of the third."""
    text = source.read(SECOND_EDITION)
    if text is not None:
        definitions: dict[str, Facts] = json.loads(text)["definitions"]
        return definitions
    found: dict[str, Facts] = {}
    for path in source.matching(THIRD_EDITION):
        found |= json.loads(source.first(path)).get("components", {}).get("schemas", {})
    return found


def facts(schema: Facts) -> Facts:
    """Return what is compared of a definition, for either edition."""
    return {
        "required": sorted(schema.get("required", ())),
        "whole": schema.get("x-kubernetes-map-type", ""),
        "fields": {name: _field(each) for name, each in schema.get("properties", {}).items()},
    }


def _field(schema: Facts) -> str:
    """Return a field in one line: its type and how it merges."""
    words = [_type(schema), *(f"{key.removeprefix('x-kubernetes-')}={schema[key]}" for key in _KEYS if schema.get(key))]
    if keys := schema.get("x-kubernetes-list-map-keys"):
        words.append(f"keys={' '.join(keys)}")
    return ", ".join(words)


def _type(schema: Facts) -> str:
    if len(schema.get("allOf", ())) == 1:
        schema = schema["allOf"][0]
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"[]{_type(schema['items'])}"
    if "additionalProperties" in schema:
        return f"map[string]{_type(schema['additionalProperties'])}"
    return str(schema.get("format") or schema.get("type") or "any")
