"""Patches in their three forms; what is refused is refused in the words of kube-apiserver v1.36."""

import json
from typing import Any

import pytest
from tests.support.api import Asking

from kubesched_controlplane.api.media_types import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from kubesched_controlplane.api.requests import Request
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.schema import IGNORE, STRICT, WARN, Schemas
from kubesched_controlplane.server.catalog import built_in
from kubesched_controlplane.server.verbs.patching import MOST_OPERATIONS, patched, patched_with_warnings

SCHEMAS = Schemas()
CATALOG = built_in()
REJECTED = "the server rejected our request due to an error in our request"

Document = dict[str, Any]


def a_document(kind: str = "Pod", api_version: str = "v1", **fields: Any) -> Document:
    resource = CATALOG.of_kind(api_version, kind)
    assert resource is not None
    return SCHEMAS.decode(resource, json.dumps(fields).encode(), STRICT)[0]


def a_pod() -> Document:
    return a_document(
        metadata={"name": "p", "labels": {"a": "b"}, "finalizers": ["x.y/one", "x.y/two"]},
        spec={"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}], "nodeSelector": {"k": "v"}},
    )


def apply(document: Document, patch: Any, form: str, validation: str = WARN) -> tuple[Document, list[str]]:
    resource = CATALOG.of_kind(document["apiVersion"], document["kind"])
    assert resource is not None
    body = patch if isinstance(patch, bytes) else json.dumps(patch).encode()
    request = Request("PATCH", "/", {}, {"content-type": f"{form}; charset=utf-8"}, body)
    return patched_with_warnings(SCHEMAS, resource, document, request, validation)


def refused(patch: Any, form: str, validation: str = WARN, document: Document | None = None) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        apply(document or a_pod(), patch, form, validation)
    assert caught.value.reason == {400: "BadRequest", 413: "RequestEntityTooLarge", 422: "Invalid"}[caught.value.code]
    return caught.value.code, caught.value.message


def at(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        document = document[int(step) if isinstance(document, list) else step]
    return document


# -- what cannot be read, or does not fit


def test_an_operation_that_does_not_fit() -> None:
    assert refused([{"op": "test", "path": "/metadata/name", "value": "q"}], JSON_PATCH) == (422, REJECTED)
    nothings: list[list[Any]] = [[None], [{}], [{"op": "foo"}]]
    for nothing in nothings:
        assert refused(nothing, JSON_PATCH) == (422, REJECTED)


def test_a_json_patch() -> None:
    operations = [{"op": "replace", "path": "/spec/containers/0/image", "value": "n"}]
    found, warnings = apply(a_pod(), operations, JSON_PATCH, STRICT)
    assert (found["spec"]["containers"][0]["image"], warnings) == ("n", [])
    assert apply(a_pod(), None, JSON_PATCH) == (a_pod(), [])


def test_too_many_operations() -> None:
    operations = [{"op": "test", "path": "/metadata/name", "value": "p"}] * (MOST_OPERATIONS + 1)
    words = "The allowed maximum operations in a JSON patch is 10000, got 10001"
    assert refused(operations, JSON_PATCH) == (413, f"Request entity too large: {words}")
    apply(a_pod(), operations[1:], JSON_PATCH)


@pytest.mark.parametrize(
    ("what", "body", "form", "validation", "message"),
    [
        ("nothing", b"", JSON_PATCH, WARN, "error decoding patch: unexpected end of JSON input"),
        ("nothing", b"", JSON_PATCH, IGNORE, "unexpected end of JSON input"),
        (
            "an object of operations",
            b"{}",
            JSON_PATCH,
            WARN,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            "an object of operations",
            b"{}",
            JSON_PATCH,
            IGNORE,
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (
            "a number among operations",
            b"[1]",
            JSON_PATCH,
            WARN,
            "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (
            "a path that is no text",
            b'[{"op":"add","path":1}]',
            JSON_PATCH,
            WARN,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
        ),
        (
            "a letter",
            b"x",
            MERGE_PATCH,
            WARN,
            "error decoding patch: invalid character 'x' looking for beginning of value",
        ),
        ("a letter", b"x", MERGE_PATCH, IGNORE, "Invalid JSON Patch"),
        (
            "a list to merge",
            b"[]",
            MERGE_PATCH,
            WARN,
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        ("null to merge", b"null", MERGE_PATCH, WARN, "Invalid JSON Patch"),
        ("a number to merge", b"1", MERGE_PATCH, IGNORE, "Invalid JSON Patch"),
        ("nothing", b"", STRATEGIC_MERGE_PATCH, WARN, "unexpected end of JSON input"),
        (
            "a number",
            b"1",
            STRATEGIC_MERGE_PATCH,
            WARN,
            "json: cannot unmarshal number into Go value of type map[string]interface {}",
        ),
    ],
)
def test_patches_that_cannot_be_read(what: str, body: bytes, form: str, validation: str, message: str) -> None:
    assert refused(body, form, validation) == (400, message), what


# -- merge patches


@pytest.mark.parametrize(
    ("what", "patch", "pointer", "expected"),
    [
        ("sets and removes", {"metadata": {"labels": {"a": None, "q": "r"}}}, "/metadata/labels", {"q": "r"}),
        (
            "ignores what is to be removed and is not there",
            {"metadata": {"labels": {"z": None}}},
            "/metadata/name",
            "p",
        ),
        (
            "replaces lists",
            {"spec": {"containers": [{"name": "z"}]}},
            "/spec/containers",
            [{"name": "z", "resources": {}}],
        ),
        (
            "drops nulls in what is new",
            {"spec": {"affinity": {"nodeAffinity": None, "podAffinity": {}}}},
            "/spec/affinity",
            {"podAffinity": {}},
        ),
        ("brings quantities into their form", {"spec": {"overhead": {"cpu": 0.5}}}, "/spec/overhead/cpu", "500m"),
        ("may leave out the kind", {"kind": None}, "/kind", "Pod"),
    ],
)
def test_a_merge_patch(what: str, patch: Any, pointer: str, expected: Any) -> None:
    assert at(apply(a_pod(), patch, MERGE_PATCH, STRICT)[0], pointer) == expected, what


# -- strategic merge patches


def test_a_strategic_merge_patch() -> None:
    patch = {
        "kind": "Service",
        "apiVersion": "v2",
        "spec": {"containers": [{"name": "d", "image": "n"}], "priority": 2.0},
    }
    found, warnings = apply(a_pod(), patch, STRATEGIC_MERGE_PATCH, STRICT)
    assert (found["kind"], found["apiVersion"], found["spec"]["priority"]) == ("Pod", "v1", 2), "it minds no kind"
    assert ([each["image"] for each in found["spec"]["containers"]], warnings) == (["i", "n"], [])
    assert apply(a_pod(), None, STRATEGIC_MERGE_PATCH) == (a_pod(), [])


def test_a_strategic_merge_patch_that_cannot_be_merged() -> None:
    message = "map: map[image:z] does not contain declared merge key: name"
    assert refused({"spec": {"containers": [{"image": "z"}]}}, STRATEGIC_MERGE_PATCH) == (400, message)
    pod = a_pod()
    pod["metadata"]["finalizers"] = []
    assert refused({"metadata": {"finalizers": [["x"]]}}, STRATEGIC_MERGE_PATCH, document=pod) == (422, REJECTED)


# -- what patches make


@pytest.mark.parametrize(
    ("what", "patch", "words"),
    [
        ("a text for a list", {"spec": {"containers": "x"}}, "cannot restore slice from string"),
        ("a text for an object", {"spec": "x"}, "cannot restore struct from: string"),
        ("a text for a map", {"spec": {"nodeSelector": "x"}}, "cannot restore map from string"),
        ("a number for a text", {"spec": {"nodeName": 1}}, "cannot convert int64 to string"),
        ("an object for a text", {"spec": {"nodeName": {}}}, "unrecognized type: string"),
        ("a text for a truth", {"spec": {"hostNetwork": "x"}}, "unrecognized type: bool"),
        ("a fraction for a number", {"spec": {"priority": 1.5}}, "cannot convert float64 to int32"),
        ("a number that is too large", {"spec": {"priority": 2**31}}, "cannot convert int64 to int32"),
        (
            "a number for a time",
            {"metadata": {"creationTimestamp": 1}},
            "json: cannot unmarshal number into Go value of type string",
        ),
    ],
)
def test_a_strategic_merge_patch_that_makes_something_of_the_wrong_shape(what: str, patch: Any, words: str) -> None:
    code, message = refused(patch, STRATEGIC_MERGE_PATCH)
    assert code == 422
    assert message.startswith(' "" is invalid: patch: Invalid value: "map[')
    assert message.endswith(f'": {words}'), what


def test_the_other_patches_show_what_they_made() -> None:
    words = "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string"
    for patch, form in (
        ({"spec": {"nodeName": 1}}, MERGE_PATCH),
        ([{"op": "add", "path": "/spec/nodeName", "value": 1}], JSON_PATCH),
    ):
        with pytest.raises(ApiError) as caught:
            apply(a_pod(), patch, form)
        shown, message = r'"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",', caught.value.message
        assert message.startswith(f' "" is invalid: patch: Invalid value: {shown}')
        assert message.endswith(f'": {words}')
        assert caught.value.details is not None
        assert [cause["field"] for cause in caught.value.details["causes"]] == ["patch"]


def test_what_was_made_is_of_another_kind() -> None:
    for patch, words in (
        ({"kind": "Service"}, "converting (v1.Service) to (core.Pod): unknown conversion"),
        (
            {"apiVersion": "v2"},
            'no kind "Pod" is registered for version "v2" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
    ):
        code, message = refused(patch, MERGE_PATCH)
        assert (code, message.endswith(words)) == (422, True)
    code, message = refused([{"op": "replace", "path": "", "value": []}], JSON_PATCH)
    assert (code, "json: cannot unmarshal array into Go value of type struct" in message) == (422, True)


@pytest.mark.parametrize(
    ("what", "body", "form", "doubts"),
    [
        ("an unknown field", b'{"spec":{"foo":1}}', MERGE_PATCH, ['unknown field "spec.foo"']),
        (
            "unknown fields, in order",
            b'{"spec":{"foo":1,"bar":{}}}',
            STRATEGIC_MERGE_PATCH,
            ['unknown field "spec.bar"', 'unknown field "spec.foo"'],
        ),
        (
            "a field twice",
            b'{"metadata":{"labels":{"x":"1","x":"2"}}}',
            MERGE_PATCH,
            ['duplicate field "metadata.labels.x"'],
        ),
        (
            "a field twice",
            b'{"metadata":{"labels":{"x":"1","x":"2"}}}',
            STRATEGIC_MERGE_PATCH,
            ['duplicate field "metadata.labels.x"'],
        ),
        (
            "an unknown field of an operation, and one that it makes",
            b'[{"op":"add","path":"/spec/foo","value":1,"zz":1}]',
            JSON_PATCH,
            ['json patch unknown field "[0].zz"', 'unknown field "spec.foo"'],
        ),
        (
            "a field of an operation twice",
            b'[{"op":"add","op":"test","path":"/metadata/name","value":"p"}]',
            JSON_PATCH,
            ['json patch duplicate field "[0].op"'],
        ),
    ],
)
def test_doubts_about_a_patch(what: str, body: bytes, form: str, doubts: list[str]) -> None:
    found, warnings = apply(a_pod(), body, form, WARN)
    assert warnings == doubts, what
    assert apply(a_pod(), body, form, IGNORE) == (found, [])
    code, message = refused(body, form, STRICT)
    assert code == 422
    assert message.endswith(f"strict decoding error: {', '.join(doubts)}")


def test_forms_that_are_not_offered() -> None:
    pods = CATALOG.of_kind("v1", "Pod")
    assert pods is not None
    for form in ("", "application/json", "application/apply-patch+yaml", "text/plain; x=application/json"):
        with pytest.raises(ApiError) as caught:
            patched(SCHEMAS, pods, a_pod(), Request("PATCH", "/", {}, {"content-type": form}, b"{}"))
        assert (caught.value.code, caught.value.message) == (415, "415: Unsupported Media Type")


def test_a_document_of_another_kind_than_its_resource_is_patched_by_its_own_shape() -> None:
    sets = CATALOG.of_kind("apps/v1", "ReplicaSet")
    assert sets is not None
    scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "s"}, "spec": {"replicas": 1}}
    for patch, form in (
        (b'{"spec":{"replicas":2}}', MERGE_PATCH),
        (b'{"spec":{"replicas":2}}', STRATEGIC_MERGE_PATCH),
        (b'[{"op":"replace","path":"/spec/replicas","value":2}]', JSON_PATCH),
    ):
        found = patched(SCHEMAS, sets, scale, Request("PATCH", "/", {}, {"content-type": form}, patch))
        assert (found["kind"], found["spec"]) == ("Scale", {"replicas": 2})


# -- through the server


@pytest.fixture
def api() -> Asking:
    asking = Asking()
    if asking.ask("GET", "/api/v1/namespaces/default")[0] == 404:
        asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    asking.ok("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "m"}, "data": {"a": "1"}})
    return asking


def test_names_and_namespaces_stay(api: Asking) -> None:
    path = "/api/v1/namespaces/default/configmaps/m"
    for patch, message in (
        ({"metadata": {"name": "q"}}, "the name of the object (q) does not match the name on the URL (m)"),
        ({"metadata": None}, "the name of the object (m based on URL) was undeterminable: name must be provided"),
        (
            {"metadata": {"namespace": "q"}},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ):
        assert api.refused("PATCH", path, patch, MERGE_PATCH) == (400, "BadRequest", message)


def test_warnings_go_into_the_header(api: Asking) -> None:
    response = api.raw("PATCH", "/api/v1/namespaces/default/configmaps/m", b'{"foo":1}', MERGE_PATCH)
    assert (response.code, response.headers["Warning"]) == (200, r'299 - "unknown field \"foo\""')
