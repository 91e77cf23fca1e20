"""Bodies in Protocol Buffers, as kubectl and other Go clients send them, and bodies in YAML."""

from base64 import b64decode
from contextlib import suppress
from struct import pack

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict
from tests.support.api import Asking, Document

from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.representation.protobuf import ProtobufError, from_protobuf, members_of
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.notation import Library, NotationError
from kubesched_controlplane.schema.shapes import Shape

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
SPACE = "/api/v1/namespaces/default"


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


def field(number: int, *content: bytes | str | int | bool) -> bytes:
    """Return a field: a number, or bytes, or a message of the parts that are given."""
    if len(content) == 1 and isinstance(content[0], int):
        return varint(number << 3) + varint(content[0])
    data = b"".join(part.encode() if isinstance(part, str) else part for part in content if not isinstance(part, int))
    return varint(number << 3 | 2) + varint(len(data)) + data


def an_object(version: str, kind: str, *parts: bytes) -> bytes:
    """Return an object in its envelope."""
    return MAGIC + field(1, field(1, version), field(2, kind)) + field(2, *parts) + field(3) + field(4)


def read(body: bytes) -> Document:
    document: Document = msgspec.json.decode(from_protobuf(body, Resource("", "v1", "pods", "Pod")))
    return document


@pytest.fixture
def api() -> Asking:
    asking = Asking()
    asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def sent(api: Asking, path: str, body: bytes, method: str = "POST") -> Document:
    found = api.raw(method, path, body, PROTOBUF)
    document: Document = found.document()
    assert found.code < 300, document
    return document


def test_what_kubectl_sends_is_understood(api: Asking) -> None:
    meta = field(1, field(1, "m"), field(11, field(1, "app"), field(2, "web")))
    found = sent(api, f"{SPACE}/configmaps", an_object("v1", "ConfigMap", meta, field(2, field(1, "k"), field(2, "v"))))
    assert (found["data"], found["metadata"]["labels"]) == ({"k": "v"}, {"app": "web"})
    meta = field(1, field(1, "space"))
    assert sent(api, "/api/v1/namespaces", an_object("v1", "Namespace", meta))["metadata"]["name"] == "space"


def test_all_that_a_pod_can_hold(api: Asking) -> None:
    container = field(
        2,
        field(1, "c"),
        field(2, "image"),
        field(3, "sh"),
        field(3, "-c"),
        field(6, field(3, 80), field(4, "TCP")),
        field(8, field(2, field(1, "cpu"), field(2, field(1, "1500m")))),
        field(11, field(1, field(2, field(1, "/"), field(2, field(1, 1), field(2, 0), field(3, "web"))))),
        field(15, field(2, False), field(4, 0)),
    )
    volume = field(1, field(1, "v"), field(2, field(19, field(1, field(1, "settings")), field(4, True))))
    toleration = field(22, field(1, "k"), field(2, "Exists"), field(4, "NoExecute"), field(5, -1))
    spec = field(
        2, volume, container, field(3, "Never"), field(4, 5), field(7, field(1, "a"), field(2, "b")), toleration
    )
    found = sent(api, f"{SPACE}/pods", an_object("v1", "Pod", field(1, field(1, "p")), spec))["spec"]
    (made,) = found["containers"]
    assert made["command"] == ["sh", "-c"]
    assert made["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert made["resources"]["requests"] == {"cpu": "1500m"}
    assert made["readinessProbe"]["httpGet"]["port"] == "web"
    assert made["securityContext"] == {"privileged": False, "runAsUser": 0}
    assert found["volumes"][0]["configMap"] == {"name": "settings", "optional": True, "defaultMode": 420}
    assert found["nodeSelector"] == {"a": "b"}
    assert found["terminationGracePeriodSeconds"] == 5
    assert found["tolerations"][0]["tolerationSeconds"] == -1


def test_other_headers_are_read_as_before(api: Asking) -> None:
    body = an_object("v1", "ConfigMap", field(1, field(1, "m")), field(2, field(1, "k"), field(2, "v")))
    # as a server on a socket has them
    headers = CIMultiDict({"User-Agent": "robot/1.0", "Content-Type": PROTOBUF})
    found = api.server.handle(Request("POST", f"{SPACE}/configmaps", {}, headers, body))
    assert isinstance(found, Response)
    assert found.document()["metadata"]["managedFields"][0]["manager"] == "robot"


def test_a_deletion_with_options(api: Asking) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
    api.ok("POST", f"{SPACE}/pods", pod)
    found = sent(api, f"{SPACE}/pods/p", an_object("v1", "DeleteOptions", field(1, 7)), "DELETE")
    assert found["metadata"]["deletionGracePeriodSeconds"] == 7


def test_an_eviction_and_a_binding(api: Asking) -> None:
    for name in ("a", "b"):
        api.ok(
            "POST", f"{SPACE}/pods", {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        )
    binding = an_object("v1", "Binding", field(1, field(1, "a")), field(2, field(1, "Node"), field(3, "n")))
    assert sent(api, f"{SPACE}/pods/a/binding", binding)["status"] == "Success"
    eviction = an_object("policy/v1", "Eviction", field(1, field(1, "b"), field(3, "default")))
    assert sent(api, f"{SPACE}/pods/b/eviction", eviction)["status"] == "Success"


# what kube-apiserver v1.36.4 sends
SECRET = """
azhzAAoMCgJ2MRIGU2VjcmV0EsEBCqkBCgFzEgAaB2RlZmF1bHQiACokYTViNDUxMWItMDczMC00NzVlLTk4MDktYzcwMDNmMzdlNTAzMgA4AEIICKuf
5tcGEACKAWIKAW0SBlVwZGF0ZRoCdjEiCAirn+bXBhAAMghGaWVsZHNWMTo7Cjl7ImY6ZGF0YSI6eyIuIjp7fSwiZjprIjp7fX0sImY6aW1tdXRhYmxl
Ijp7fSwiZjp0eXBlIjp7fX1CABIJCgFrEgQAAQL/GgZPcGFxdWUoARoAIgA=
"""
BUDGET = """
azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSzQEKpwEKAWISABoHZGVmYXVsdCIAKiRkMTEyNWRiMS0yZjYyLTQ0ZmUtYjZiZS0w
YzY3NmIyZTY4YTAyADgBQggIq5/m1wYQAIoBYAoBbRIGVXBkYXRlGglwb2xpY3kvdjEiCAirn+bXBhAAMghGaWVsZHNWMToyCjB7ImY6c3BlYyI6eyJm
Om1pbkF2YWlsYWJsZSI6e30sImY6c2VsZWN0b3IiOnt9fX1CABIVCgkIARAAGgM1MCUSCAoGCgFhEgFiGgoIABgAIAAoADAAGgAiAA==
"""
LEASE = """
azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRLtAQrUAQoBbBIAGgdkZWZhdWx0IgAqJDkxMjcwZDRiLWYzMzEtNDgzZC05MDM4LTJl
N2EwMzA4YTZmNTIAOABCCAirn+bXBhAAigGMAQoBbRIGVXBkYXRlGhZjb29yZGluYXRpb24uazhzLmlvL3YxIggIq5/m1wYQADIIRmllbGRzVjE6UQpP
eyJmOnNwZWMiOnsiZjpob2xkZXJJZGVudGl0eSI6e30sImY6bGVhc2VEdXJhdGlvblNlY29uZHMiOnt9LCJmOnJlbmV3VGltZSI6e319fUIAEhQKAm1l
EA8iDAil69zKBhCI6tzDAhoAIgA=
"""


def test_what_the_reference_sends_is_understood() -> None:
    secret, budget, lease = (read(b64decode(text)) for text in (SECRET, BUDGET, LEASE))
    assert (secret["data"], secret["immutable"], secret["type"]) == ({"k": "AAEC/w=="}, True, "Opaque")
    assert secret["metadata"]["managedFields"][0]["fieldsV1"]["f:data"] == {".": {}, "f:k": {}}
    assert secret["metadata"]["creationTimestamp"].endswith("Z")
    assert budget["spec"] == {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}}
    assert lease["spec"]["renewTime"] == "2026-01-02T03:04:05.678901Z"
    assert lease["spec"]["leaseDurationSeconds"] == 15


def test_maps_of_lists() -> None:
    extra = field(5, field(1, "scopes"), field(2, field(1, "a"), field(1, "b")))
    body = an_object("authorization.k8s.io/v1", "SubjectAccessReview", field(2, field(3, "bob"), extra))
    assert read(body)["spec"] == {"user": "bob", "extra": {"scopes": ["a", "b"]}}


def test_what_is_not_known_is_passed_over_and_what_is_not_there_is_empty() -> None:
    body = an_object("v1", "ConfigMap", field(1, field(1, "m")), field(99, "x"), field(98, 7))
    assert read(body)["metadata"] == {"name": "m"}
    assert read(MAGIC + field(2, field(1, field(1, "p"))))["kind"] == "Pod", "the kind of the resource, if none is said"
    entry = an_object("v1", "ConfigMap", field(2, field(1, "k")))
    assert read(entry)["data"] == {"k": ""}


DAMAGED = [
    ("no envelope", b"x"),
    ("nothing in it", MAGIC),
    ("a kind that does not exist", an_object("v1", "Unicorn")),
    ("cut short", an_object("v1", "ConfigMap", field(1, field(1, "m")))[:-8]),
    ("a wrong type of field", MAGIC + b"\x0b\x01"),
    ("a number without end", MAGIC + b"\xff" * 30),
    ("a number for a message", an_object("v1", "ConfigMap", field(1, 5))),
    ("a text for a number", an_object("v1", "Pod", field(2, field(4, "x")))),
    ("raw objects that are no JSON", an_object("v1", "Pod", field(1, field(17, field(7, field(1, "{")))))),
]


@pytest.mark.parametrize(("what", "body"), DAMAGED, ids=[each[0] for each in DAMAGED])
def test_damaged_bodies_are_refused(api: Asking, what: str, body: bytes) -> None:
    del what
    with pytest.raises(ProtobufError):
        read(body)
    found = api.raw("POST", f"{SPACE}/configmaps", body, PROTOBUF)
    assert (found.code, found.document()["reason"]) == (400, "BadRequest")


def test_every_field_of_every_type_has_a_number() -> None:
    for shape in library().shapes():
        found = members_of(shape)
        names = {name for name, _ in found.values()} - {""}
        assert names == {field.name for field in shape.fields.values() if not field.embedded}


def numbered(notation: str) -> dict[str, int]:
    """Return the numbers of the fields of the type `Thing`, by name; an embedded type has no name."""
    shape = Library((("v1", notation),)).named("v1", "Thing")
    assert isinstance(shape, Shape)
    return {name: number for number, (name, _) in members_of(shape).items()}


def test_inserting_a_field_shifts_no_number() -> None:
    before = numbered("Thing: first=1, second=4! []string, third=2 *int32")
    after = numbered("Thing: first=1, inserted=7 bool, second=4! []string, third=2 *int32")
    assert before == {"first": 1, "second": 4, "third": 2}
    assert after == before | {"inserted": 7}


@pytest.mark.parametrize(
    "notation", ["Thing: first=1, second=1", "Thing: first=1, second", "Part: first=1\nThing: second=2, +Part=2"]
)
def test_a_number_is_written_for_each_field_and_used_once(notation: str) -> None:
    with pytest.raises(NotationError):
        numbered(notation)


def a_definition(schema: bytes) -> bytes:
    """Return the definition of a kind with one property of a schema, as Go's typed clients send it."""
    names = field(3, field(1, "foos"), field(2, "foo"), field(4, "Foo"), field(5, "FooList"))
    root = field(1, field(5, "object"), field(29, field(1, "a"), field(2, schema)))
    version = field(7, field(1, "v1"), field(2, True), field(3, True), field(4, root))
    spec = field(2, field(1, "example.com"), names, field(4, "Namespaced"), version)
    meta = field(1, field(1, "foos.example.com"))
    return an_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", meta, spec)


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + pack("<d", value)


STRING, OBJECT, ARRAY = field(5, "string"), field(5, "object"), field(5, "array")
# what kube-apiserver v1.36.4 makes of them
SCHEMAS = {
    "items of one schema": (ARRAY + field(24, field(1, STRING)), {"type": "array", "items": {"type": "string"}}),
    "a map of one schema": (
        OBJECT + field(30, field(1, True), field(2, STRING)),
        {"type": "object", "additionalProperties": {"type": "string"}},
    ),
    "a map of whatever": (OBJECT + field(30, field(1, True)), {"type": "object", "additionalProperties": True}),
    "floats": (
        field(5, "number") + double(9, 10.5) + double(11, -2.0) + double(19, 0.5),
        {"type": "number", "maximum": 10.5, "minimum": -2, "multipleOf": 0.5},
    ),
    "a default": (field(5, "integer") + field(8, field(1, "7")), {"type": "integer", "default": 7}),
    "an enumeration": (
        STRING + field(20, field(1, '"x"')) + field(20, field(1, '"y"')),
        {"type": "string", "enum": ["x", "y"]},
    ),
    "a list with keys": (
        ARRAY
        + field(24, field(1, OBJECT, field(29, field(1, "k"), field(2, STRING)), field(23, "k")))
        + field(41, "k")
        + field(42, "map"),
        {
            "type": "array",
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
            "x-kubernetes-list-map-keys": ["k"],
            "x-kubernetes-list-type": "map",
        },
    ),
}


@pytest.mark.parametrize("case", SCHEMAS)
def test_definitions_of_kinds_as_typed_clients_send_them(api: Asking, case: str) -> None:
    schema, expected = SCHEMAS[case]
    made = sent(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", a_definition(schema))
    assert made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"] == expected


# what is refused in a definition, and has its form all the same
OTHER_SCHEMAS = {
    "items of several schemas": (field(24, field(2, STRING), field(2, OBJECT)), "items"),
    "no items beyond": (field(33, field(1, False)), "additionalItems"),
    "dependencies as texts": (field(32, field(1, "x"), field(2, field(2, "y"), field(2, "z"))), "dependencies"),
    "dependencies as schemas": (field(32, field(1, "x"), field(2, field(1, STRING))), "dependencies"),
}
READ = {
    "items of several schemas": [{"type": "string"}, {"type": "object"}],
    "no items beyond": False,
    "dependencies as texts": {"x": ["y", "z"]},
    "dependencies as schemas": {"x": {"type": "string"}},
}


@pytest.mark.parametrize("case", OTHER_SCHEMAS)
def test_forms_of_schemas(case: str) -> None:
    schema, name = OTHER_SCHEMAS[case]
    found = read(a_definition(schema))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"]
    assert found[name] == READ[case]


@pytest.mark.parametrize(
    ("seconds", "nanos", "expected"),
    [
        (-62135596798, 0, "0001-01-01T00:00:02.000000Z"),
        (-30641760000, 0, "0999-01-01T00:00:00.000000Z"),
        (-30610224000, 0, "1000-01-01T00:00:00.000000Z"),
        (1700000000, 123456789, "2023-11-14T22:13:20.123456Z"),
    ],
)
def test_early_times(api: Asking, seconds: int, nanos: int, expected: str) -> None:
    spec = field(2, field(1, "me"), field(2, 30), field(3, field(1, seconds), field(2, nanos)))
    lease = an_object("coordination.k8s.io/v1", "Lease", field(1, field(1, "l")), spec)
    made = sent(api, "/apis/coordination.k8s.io/v1/namespaces/default/leases", lease)
    assert made["spec"]["acquireTime"] == expected


@given(st.sampled_from(["Pod", "Node", "Secret"]), st.binary(max_size=60), st.lists(st.integers(1, 40), max_size=4))
def test_whatever_comes_is_read_or_refused(kind: str, data: bytes, numbers: list[int]) -> None:
    for number in numbers:
        data = field(number, data)
    with suppress(ProtobufError):
        assert read(an_object("v1", kind, data))["kind"] == kind


def test_yaml_is_understood(api: Asking) -> None:
    found = api.raw("POST", f"{SPACE}/configmaps", b"metadata:\n  name: m\ndata: {k: 'yes'}\n", "application/yaml")
    assert (found.code, found.document()["data"]) == (201, {"k": "yes"})
    assert api.raw("POST", f"{SPACE}/configmaps", b"a: [", "application/yaml").code == 400
