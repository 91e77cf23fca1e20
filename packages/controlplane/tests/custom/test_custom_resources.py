"""Kinds that are defined while the server runs: how they are served, stored, shown, and forgotten."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens, always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response, User
from kubesched_controlplane.data_folder import opened
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.simulation import Simulation
from kubesched_controlplane.transport.local_client import LocalClient

Document = dict[str, Any]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOOS = "/apis/example.com/v1/namespaces/default/foos"
MERGE, JSON_PATCH, STRATEGIC, APPLY = (
    f"application/{form}"
    for form in ("merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml")
)
SCHEMA: Document = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer", "default": 1, "maximum": 9},
                "size": {"type": "string"},
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                    },
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {
            "type": "object",
            "properties": {"ready": {"type": "integer"}, "selector": {"type": "string"}, "at": {"type": "string"}},
        },
    },
}
SUBRESOURCES = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.ready",
        "labelSelectorPath": ".status.selector",
    },
}


def a_version(name: str = "v1", schema: Document | None = None, **more: Any) -> Document:
    found = {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema or SCHEMA}}
    return {**found, "subresources": SUBRESOURCES, **more}


def a_definition(plural: str = "foos", kind: str = "Foo", *versions: Document, **spec: Any) -> Document:
    names = {"plural": plural, "kind": kind, **spec.pop("names", {})}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "names": names,
            "scope": "Namespaced",
            "versions": list(versions) or [a_version()],
            **spec,
        },
    }


def a_foo(name: str = "a", version: str = "v1", **spec: Any) -> Document:
    return {"apiVersion": f"example.com/{version}", "kind": "Foo", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def api() -> Asking:
    """Return a server on which Foo is defined."""
    asking = an_api()
    asking.ok("POST", DEFINITIONS, a_definition())
    return asking


def conditions(api: Asking, name: str = "foos") -> dict[str, tuple[str, str]]:
    found = api.ok("GET", f"{DEFINITIONS}/{name}.example.com")["status"]["conditions"]
    return {each["type"]: (each["status"], each["reason"]) for each in found}


# -- definitions


@pytest.mark.parametrize("version", ["v1", "v9"])
@pytest.mark.parametrize(
    ("group", "plural", "kind"),
    [
        ("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"),
        ("apiextensions.k8s.io", "customresourcedefinitions", "Other"),
        ("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"),
        ("storage.k8s.io", "storageclasses", "StorageClass"),
        ("storage.k8s.io", "others", "StorageClass"),
    ],
)
def test_a_definition_that_takes_the_name_of_a_built_in_kind_changes_nothing_there(
    group: str, plural: str, kind: str, version: str
) -> None:
    api = an_api()
    built_in = api.ok("GET", f"/apis/{group}/v1")
    hostile = a_definition(plural, kind, a_version(version), group=group)
    hostile["metadata"] = {
        "name": f"{plural}.{group}",
        "annotations": {"api-approved.kubernetes.io": "https://example.com/1"},
    }
    # as the reference does: established, and not served
    api.ok("POST", DEFINITIONS, hostile)
    found = api.ok("GET", f"{DEFINITIONS}/{plural}.{group}")["status"]["conditions"]
    assert {each["type"]: each["status"] for each in found}["Established"] == "True"
    for step in ("while it is there", "after it was deleted"):
        assert api.ok("GET", f"/apis/{group}/v1") == built_in, step
        name = f"foos{step[0]}"
        api.ok(
            "POST", DEFINITIONS, {**a_definition(name, f"Foo{step[0]}"), "metadata": {"name": f"{name}.example.com"}}
        )
        assert conditions(api, name)["Established"] == ("True", "InitialNamesAccepted"), step
        foo = {"apiVersion": "example.com/v1", "kind": f"Foo{step[0]}", "metadata": {"name": "x"}}
        api.ok("POST", f"/apis/example.com/v1/namespaces/default/{name}", foo)
        assert len(api.ok("GET", DEFINITIONS)["items"]) >= 1
        if step == "while it is there":
            api.ok("DELETE", f"{DEFINITIONS}/{plural}.{group}")
    assert api.ok("GET", f"{DEFINITIONS}/foosw.example.com")["metadata"]["name"] == "foosw.example.com"


def test_a_definition_is_established_at_once() -> None:
    api = an_api()
    made = api.ok("POST", DEFINITIONS, a_definition(names={"shortNames": ["fo"]}))
    assert made["status"] == {"acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]}
    assert made["spec"]["conversion"] == {"strategy": "None"}
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList", "shortNames": ["fo"]}
    assert made["spec"]["names"] == names
    assert api.ok("GET", f"{DEFINITIONS}/foos.example.com")["status"]["acceptedNames"] == names
    assert conditions(api) == {
        "NamesAccepted": ("True", "NoConflicts"),
        "Established": ("True", "InitialNamesAccepted"),
    }
    assert api.ok("GET", FOOS)["kind"] == "FooList"


def test_names_that_are_taken_are_granted_when_they_are_free_again(api: Asking) -> None:
    api.ok("POST", DEFINITIONS, a_definition("bars", "Foo", names={"singular": "bar", "listKind": "BarList"}))
    assert conditions(api, "bars") == {
        "NamesAccepted": ("False", "KindConflict"),
        "Established": ("False", "NotAccepted"),
    }
    found = api.ok("GET", f"{DEFINITIONS}/bars.example.com")["status"]
    assert found["conditions"][0]["message"] == '"Foo" is already in use'
    assert api.ask("GET", "/apis/example.com/v1/bars")[0] == 404
    api.ok("DELETE", f"{DEFINITIONS}/foos.example.com")
    assert conditions(api, "bars")["Established"] == ("True", "InitialNamesAccepted")
    assert api.ok("GET", "/apis/example.com/v1/bars")["kind"] == "BarList"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scope": "Cluster"}, 'spec.scope: Invalid value: "Cluster": field is immutable'),
        ({"names": {"kind": "Bar"}}, 'spec.names.kind: Invalid value: "Bar": field is immutable'),
        ({"names": {"plural": "bars"}}, 'spec.names.plural: Invalid value: "bars": field is immutable'),
        ({"group": "other.com"}, 'spec.group: Invalid value: "other.com": field is immutable'),
    ],
    ids=["scope", "kind", "plural", "group"],
)
def test_what_cannot_be_changed(api: Asking, change: Document, words: str) -> None:
    code, _, message = api.refused("PATCH", f"{DEFINITIONS}/foos.example.com", {"spec": change}, MERGE)
    assert code == 422
    assert words in message


def test_a_version_in_which_objects_are_stored_cannot_go(api: Asking) -> None:
    versions = [a_version("v2")]
    found = api.ok("GET", f"{DEFINITIONS}/foos.example.com")
    message = api.refused(
        "PUT", f"{DEFINITIONS}/foos.example.com", {**found, "spec": {**found["spec"], "versions": versions}}
    )[2]
    assert 'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously' in message


def test_the_end_of_a_definition_takes_its_objects_along(api: Asking) -> None:
    api.ok("POST", FOOS, a_foo())
    gone = api.ok("DELETE", f"{DEFINITIONS}/foos.example.com")
    assert gone["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert gone["status"]["conditions"][-1]["reason"] == "InstanceDeletionPending"
    assert api.ask("GET", f"{DEFINITIONS}/foos.example.com")[0] == 404
    assert api.refused("GET", FOOS) == (404, "NotFound", "the server could not find the requested resource")
    api.ok("POST", DEFINITIONS, a_definition())
    assert api.ok("GET", FOOS)["items"] == []


def test_a_definition_waits_for_objects_that_are_held(api: Asking) -> None:
    held = a_foo()
    held["metadata"]["finalizers"] = ["example.com/held"]
    api.ok("POST", FOOS, held)
    api.ok("DELETE", f"{DEFINITIONS}/foos.example.com")
    assert conditions(api)["Terminating"] == ("True", "InstanceDeletionInProgress")
    assert api.refused("POST", FOOS, a_foo("b")) == (
        403,
        "Forbidden",
        'foos.example.com "b" is forbidden: create not allowed while custom resource definition is terminating',
    )
    assert api.ok("GET", f"{FOOS}/a")["metadata"]["deletionTimestamp"]
    api.ok("PATCH", f"{FOOS}/a", {"metadata": {"finalizers": None}}, MERGE)
    assert api.ask("GET", f"{DEFINITIONS}/foos.example.com")[0] == 404


def test_a_definition_that_was_never_established_goes_at_once(api: Asking) -> None:
    api.ok("POST", DEFINITIONS, a_definition("bars", "Foo"))
    api.ok("DELETE", f"{DEFINITIONS}/bars.example.com")
    assert api.ask("GET", f"{DEFINITIONS}/bars.example.com")[0] == 404
    assert conditions(api)["Established"][0] == "True"


def test_a_dry_run_defines_nothing() -> None:
    api = an_api()
    api.ok("POST", DEFINITIONS, a_definition(), dryRun="All")
    assert api.ask("GET", FOOS)[0] == 404


# -- objects


def test_the_verbs(api: Asking) -> None:
    made = api.ok("POST", FOOS, {**a_foo(size="S"), "status": {"ready": 5}})
    assert (made["spec"], made["metadata"]["generation"]) == ({"size": "S", "replicas": 1}, 1)
    assert "status" not in made, "the status has a path of its own"
    assert api.ok("GET", f"{FOOS}/a") == made
    assert [each["metadata"]["name"] for each in api.ok("GET", "/apis/example.com/v1/foos")["items"]] == ["a"]
    changed = api.ok("PUT", f"{FOOS}/a", {**made, "spec": {"replicas": 2}})
    assert (changed["spec"], changed["metadata"]["generation"]) == ({"replicas": 2}, 2)
    assert api.refused("PUT", f"{FOOS}/a", made)[:2] == (409, "Conflict")
    assert api.ok("PATCH", f"{FOOS}/a", {"spec": {"size": "L"}}, MERGE)["spec"] == {"replicas": 2, "size": "L"}
    steps = [{"op": "remove", "path": "/spec/size"}]
    assert api.ok("PATCH", f"{FOOS}/a", steps, JSON_PATCH)["spec"] == {"replicas": 2}
    labelled = api.ok("PATCH", f"{FOOS}/a", {"metadata": {"labels": {"x": "y"}}}, MERGE)
    assert labelled["metadata"]["generation"] == 4, "metadata counts for no generation"
    assert len(api.ok("GET", FOOS, labelSelector="x=y")["items"]) == 1
    assert api.ok("DELETE", f"{FOOS}/a")["status"] == "Success"
    api.ok("POST", FOOS, a_foo("b"))
    api.ok("DELETE", FOOS)
    assert api.ok("GET", FOOS)["items"] == []


def test_a_strategic_merge_patch_is_not_understood(api: Asking) -> None:
    words = "the body of the request was in an unknown format - accepted media types include: "
    forms = ", ".join((JSON_PATCH, MERGE, APPLY))
    for path in (f"{FOOS}/a", f"{FOOS}/a/scale"):
        assert api.refused("PATCH", path, {}, STRATEGIC) == (415, "UnsupportedMediaType", words + forms)


def test_a_put_must_say_which_state_it_changes(api: Asking) -> None:
    api.ok("POST", FOOS, a_foo())
    assert (
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        in (api.refused("PUT", f"{FOOS}/a", a_foo())[2])
    )


@pytest.mark.parametrize(
    ("spec", "kept", "unknown"),
    [
        ({"size": "S", "x": 1}, {"size": "S"}, ["spec.x"]),
        ({"free": {"a": {"b": [{"c": 1}]}}}, {"free": {"a": {"b": [{"c": 1}]}}}, []),
        ({"ports": [{"name": "a", "x": 1}]}, {"ports": [{"name": "a"}]}, ["spec.ports[0].x"]),
        ({"size": None}, {}, []),
        ({"replicas": None}, {"replicas": 1}, []),
    ],
    ids=["unknown", "preserved", "in a list", "a null that may not be", "a null with a default"],
)
def test_unknown_fields(api: Asking, spec: Document, kept: Document, unknown: list[str]) -> None:
    words = [f'unknown field "{path}"' for path in unknown]
    response = api.raw("POST", FOOS, msgspec.json.encode(a_foo(**spec)), fieldValidation="Warn")
    assert response.document()["spec"] == {"replicas": 1, **kept}
    assert response.headers.get("Warning", "").count("unknown field") == len(words)
    code, found = api.ask("POST", FOOS, a_foo("b", **spec), fieldValidation="Strict")
    if not words:
        assert code == 201
    else:
        start = 'Foo in version "v1" cannot be handled as a Foo: strict decoding error: '
        assert (code, found["message"]) == (400, start + ", ".join(words))
    api.ok("POST", FOOS, a_foo("c", **spec), fieldValidation="Ignore")


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (b"{", 400, "couldn't get version/kind; json parse error"),
        (b"[]", 400, "cannot unmarshal array into Go value of type struct"),
        (b"null", 400, "Object 'Kind' is missing in 'null'"),
        (b'{"kind": 5}', 400, "cannot unmarshal number into Go struct field .kind of type string"),
        (b'{"kind": "Foo"}', 400, "the API version in the data () does not match the expected API version"),
        (
            b'{"kind": "Bar", "apiVersion": "example.com/v1", "metadata": {"name": "b"}}',
            422,
            'Bar.example.com "b" is invalid: kind: Invalid value: "Bar": must be Foo',
        ),
        (
            b'{"kind": "Foo", "apiVersion": "example.com/v1", "metadata": {"labels": {"a": 1}}}',
            400,
            "cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ),
        (b'{"kind": "Foo", "apiVersion": "example.com/v1", "metadata": 1}', 400, "of type v1.ObjectMeta"),
        (b'{"kind": "Foo", "apiVersion": "example.com/v1"}', 422, "metadata.name: Required value"),
    ],
    ids=["no JSON", "a list", "null", "no kind", "no version", "other kind", "labels", "metadata", "no name"],
)
def test_bodies_that_are_no_objects(api: Asking, body: bytes, code: int, words: str) -> None:
    found = api.raw("POST", FOOS, body)
    assert found.code == code
    assert words in found.document()["message"]


def test_fields_given_twice(api: Asking) -> None:
    body = msgspec.json.encode(a_foo(size="S")).replace(b'"size":"S"', b'"size":"S","size":"L"')
    assert api.raw("POST", FOOS, body).headers["Warning"] == '299 - "duplicate field \\"spec.size\\""'
    assert api.raw("POST", FOOS, body, fieldValidation="Strict").code == 400


def test_finalizers_without_a_domain_are_warned_of(api: Asking) -> None:
    foo = a_foo()
    foo["metadata"]["finalizers"] = ["mine"]
    warning = api.raw("POST", FOOS, msgspec.json.encode(foo)).headers["Warning"]
    assert "prefer a domain-qualified finalizer name to avoid accidental conflicts" in warning


# -- paths of their own


def test_the_status_and_the_rest_are_written_apart(api: Asking) -> None:
    api.ok("POST", FOOS, a_foo())
    found = api.ok(
        "PATCH",
        f"{FOOS}/a/status",
        {"status": {"ready": 3}, "spec": {"replicas": 7}, "metadata": {"labels": {"x": "y"}}},
        MERGE,
    )
    assert (found["status"], found["spec"]) == ({"ready": 3}, {"replicas": 1})
    assert "labels" not in found["metadata"]
    assert found["metadata"]["generation"] == 1
    changed = api.ok("PATCH", f"{FOOS}/a", {"status": {"ready": 9}, "spec": {"size": "S"}}, MERGE)
    assert changed["status"] == {"ready": 3}
    message = api.refused("PATCH", f"{FOOS}/a/status", {"status": {"ready": "x"}}, MERGE)[2]
    assert 'status.ready: Invalid value: "string": ready in body must be of type integer: "string"' in message


def test_without_such_a_path_the_status_is_a_field_like_any_other() -> None:
    api = an_api()
    api.ok("POST", DEFINITIONS, a_definition("foos", "Foo", a_version(subresources=None)))
    assert api.ok("POST", FOOS, {**a_foo(), "status": {"ready": 1}})["status"] == {"ready": 1}
    assert api.ok("PATCH", f"{FOOS}/a", {"status": {"ready": 2}}, MERGE)["metadata"]["generation"] == 2
    assert api.ask("GET", f"{FOOS}/a/status")[0] == 404


def test_scale(api: Asking) -> None:
    api.ok("POST", FOOS, a_foo(replicas=2))
    api.ok("PATCH", f"{FOOS}/a/status", {"status": {"ready": 1, "selector": "a=b"}}, MERGE)
    scale = api.ok("GET", f"{FOOS}/a/scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 2},
        {"replicas": 1, "selector": "a=b"},
    )
    assert api.ok("PUT", f"{FOOS}/a/scale", {**scale, "spec": {"replicas": 4}})["spec"] == {"replicas": 4}
    assert api.refused("PUT", f"{FOOS}/a/scale", {**scale, "spec": {"replicas": 5}})[:2] == (409, "Conflict")
    assert api.ok("PATCH", f"{FOOS}/a/scale", {"spec": {"replicas": 3}}, MERGE)["spec"] == {"replicas": 3}
    assert api.ok("GET", f"{FOOS}/a")["spec"]["replicas"] == 3
    assert (
        "should be a non-negative integer"
        in (api.refused("PATCH", f"{FOOS}/a/scale", {"spec": {"replicas": -1}}, MERGE)[2])
    )
    assert (
        "should be less than or equal to 9"
        in (api.refused("PATCH", f"{FOOS}/a/scale", {"spec": {"replicas": 10}}, MERGE)[2])
    )
    applied = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": 5}}
    found = api.ok("PATCH", f"{FOOS}/a/scale", applied, APPLY, fieldManager="me", force="true")
    assert found["spec"] == {"replicas": 5}


def test_applying_goes_by_keys_and_members(api: Asking) -> None:
    def apply(manager: str, **spec: Any) -> tuple[int, Document]:
        return api.ask("PATCH", f"{FOOS}/a", a_foo(**spec), APPLY, fieldManager=manager)

    assert apply("me", tags=["a", "b"], ports=[{"name": "x", "port": 1}])[0] == 201
    _, found = apply("you", tags=["c"], ports=[{"name": "y"}])
    assert (found["spec"]["tags"], found["spec"]["ports"]) == (
        ["a", "b", "c"],
        [{"name": "x", "port": 1}, {"name": "y"}],
    )
    code, found = apply("you", ports=[{"name": "x", "port": 2}])
    assert (code, found["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "me": .spec.ports[name="x"].port',
    )
    _, found = apply("me", tags=["b"])
    assert found["spec"] == {"replicas": 1, "tags": ["b", "c"], "ports": [{"name": "y"}]}
    code, found = apply("me", nothing=1)
    assert (code, found["message"]) == (
        400,
        "failed to create typed patch object (/a; example.com/v1, Kind=Foo): "
        ".spec.nothing: field not declared in schema",
    )


# -- versions


VERSIONS = (
    a_version(
        "v1", {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "default": "B"}}}
    ),
    a_version("v1beta1", {"type": "object", "properties": {"a": {"type": "string"}}}, storage=False, deprecated=True),
    a_version("v1alpha1", storage=False, served=False),
)


@pytest.fixture
def versions() -> Asking:
    api = an_api()
    api.ok("POST", DEFINITIONS, a_definition("foos", "Foo", *VERSIONS))
    return api


def test_an_object_in_several_versions(versions: Asking) -> None:
    api, old = versions, "/apis/example.com/v1beta1/namespaces/default/foos"
    made = api.ok("POST", old, {**a_foo(version="v1beta1"), "a": "x"})
    assert (made["apiVersion"], made["a"]) == ("example.com/v1beta1", "x")
    assert "b" not in made, "this version does not know it"
    found = api.ok("GET", f"{FOOS}/a")
    assert (found["apiVersion"], found["a"], found["b"]) == ("example.com/v1", "x", "B")
    assert found["metadata"] | {"managedFields": 0} == made["metadata"] | {"managedFields": 0}
    api.ok("PATCH", f"{FOOS}/a", {"b": "C"}, MERGE)
    api.ok("PATCH", f"{old}/a", {"a": "y"}, MERGE)
    assert api.ok("GET", f"{old}/a")["a"] == "y"
    stored = api.server.registry.store.get("foos.example.com", "default", "a")
    assert stored is not None
    assert stored.document()["apiVersion"] == "example.com/v1", "whatever version it was written in"
    assert api.ask("GET", "/apis/example.com/v1alpha1/foos")[0] == 404
    groups = api.ok("GET", "/apis/example.com")
    assert [each["version"] for each in groups["versions"]] == ["v1", "v1beta1"]
    assert groups["preferredVersion"]["version"] == "v1"


def test_the_version_in_which_objects_are_stored_can_change(versions: Asking) -> None:
    versions.ok("POST", FOOS, {**a_foo(), "a": "x", "b": "y"})
    found = versions.ok("GET", f"{DEFINITIONS}/foos.example.com")
    for version in found["spec"]["versions"]:
        version["storage"] = version["name"] == "v1beta1"
    changed = versions.ok("PUT", f"{DEFINITIONS}/foos.example.com", found)
    assert changed["status"]["storedVersions"] == ["v1", "v1beta1"]
    assert versions.ok("GET", f"{FOOS}/a")["b"] == "y", "what is stored is read as what it is"
    written = versions.ok("PATCH", f"{FOOS}/a", {"a": "z"}, MERGE)
    assert (written["a"], written.get("b")) == ("z", None), "and written as what is stored now"


def test_whoever_uses_a_deprecated_version_is_warned(versions: Asking) -> None:
    found = versions.raw("GET", "/apis/example.com/v1beta1/foos")
    words = "example.com/v1beta1 Foo is deprecated; use example.com/v1 Foo"
    assert found.headers["Warning"] == f'299 - "{words}"'
    assert "Warning" not in versions.raw("GET", "/apis/example.com/v1/foos").headers


def test_objects_follow_a_definition_that_changes(api: Asking) -> None:
    api.ok("POST", FOOS, a_foo(size="long"))
    schema = msgspec.json.decode(msgspec.json.encode(SCHEMA))
    schema["properties"]["spec"]["properties"] |= {
        "size": {"type": "string", "maxLength": 1},
        "colour": {"type": "string", "default": "red"},
    }
    found = api.ok("GET", f"{DEFINITIONS}/foos.example.com")
    found["spec"]["versions"] = [a_version(schema=schema)]
    watch = api.watch(FOOS)
    api.ok("PUT", f"{DEFINITIONS}/foos.example.com", found)
    assert watch.ended, "whoever watches looks again"
    foo = api.ok("GET", f"{FOOS}/a")
    assert foo["spec"] == {"size": "long", "replicas": 1, "colour": "red"}
    changed = api.ok("PATCH", f"{FOOS}/a", {"metadata": {"labels": {"x": "y"}}}, MERGE)
    assert changed["metadata"]["generation"] == 1, "what was wrong before may stay, and a default is no change"
    message = api.refused("PATCH", f"{FOOS}/a", {"spec": {"size": "other"}}, MERGE)[2]
    assert message == 'Foo.example.com "a" is invalid: spec.size: Too long: may not be more than 1 byte'


# -- what clients are told


def test_discovery(api: Asking) -> None:
    found = api.ok("GET", "/apis/example.com/v1")["resources"]
    assert [each["name"] for each in found] == ["foos", "foos/status", "foos/scale"]
    assert (found[0]["singularName"], found[2]["kind"], found[2]["group"]) == ("foo", "Scale", "autoscaling")
    accept = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}

    def groups() -> list[str]:
        answer = api.server.handle(Request("GET", "/apis", {}, accept))
        assert isinstance(answer, Response)
        return [each["metadata"]["name"] for each in answer.document()["items"]]

    assert groups()[-1] == "example.com"
    api.ok("DELETE", f"{DEFINITIONS}/foos.example.com")
    assert "example.com" not in groups()


def test_openapi(api: Asking) -> None:
    third = api.ok("GET", "/openapi/v3/apis/example.com/v1")
    schema = third["components"]["schemas"]["com.example.v1.Foo"]
    assert schema["properties"]["spec"]["properties"]["replicas"] == {"type": "integer", "default": 1, "maximum": 9}
    assert schema["x-kubernetes-group-version-kind"] == [{"group": "example.com", "version": "v1", "kind": "Foo"}]
    assert "ObjectMeta" in schema["properties"]["metadata"]["allOf"][0]["$ref"]
    patch = third["paths"]["/apis/example.com/v1/namespaces/{namespace}/foos/{name}"]["patch"]
    assert STRATEGIC not in patch["requestBody"]["content"]
    second = api.ok("GET", "/openapi/v2")["definitions"]["com.example.v1.Foo"]
    assert "default" not in second["properties"]["spec"]["properties"]["replicas"]
    api.ok("DELETE", f"{DEFINITIONS}/foos.example.com")
    assert "com.example.v1.Foo" not in api.ok("GET", "/openapi/v2")["definitions"]


COLUMNS = [
    ("string", ".spec.size", "S"),
    ("string", ".spec.ports[?(@.name=='b')].port", "2"),
    ("string", ".spec.ports[?(@.port>1)].name", "b"),
    ("string", ".spec.tags", '["x","y"]'),
    ("string", ".spec.tags[1]", "y"),
    ("string", ".spec.tags[-1:]", "y"),
    ("string", ".spec['size']", "S"),
    ("string", "..port", "1"),
    ("string", ".spec.ports[*].name", "a"),
    ("string", ".spec.none", None),
    ("integer", ".spec.replicas", 1),
    ("integer", ".spec.size", None),
    ("number", ".spec.replicas", 1.0),
    ("boolean", ".spec.free.on", True),
    ("date", ".metadata.creationTimestamp", "0s"),
    ("date", ".spec.size", "<invalid>"),
    ("string", ".spec.ports[?(", None),
]


@pytest.mark.parametrize(("kind", "path", "cell"), COLUMNS, ids=[f"{kind} {path}" for kind, path, _ in COLUMNS])
def test_columns(kind: str, path: str, cell: object) -> None:
    api = an_api()
    columns = [{"name": "It", "type": kind, "jsonPath": path}]
    api.ok("POST", DEFINITIONS, a_definition("foos", "Foo", a_version(additionalPrinterColumns=columns)))
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
    api.ok("POST", FOOS, a_foo(size="S", ports=ports, tags=["x", "y"], free={"on": True}))
    headers = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    answer = api.server.handle(Request("GET", FOOS, {}, headers))
    assert isinstance(answer, Response)
    assert answer.document()["rows"][0]["cells"] == ["a", cell]


def test_selectable_fields() -> None:
    api = an_api()
    fields = [{"jsonPath": ".spec.size"}]
    api.ok("POST", DEFINITIONS, a_definition("foos", "Foo", a_version(selectableFields=fields)))
    api.ok("POST", FOOS, a_foo("a", size="S"))
    api.ok("POST", FOOS, a_foo("b"))
    assert [each["metadata"]["name"] for each in api.ok("GET", FOOS, fieldSelector="spec.size=S")["items"]] == ["a"]
    assert [each["metadata"]["name"] for each in api.ok("GET", FOOS, fieldSelector="spec.size=")["items"]] == ["b"]
    assert api.refused("GET", FOOS, fieldSelector="spec.replicas=1")[2] == "field label not supported: spec.replicas"


def test_cluster_scope() -> None:
    api = an_api()
    api.ok("POST", DEFINITIONS, a_definition(scope="Cluster"))
    api.ok("POST", "/apis/example.com/v1/foos", a_foo())
    assert "namespace" not in api.ok("GET", "/apis/example.com/v1/foos/a")["metadata"]
    assert api.ask("GET", FOOS)[0] == 404


def test_watches(api: Asking) -> None:
    watch = api.watch(FOOS)
    api.ok("POST", FOOS, a_foo())
    api.ok("PATCH", f"{FOOS}/a", {"spec": {"size": "S"}}, MERGE)
    api.ok("DELETE", f"{DEFINITIONS}/foos.example.com")
    lines = [msgspec.json.decode(line) for line in watch.take().splitlines()]
    assert [(each["type"], each["object"]["kind"]) for each in lines] == [
        ("ADDED", "Foo"),
        ("MODIFIED", "Foo"),
        ("DELETED", "Foo"),
    ]
    assert watch.ended


# -- with everything else


def test_roles_apply() -> None:
    tokens = StaticTokens({})
    server = ApiServer(access=lambda services: RoleBasedAccess(services, tokens))
    admin, user = Asking(server), Asking(server, User("jane"))
    admin.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    admin.ok("POST", DEFINITIONS, a_definition())
    start = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    rules = [{"apiGroups": ["example.com"], "resources": ["foos"], "verbs": ["get", "list"]}]
    admin.ok("POST", f"{start}/roles", {"metadata": {"name": "r"}, "rules": rules})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]
    admin.ok("POST", f"{start}/rolebindings", {"metadata": {"name": "b"}, "roleRef": reference, "subjects": subjects})
    user.ok("GET", FOOS)
    assert user.refused("POST", FOOS, a_foo()) == (
        403,
        "Forbidden",
        'foos.example.com is forbidden: User "jane" cannot create resource "foos" in API group "example.com" in the '
        'namespace "default"',
    )


def test_a_server_that_is_started_again_knows_definitions_and_objects(tmp_path: Path) -> None:
    for number in range(2):
        with opened(tmp_path, 100) as folder:
            api = Asking(ApiServer(access=always_allow, store=folder.store))
            if number == 0:
                api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
                api.ok("POST", DEFINITIONS, a_definition())
                api.ok("POST", FOOS, a_foo(size="S"))
            assert api.ok("GET", f"{FOOS}/a")["spec"]["size"] == "S"
            assert api.ok("GET", "/apis/example.com/v1")["resources"][0]["name"] == "foos"


def test_owners_and_namespaces_take_objects_along() -> None:
    async def story() -> None:
        api = an_api()
        simulation = Simulation(api.server)
        simulation.start()
        api.ok("POST", DEFINITIONS, a_definition())
        owner = api.ok("POST", FOOS, a_foo("owner"))
        reference = {"apiVersion": "example.com/v1", "kind": "Foo", "name": "owner", "uid": owner["metadata"]["uid"]}
        owned = a_foo("owned")
        owned["metadata"]["ownerReferences"] = [reference]
        api.ok("POST", FOOS, owned)
        config = {"metadata": {"name": "c", "ownerReferences": [reference]}}
        api.ok("POST", "/api/v1/namespaces/default/configmaps", config)
        api.ok("DELETE", f"{FOOS}/owner")
        await asyncio.sleep(5)
        assert api.ok("GET", FOOS)["items"] == []
        maps = api.ok("GET", "/api/v1/namespaces/default/configmaps")["items"]
        assert [each["metadata"]["name"] for each in maps] == ["kube-root-ca.crt"], "which every namespace has"
        api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
        api.ok("POST", FOOS.replace("default", "other"), a_foo("last"))
        api.ok("DELETE", "/api/v1/namespaces/other")
        await asyncio.sleep(5)
        assert api.ok("GET", "/apis/example.com/v1/foos")["items"] == []
        assert api.ask("GET", "/api/v1/namespaces/other")[0] == 404
        simulation.stop()

    run_in_virtual_time(story())


def test_quotas_count_them(api: Asking) -> None:
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"count/foos.example.com": "1"}}}
    api.ok("POST", "/api/v1/namespaces/default/resourcequotas", quota)
    api.ok("POST", FOOS, a_foo())
    assert "exceeded quota: q" in api.refused("POST", FOOS, a_foo("b"))[2]


def test_a_client_in_the_same_process(api: Asking) -> None:
    client = LocalClient(api.server, ADMINISTRATOR)
    foos = client.resource("example.com/v1", "Foo")
    client.create(foos, {**a_foo(), "metadata": {"name": "a", "namespace": "default"}})
    assert client.patch(foos, "default", "a", {"spec": {"size": "S"}}, form=MERGE)["spec"]["size"] == "S"
