"""Definitions: the shapes of kinds as OpenAPI schemas.

From shapes to schemas by name, each with the types it refers to. The schemas are for OpenAPI v2; v3 differs in its
references (`documents`).
"""

# upstream: kube-openapi/pkg/{generators,builder}, api/openapi-spec/swagger.json (v1.36)

from collections.abc import Iterator
from functools import cache
from typing import Any

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.representation.openapi.custom_definitions import definition_name
from kubesched_controlplane.representation.openapi.custom_definitions import definition_of as custom_definition
from kubesched_controlplane.representation.openapi.descriptions import description_of
from kubesched_controlplane.schema import Schemas, library
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Scalar, ScalarType, Shape, Type

Schema = dict[str, Any]
Definitions = dict[str, Schema]

REFERENCE = "#/definitions/"
WHICH_KIND = "x-kubernetes-group-version-kind"
_MACHINERY = "io.k8s.apimachinery.pkg"
QUANTITY = f"{_MACHINERY}.api.resource.Quantity"
_META = f"{_MACHINERY}.apis.meta.v1"
_META_VERSION = "meta.k8s.io/v1"
_PLAIN: dict[Scalar, Schema] = {
    Scalar.STRING: {"type": "string"},
    Scalar.BOOL: {"type": "boolean"},
    Scalar.INT32: {"type": "integer", "format": "int32"},
    Scalar.INT64: {"type": "integer", "format": "int64"},
    Scalar.FLOAT64: {"type": "number", "format": "double"},
    Scalar.BYTES: {"type": "string", "format": "byte"},
    Scalar.ANY: {},
}
_QUANTITY = {
    "type": "string",
    "description": "An amount: digits, perhaps with a fraction and a suffix, as in 100m, 1.5, 2Gi, 5e3.",
}
_METADATA = {
    "$ref": f"{REFERENCE}{_META}.ObjectMeta",
    "description": "Standard object's metadata: its name, labels and whatever else every object has.",
}
# scalars with a definition
_NAMED: dict[Scalar, tuple[str, Schema]] = {
    Scalar.QUANTITY: (QUANTITY, _QUANTITY),
    Scalar.MILLI_QUANTITY: (QUANTITY, _QUANTITY),
    Scalar.TIME: (f"{_META}.Time", {"type": "string", "format": "date-time", "description": "A time, RFC 3339."}),
    Scalar.MICRO_TIME: (
        f"{_META}.MicroTime",
        {"type": "string", "format": "date-time", "description": "A time to the microsecond, RFC 3339."},
    ),
    Scalar.INT_OR_STRING: (
        f"{_MACHINERY}.util.intstr.IntOrString",
        {"type": "string", "format": "int-or-string", "description": "A number, or a text such as a percentage."},
    ),
    Scalar.RAW: (f"{_MACHINERY}.runtime.RawExtension", {"type": "object", "description": "Any JSON object."}),
}
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
# scalars that are published under the name of their Go type
_NAMED_TYPES: dict[str, tuple[str, Schema]] = {
    "v1.FieldsV1": (
        f"{_META}.FieldsV1",
        {"type": "object", "description": "A set of fields, as a tree of their names."},
    ),
    "v1.JSON": (f"{_EXTENSIONS}.JSON", {"description": "Any JSON value."}),
    "v1.JSONSchemaPropsOrArray": (
        f"{_EXTENSIONS}.JSONSchemaPropsOrArray",
        {"description": "A schema, or a list of schemas."},
    ),
    "v1.JSONSchemaPropsOrBool": (f"{_EXTENSIONS}.JSONSchemaPropsOrBool", {"description": "A schema, or a boolean."}),
    "v1.JSONSchemaPropsOrStringArray": (
        f"{_EXTENSIONS}.JSONSchemaPropsOrStringArray",
        {"description": "A schema, or a list of texts."},
    ),
}
# groups whose types have other package names
_PACKAGES = {
    _META_VERSION: _META,
    "apiextensions.k8s.io/v1": _EXTENSIONS,
    "apiregistration.k8s.io/v1": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
    "metrics.k8s.io/v1beta1": "io.k8s.metrics.pkg.apis.metrics.v1beta1",
}


def definitions_of(resources: list[Resource], schemas: Schemas) -> Definitions:
    """Return the definitions of kinds, of their lists, and of all types that they refer to."""
    found: Definitions = {}
    waiting: list[Shape] = [shape for shape in map(library().kind, *zip(*_SHARED, strict=True)) if shape is not None]
    for resource in resources:
        shape = schemas.for_kind(resource.api_version, resource.kind)
        name = kind_name(resource)
        if resource.schema is not None:
            found[name] = custom_definition(resource.schema, _METADATA, _type_texts(), which_kind(resource))
            waiting.append(_meta("ObjectMeta"))
        elif shape is None:
            found[name] = {"type": "object", WHICH_KIND: [which_kind(resource)]}
        else:
            waiting.append(shape)
        if "list" in resource.verbs:
            found[f"{name}List"] = _list_of(resource, name)
            waiting.append(_meta("ListMeta"))
    while waiting:
        shape = waiting.pop()
        name = name_of(shape)
        if name not in found:
            found[name] = definition_of(shape)
            for type_ in _mentioned(shape):
                if isinstance(type_, Shape):
                    waiting.append(type_)
                elif isinstance(type_, ScalarType) and (named := _named(type_)) is not None:
                    found[named[0]] = named[1]
    return dict(sorted(found.items()))


# types that the paths of every resource use
_SHARED = ((_META_VERSION, "Status"), (_META_VERSION, "DeleteOptions"))


def _meta(name: str) -> Shape:
    found = library().named(_META_VERSION, name)
    assert isinstance(found, Shape)
    return found


def name_of(shape: Shape) -> str:
    """Return the name of a type's definition."""
    return _name(shape.api_version, shape.name)


def kind_name(resource: Resource) -> str:
    """Return the name of the definition of a resource's kind."""
    if resource.schema is not None:
        return definition_name(resource)
    return _name(resource.api_version, resource.kind)


def _name(api_version: str, name: str) -> str:
    if package := _PACKAGES.get(api_version):
        return f"{package}.{name}"
    group, _, version = api_version.rpartition("/")
    # groups of other domains are reversed
    if group and "." in group and not group.endswith(".k8s.io"):
        return ".".join([*reversed(group.split(".")), version, name])
    return f"io.k8s.api.{group.partition('.')[0] or 'core'}.{version}.{name}"


def which_kind(resource: Resource, suffix: str = "") -> Schema:
    """Return the group, version and kind of a resource for x-kubernetes-group-version-kind."""
    return {"group": resource.group, "kind": resource.kind + suffix, "version": resource.version}


def _list_of(resource: Resource, name: str) -> Schema:
    texts = _type_texts()
    return {
        "description": f"{resource.list_kind} is a list of {resource.kind} objects.",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": texts["apiVersion"],
            "items": {"description": "The objects.", "type": "array", "items": {"$ref": f"{REFERENCE}{name}"}},
            "kind": texts["kind"],
            "metadata": {"description": "What is true of the list.", "$ref": f"{REFERENCE}{_META}.ListMeta"},
        },
        WHICH_KIND: [which_kind(resource, "List")],
    }


_TYPE = ("apiVersion", "kind")


def _type_texts() -> dict[str, Schema]:
    """Return the definitions of `apiVersion` and `kind`."""
    return {field: {"type": "string", "description": description_of("TypeMeta", field)} for field in _TYPE}


@cache
def definition_of(shape: Shape) -> Schema:
    """Return the definition of a type."""
    schema: Schema = {}
    text = description_of(shape.name)
    if text:
        schema["description"] = text
    schema["type"] = "object"
    required = sorted(field.name for field in shape.fields.values() if field.required)
    if required:
        schema["required"] = required
    if shape.fields:
        schema["properties"] = {name: _property(shape, shape.fields[name]) for name in sorted(shape.fields)}
    if shape.is_kind:
        group, _, version = shape.api_version.rpartition("/")
        schema[WHICH_KIND] = [{"group": group, "kind": shape.name, "version": version}]
    if shape.atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _property(shape: Shape, field: Field) -> Schema:
    schema = dict(_schema(field.type))
    text = description_of(_home(shape, field), field.name) or description_of(shape.name, field.name)
    if text:
        schema["description"] = text
    if isinstance(field.type, ListType) and field.list_type:
        schema["x-kubernetes-list-type"] = field.list_type
        if field.map_keys:
            schema["x-kubernetes-list-map-keys"] = list(field.map_keys)
    elif field.list_type:
        schema["x-kubernetes-map-type"] = field.list_type
    if field.merge_key:
        schema["x-kubernetes-patch-merge-key"] = field.merge_key
    if field.strategies:
        schema["x-kubernetes-patch-strategy"] = ",".join(sorted(field.strategies))
    return schema


def _home(shape: Shape, field: Field) -> str:
    """Return the type that declares a field."""
    return field.embedded[-1] if field.embedded else shape.name


def _schema(type_: Type) -> Schema:
    match type_:
        case Shape():
            return {"$ref": f"{REFERENCE}{name_of(type_)}"}
        case ListType():
            return {"type": "array", "items": _schema(type_.element)}
        case MapType():
            return {"type": "object", "additionalProperties": _schema(type_.value)}
        case ScalarType():
            named = _named(type_)
            return _PLAIN[type_.scalar] if named is None else {"$ref": f"{REFERENCE}{named[0]}"}


def _named(type_: ScalarType) -> tuple[str, Schema] | None:
    """Return the name and schema of a scalar with a definition, None for other types."""
    return _NAMED_TYPES.get(type_.go) or _NAMED.get(type_.scalar)


def _mentioned(shape: Shape) -> Iterator[Type]:
    """Yield the types of a shape's fields; of lists and maps the types of their elements."""
    for field in shape.fields.values():
        type_ = field.type
        while isinstance(type_, ListType | MapType):
            type_ = type_.element if isinstance(type_, ListType) else type_.value
        yield type_
