"""OpenAPI: definitions of all kinds, in both editions and as Protocol Buffers; complete, and right for merging."""

from collections.abc import Iterator
from typing import Any

import pytest

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.representation.openapi.descriptions import description_of
from kubesched_controlplane.representation.openapi.texts import objects, pods
from kubesched_controlplane.schema import library
from kubesched_controlplane.server.catalog import RESOURCES, built_in
from kubesched_controlplane.server.server import ApiServer

PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
WHICH = "x-kubernetes-group-version-kind"
PLACES = sorted({f"apis/{each.group}/{each.version}" if each.group else f"api/{each.version}" for each in RESOURCES})


@pytest.fixture(scope="module")
def server() -> ApiServer:
    return ApiServer(access=always_allow, seed=1)


def get(server: ApiServer, path: str, accept: str = "application/json", **query: str) -> Response:
    options = {name: [value] for name, value in query.items()}
    found = server.handle(Request("GET", path, options, {"accept": accept}))
    assert isinstance(found, Response)
    return found


def references(value: Any) -> Iterator[str]:
    """Yield everything that a document refers to."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


# -- the third edition


def test_the_index_leads_to_documents_that_can_be_kept(server: ApiServer) -> None:
    paths = get(server, "/openapi/v3").document()["paths"]
    assert sorted(paths) == PLACES
    url = paths["apis/apps/v1"]["serverRelativeURL"]
    path, _, tag = url.partition("?hash=")
    found = get(server, path, hash=tag)
    assert (found.code, found.headers["ETag"]) == (200, f'"{tag}"')
    assert "immutable" in found.headers["Cache-Control"]
    again = server.handle(Request("GET", path, {}, {"if-none-match": f'"{tag}"'}))
    assert isinstance(again, Response)
    assert again.code == 304


@pytest.mark.parametrize("place", PLACES)
def test_a_document_holds_everything_that_it_refers_to(server: ApiServer, place: str) -> None:
    document = get(server, f"/openapi/v3/{place}").document()
    schemas = document["components"]["schemas"]
    found = {each.removeprefix("#/components/schemas/") for each in references(document)}
    assert found <= schemas.keys()
    kinds = {
        (each["group"], each["version"], each["kind"]) for schema in schemas.values() for each in schema.get(WHICH, ())
    }
    group, _, version = place.partition("/")[2].rpartition("/")
    assert {
        (group, version, each.kind) for each in RESOURCES if (each.group, each.version) == (group, version)
    } <= kinds


@pytest.mark.parametrize("place", PLACES)
def test_every_kind_says_what_its_patches_may_be(server: ApiServer, place: str) -> None:
    document = get(server, f"/openapi/v3/{place}").document()
    patches = [path["patch"] for path in document["paths"].values() if WHICH in path.get("patch", {})]
    for patch in patches:
        assert {"fieldValidation", "dryRun", "fieldManager", "force"} == {each["name"] for each in patch["parameters"]}
        assert "application/apply-patch+yaml" in patch["requestBody"]["content"]
        assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]
    group, _, version = place.partition("/")[2].rpartition("/")
    kinds = [each.kind for each in RESOURCES if (each.group, each.version) == (group, version)]
    assert sorted(patch[WHICH]["kind"] for patch in patches) == sorted(kinds)


def test_references_stand_alone(server: ApiServer) -> None:
    """In the third edition nothing may stand beside a reference."""

    def check(value: Any) -> None:
        if isinstance(value, dict):
            assert "$ref" not in value or value.keys() == {"$ref"}, value
            for each in value.values():
                check(each)
        elif isinstance(value, list):
            for each in value:
                check(each)

    check(get(server, "/openapi/v3/api/v1").document())


# -- definitions

DEFINITIONS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "io.k8s.api.core.v1.PodSpec",
        "containers",
        {
            "type": "array",
            "items": {"$ref": "#/definitions/io.k8s.api.core.v1.Container"},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "x-kubernetes-patch-merge-key": "name",
            "x-kubernetes-patch-strategy": "merge",
        },
    ),
    (
        "io.k8s.api.core.v1.PodSpec",
        "volumes",
        {"x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name"},
    ),
    (
        "io.k8s.api.core.v1.Container",
        "ports",
        {
            "x-kubernetes-list-map-keys": ["containerPort", "protocol"],
            "x-kubernetes-patch-merge-key": "containerPort",
        },
    ),
    ("io.k8s.api.core.v1.PodSpec", "tolerations", {"type": "array", "x-kubernetes-list-type": "atomic"}),
    ("io.k8s.api.core.v1.PodSpec", "nodeSelector", {"type": "object", "x-kubernetes-map-type": "atomic"}),
    ("io.k8s.api.core.v1.PodSpec", "priority", {"type": "integer", "format": "int32"}),
    ("io.k8s.api.core.v1.PodSpec", "hostNetwork", {"type": "boolean"}),
    (
        "io.k8s.api.core.v1.ResourceRequirements",
        "limits",
        {"additionalProperties": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}},
    ),
    (
        "io.k8s.api.core.v1.ServicePort",
        "targetPort",
        {"$ref": "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"},
    ),
    ("io.k8s.api.core.v1.Secret", "data", {"additionalProperties": {"type": "string", "format": "byte"}}),
    (
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        "finalizers",
        {"x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge"},
    ),
    (
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        "creationTimestamp",
        {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
    ),
    ("io.k8s.api.apps.v1.DeploymentSpec", "strategy", {"x-kubernetes-patch-strategy": "retainKeys"}),
]


@pytest.mark.parametrize(("name", "field", "expected"), DEFINITIONS, ids=[f"{a} {b}" for a, b, _ in DEFINITIONS])
def test_fields(server: ApiServer, name: str, field: str, expected: dict[str, Any]) -> None:
    definition = get(server, "/openapi/v2").document()["definitions"][name]["properties"][field]
    assert {key: definition.get(key) for key in expected} == expected


def test_types(server: ApiServer) -> None:
    document = get(server, "/openapi/v2").document()
    definitions = document["definitions"]
    assert {each.removeprefix("#/definitions/") for each in references(document)} <= definitions.keys()
    pod = definitions["io.k8s.api.core.v1.Pod"]
    assert pod[WHICH] == [{"group": "", "kind": "Pod", "version": "v1"}]
    assert pod["properties"].keys() == {"apiVersion", "kind", "metadata", "spec", "status"}
    assert definitions["io.k8s.api.core.v1.PodSpec"]["required"] == ["containers"]
    assert definitions["io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"]["x-kubernetes-map-type"] == "atomic"
    assert definitions["io.k8s.api.core.v1.PodList"]["required"] == ["items"]
    kinds = {tuple(each.values()) for schema in definitions.values() for each in schema.get(WHICH, ())}
    assert {(each.group, each.kind, each.version) for each in RESOURCES} <= kinds


def test_every_kind_is_described(server: ApiServer) -> None:
    served = {each.kind for each in RESOURCES if each.group != "example.com"}
    assert [kind for kind in sorted(served) if not description_of(kind)] == []
    assert description_of("PodSpec", "nodeName")
    assert description_of("Deployment", "spec"), "what all have in common"


def test_descriptions_are_of_fields_that_exist() -> None:
    shapes: dict[str, set[str]] = {}
    for shape in library().shapes():
        shapes.setdefault(shape.name, set()).update(shape.fields)
    for text in (pods.TEXTS, objects.TEXTS):
        for line in text.strip().splitlines():
            if line and not line.startswith(" "):
                name, _, field = line.partition(": ")[0].partition(".")
                assert name in shapes, line
                assert not field or field in shapes[name], line


def test_kinds_without_a_shape_and_kinds_of_others() -> None:
    catalog = built_in()
    catalog.resources = (*catalog.resources, Resource("things.example.com", "v1", "unicorns", "Unicorn"))
    document = get(ApiServer(access=always_allow, catalog=catalog), "/openapi/v3/apis/things.example.com/v1").document()
    assert "com.example.things.v1.Unicorn" in document["components"]["schemas"]


# -- Protocol Buffers


def fields_of(data: bytes) -> list[tuple[int, bytes]]:
    """Return the fields of a message, all of which are bytes."""
    found, at = [], 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(data):
        tag, size = varint(), varint()
        assert tag & 7 == 2
        found.append((tag >> 3, data[at : at + size]))
        at += size
    assert at == len(data)
    return found


def test_the_same_in_protocol_buffers(server: ApiServer) -> None:
    found = get(server, "/openapi/v2", PROTOBUF)
    assert found.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    document = dict(fields_of(b"".join(found.chunks)))
    assert document[1] == b"2.0"
    named = [dict(fields_of(each)) for number, each in fields_of(document[9]) if number == 1]
    schemas = {each[1].decode(): each[2] for each in named}
    assert schemas.keys() == get(server, "/openapi/v2").document()["definitions"].keys()
    spec = fields_of(schemas["io.k8s.api.core.v1.PodSpec"])
    (properties,) = (value for number, value in spec if number == 25)
    assert dict(spec)[22] == b"\n\x06object"
    assert [value for number, value in spec if number == 19] == [b"containers"]
    containers = next(value for _, value in fields_of(properties) if dict(fields_of(value))[1] == b"containers")
    schema = fields_of(dict(fields_of(containers))[2])
    extensions = {dict(fields_of(value))[1]: value for number, value in schema if number == 31}
    assert b"x-kubernetes-patch-merge-key" in extensions
    assert b'"name"' in extensions[b"x-kubernetes-patch-merge-key"]


# -- what is refused

ODD = [
    ("a document that does not exist", "GET", "/openapi/v3/apis/unicorns/v1", "application/json", 404),
    ("a path that leads nowhere", "GET", "/openapi/v4", "application/json", 404),
    ("another form", "GET", "/openapi/v2", "text/html", 406),
    ("another method", "POST", "/openapi/v2", "application/json", 405),
]


@pytest.mark.parametrize(("what", "method", "path", "accept", "code"), ODD, ids=[each[0] for each in ODD])
def test_refusals(server: ApiServer, what: str, method: str, path: str, accept: str, code: int) -> None:
    del what
    found = server.handle(Request(method, path, {}, {"accept": accept}))
    assert isinstance(found, Response)
    assert found.code == code
