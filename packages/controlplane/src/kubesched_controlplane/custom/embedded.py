"""Validation of embedded resources: their apiVersion, kind and metadata."""

# upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go (v1.36)

from typing import Any

from kubesched.api.field_errors import as_json, child, index, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import annotations_problems
from kubesched_controlplane.custom.structure import Schema, below, items_of
from kubesched_controlplane.kinds.checks import labels_problems
from kubesched_controlplane.schema.openapi_extensions import EMBEDDED


def embedded_problems(value: Any, schema: Schema | None, path: str = "") -> list[str]:
    """Return the problems of embedded resources in a value."""
    if schema is None:
        return []
    problems: list[str] = []
    if isinstance(value, list):
        for number, each in enumerate(value):
            problems += embedded_problems(each, items_of(schema), index(path, number))
    elif isinstance(value, dict):
        if schema.get(EMBEDDED) and path:
            problems += _of_resource(value, path)
        for name, each in value.items():
            named = name in schema.get("properties", {})
            where = child(path, name) if named else index(path, name)
            problems += embedded_problems(each, below(schema, name)[1], where)
    return problems


def _of_resource(value: Document, path: str) -> list[str]:
    problems = []
    for field in ("apiVersion", "kind"):
        text = value.get(field)
        if not text:
            problems.append(required(child(path, field)))
    version = value.get("apiVersion") or ""
    if version.count("/") > 1:
        why = f"must be a valid API version: unexpected GroupVersion string: {version}"
        problems.append(invalid(child(path, "apiVersion"), version, why))
    meta = value.get("metadata") or {}
    where = child(path, "metadata")
    if not isinstance(meta, dict):
        return [*problems, invalid(where, as_json(meta), "must be an object")]
    name = meta.get("name") or ""
    problems += [invalid(child(where, "name"), name, each) for each in _segment_problems(name)]
    problems += labels_problems(child(where, "labels"), meta.get("labels"))
    return problems + annotations_problems(child(where, "annotations"), meta.get("annotations"))


def _segment_problems(name: str) -> list[str]:
    """Return the problems of a name as a path segment."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{each}'" for each in "/%" if each in name]
