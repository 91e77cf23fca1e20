"""The documents of OpenAPI v2 and v3: paths with their operations, and definitions.

From resources to documents. OpenAPI v2 is one document; v3 has a document for each group and version, with references
that leave room for a description of the field.
"""

# upstream: kube-openapi/pkg/{builder,builder3}, apiserver/pkg/endpoints/installer.go (v1.36)

from collections.abc import Iterable
from typing import Any

from kubesched.api.release import GIT_VERSION
from kubesched_controlplane.api.media_types import APPLY_PATCH
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.representation.openapi.custom_definitions import root_in_second
from kubesched_controlplane.representation.openapi.definitions import (
    QUANTITY,
    REFERENCE,
    WHICH_KIND,
    Schema,
    definitions_of,
    kind_name,
    which_kind,
)
from kubesched_controlplane.schema import Schemas

Document = dict[str, Any]

_INFO = {"title": "Kubernetes", "version": GIT_VERSION}
_COMPONENTS = "#/components/schemas/"
_STATUS = f"{_COMPONENTS}io.k8s.apimachinery.pkg.apis.meta.v1.Status"
# query parameters of writes
_WRITE_OPTIONS = {
    "dryRun": "All: nothing is kept.",
    "fieldManager": "The name under which changed fields are owned.",
    "fieldValidation": "What becomes of unknown fields: Ignore, Warn or Strict.",
}
_FORCE = {"force": "Take fields from others when applying."}
_METHODS = {"create": "post", "get": "get", "list": "get", "update": "put", "patch": "patch", "delete": "delete"}
_ACTIONS = {"create": "post", "update": "put"}


def second_edition(resources: Iterable[Resource], schemas: Schemas) -> Document:
    """Return the OpenAPI v2 document of all resources."""
    found = list(resources)
    paths = {path: _second_operations(operations) for path, operations in _paths(found).items()}
    custom = {kind_name(each) for each in found if each.schema is not None}
    definitions = {
        name: root_in_second(schema) if name in custom else schema
        for name, schema in definitions_of(found, schemas).items()
    }
    return {"swagger": "2.0", "info": _INFO, "paths": paths, "definitions": definitions}


def third_edition(resources: list[Resource], schemas: Schemas) -> Document:
    """Return the OpenAPI v3 document of a group and version."""
    definitions = definitions_of(resources, schemas)
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": _paths(resources),
        "components": {"schemas": {name: _definition(name, schema) for name, schema in definitions.items()}},
    }


def _definition(name: str, schema: Schema) -> Schema:
    """Return a definition in OpenAPI v3, where a quantity is a text or a number; `kubectl explain` shows its name."""
    found = _in_third(schema)
    if name == QUANTITY:
        del found["type"]
        found["oneOf"] = [{"type": "string"}, {"type": "number"}]
    return found


def _in_third(schema: Schema) -> Schema:
    """Convert a schema to OpenAPI v3, where a reference has no other keywords beside it."""
    found: Schema = {}
    for key, value in schema.items():
        match key:
            case "properties":
                found[key] = {name: _in_third(each) for name, each in value.items()}
            case "items" | "additionalProperties" if isinstance(value, dict):
                found[key] = _in_third(value)
            case "$ref":
                reference = {"$ref": _COMPONENTS + value.removeprefix(REFERENCE)}
                found |= reference if len(schema) == 1 else {"allOf": [reference]}
            case "format" if value == "int-or-string":
                found[key] = value
                found["oneOf"] = [{"type": "integer"}, {"type": "string"}]
            case _:
                found[key] = value
    if found.get("format") == "int-or-string":
        del found["type"]
    return found


# -- paths


def _paths(resources: Iterable[Resource]) -> dict[str, Document]:
    """Return the paths with their operations, in the form of OpenAPI v3."""
    paths: dict[str, Document] = {}
    for resource in resources:
        start = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
        space = "/namespaces/{namespace}" if resource.namespaced else ""
        many = f"{start}{space}/{resource.plural}"
        one = f"{many}/{{name}}"
        paths[many] = {
            _METHODS[verb]: _operation(resource, verb) for verb in ("create", "list") if verb in resource.verbs
        }
        # kubectl reads the features of the server from the PATCH operation of a kind, even if it cannot be patched
        verbs = [verb for verb in ("get", "update", "patch", "delete") if verb in (*resource.verbs, "patch")]
        paths[one] = {_METHODS[verb]: _operation(resource, verb) for verb in verbs}
        paths[one]["parameters"] = _path_parameters(resource)
        for name, verbs_of in resource.subresources.items():
            found = [verb for verb in verbs_of if verb in _METHODS]
            paths[f"{one}/{name}"] = {_METHODS[verb]: _operation(resource, verb, name) for verb in found}
    return paths


def _path_parameters(resource: Resource) -> list[Document]:
    names = ["name", "namespace"] if resource.namespaced else ["name"]
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _operation(resource: Resource, verb: str, subresource: str = "") -> Document:
    """Return the operation of a verb on a path."""
    body = {"schema": {"$ref": _COMPONENTS + kind_name(resource)}}
    options = {} if verb in ("get", "list") else _WRITE_OPTIONS | (_FORCE if verb == "patch" else {})
    operation: Document = {
        "x-kubernetes-action": _ACTIONS.get(verb, verb),
        WHICH_KIND: which_kind(resource),
        "responses": {"200": {"description": "OK", "content": {"application/json": body}}},
    }
    if options:
        # Go's types drop an empty list
        operation["parameters"] = [
            {"name": name, "in": "query", "description": text, "schema": {"type": "string"}}
            for name, text in options.items()
        ]
    if subresource:
        # with the kind, clients would take this path for the resource itself
        del operation[WHICH_KIND]
        operation["responses"] = {"200": {"description": "OK"}}
    if verb == "delete":
        operation["responses"]["200"]["content"] = {"application/json": {"schema": {"$ref": _STATUS}}}
    elif verb == "patch":
        forms = (APPLY_PATCH, *resource.patch_types)
        operation["requestBody"] = {"content": {form: {"schema": {"type": "object"}} for form in forms}}
    elif verb in _ACTIONS and not subresource:
        operation["requestBody"] = {"content": {"*/*": body}}
    return operation


def _second_operations(operations: Document) -> Document:
    """Convert the operations of a path to OpenAPI v2."""
    found: Document = {}
    for method, operation in operations.items():
        if method == "parameters":
            found[method] = [_second_parameter(each) for each in operation]
            continue
        parameters = [_second_parameter(each) for each in operation.get("parameters") or ()]
        content = operation.get("requestBody", {}).get("content", {})
        if content:
            parameters.append({"name": "body", "in": "body", "required": True, "schema": _second_body(content)})
        kept = {key: value for key, value in operation.items() if key.startswith("x-")}
        responses = {"200": {"description": "OK"}}
        found[method] = {"consumes": list(content) or ["*/*"], "responses": responses, **kept}
        if parameters:
            found[method]["parameters"] = parameters
    return found


def _second_parameter(parameter: Document) -> Document:
    return {**{key: value for key, value in parameter.items() if key != "schema"}, "type": "string"}


def _second_body(content: Document) -> Schema:
    schema = next(iter(content.values()))["schema"]
    reference = schema.get("$ref")
    return {"$ref": REFERENCE + reference.removeprefix(_COMPONENTS)} if reference else schema
