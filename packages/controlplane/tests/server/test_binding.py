"""Binding: pods get their nodes, once, and only those that were meant."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.api import Asking, events_of

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.server.server import ApiServer

PODS = "/api/v1/namespaces/default/pods"
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
MERGE = "application/merge-patch+json"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


@pytest.fixture
def api() -> Asking:
    asking = Asking(ApiServer(access=always_allow, clock=lambda: NOW, seed=1))
    if asking.ask("GET", "/api/v1/namespaces/default")[0] == 404:
        asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    labels = {ZONE: "a", REGION: "r", "kubernetes.io/hostname": "n"}
    asking.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n", "labels": labels}})
    return asking


def create(api: Asking, meta: Any = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i:1"}]
    return api.ok("POST", PODS, {"metadata": {"name": "p", **(meta or {})}, "spec": {"containers": containers, **spec}})


def a_binding(node: Any = "n", target: Any = None, **meta: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p", **meta},
        "target": target if target is not None else {"kind": "Node", "name": node},
    }


def test_a_binding_gives_a_pod_its_node(api: Asking) -> None:
    before = create(api, {"labels": {"app": "web"}, "annotations": {"a": "1"}})
    waiting = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
    status = {"nominatedNodeName": "m", "conditions": [waiting]}
    api.ok("PATCH", f"{PODS}/p/status", {"status": status}, MERGE)
    watch = api.watch(PODS)
    watch.take()
    binding = a_binding(labels={"b": "2"}, annotations={"a": "2"}, uid=before["metadata"]["uid"])
    assert api.ask("POST", f"{PODS}/p/binding", binding) == (201, SUCCESS)
    pod = api.ok("GET", f"{PODS}/p")
    assert pod["spec"] == {**before["spec"], "nodeName": "n"}
    assert pod["metadata"]["labels"] == {"app": "web", "b": "2", ZONE: "a", REGION: "r"}
    assert pod["metadata"]["annotations"] == {"a": "2"}
    assert pod["metadata"]["generation"] == 1
    assert pod["status"] == {
        "phase": "Pending",
        "qosClass": "BestEffort",
        "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2030-01-01T12:00:00Z"}],
    }
    assert events_of(watch) == [("MODIFIED", pod)]
    assert [found["metadata"]["name"] for found in api.ok("GET", PODS, fieldSelector="spec.nodeName=n")["items"]] == [
        "p"
    ]


def test_the_topology_of_the_node_outweighs_what_the_binding_says(api: Asking) -> None:
    create(api)
    api.ok("POST", f"{PODS}/p/binding", a_binding(labels={ZONE: "wrong"}))
    assert api.ok("GET", f"{PODS}/p")["metadata"]["labels"][ZONE] == "a"


def test_a_node_need_not_exist(api: Asking) -> None:
    create(api)
    api.ok("POST", f"{PODS}/p/binding", a_binding("nobody"))
    pod = api.ok("GET", f"{PODS}/p")
    assert pod["spec"]["nodeName"] == "nobody"
    assert "labels" not in pod["metadata"]


def test_the_old_path_binds_too_and_copies_no_topology(api: Asking) -> None:
    create(api)
    old = "/api/v1/namespaces/default/bindings"
    assert api.ask("POST", old, a_binding(uid="whatever", target={"name": "n"})) == (201, SUCCESS)
    pod = api.ok("GET", f"{PODS}/p")
    assert pod["spec"]["nodeName"] == "n"
    assert "labels" not in pod["metadata"]
    assert api.refused("POST", old, a_binding())[:2] == (409, "Conflict")


def test_a_dry_run_binds_nothing(api: Asking) -> None:
    before = create(api)
    assert api.ask("POST", f"{PODS}/p/binding", a_binding(), dryRun="All") == (201, SUCCESS)
    assert api.ok("GET", f"{PODS}/p") == before
    assert api.refused("POST", f"{PODS}/p/binding", a_binding(), dryRun="Some")[0] == 422


def test_a_pod_is_bound_once(api: Asking) -> None:
    create(api)
    api.ok("POST", f"{PODS}/p/binding", a_binding())
    bound = api.ok("GET", f"{PODS}/p")
    code, status = api.ask("POST", f"{PODS}/p/binding", a_binding("m"))
    assert code == 409
    assert status == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
        "reason": "Conflict",
        "details": {"name": "p", "kind": "pods/binding"},
        "code": 409,
    }
    assert api.ok("GET", f"{PODS}/p") == bound


def test_a_pod_behind_gates_is_not_bound(api: Asking) -> None:
    create(api, schedulingGates=[{"name": "g"}])
    assert api.refused("POST", f"{PODS}/p/binding", a_binding()) == (
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods/binding "p": pod p has non-empty .spec.schedulingGates',
    )


def test_a_pod_that_is_going_is_not_bound(api: Asking) -> None:
    create(api, {"finalizers": ["example.com/f"]})
    api.ok("DELETE", f"{PODS}/p")
    assert api.refused("POST", f"{PODS}/p/binding", a_binding()) == (
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods/binding "p": pod p is being deleted, cannot be assigned to a host',
    )


def test_another_pod_of_the_name_is_not_bound(api: Asking) -> None:
    uid = create(api)["metadata"]["uid"]
    assert api.refused("POST", f"{PODS}/p/binding", a_binding(uid="other")) == (
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: '
        "/registry/pods/default/p, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: "
        f"other, UID in object meta: {uid}",
    )


def test_a_pod_that_has_changed_is_not_bound_if_the_binding_minds(api: Asking) -> None:
    version = create(api)["metadata"]["resourceVersion"]
    api.ok("PATCH", f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}}, MERGE)
    code, reason, message = api.refused("POST", f"{PODS}/p/binding", a_binding(resourceVersion=version))
    assert (code, reason) == (409, "Conflict")
    assert f"Precondition failed: ResourceVersion in precondition: {version}" in message
    now = api.ok("GET", f"{PODS}/p")["metadata"]["resourceVersion"]
    api.ok("POST", f"{PODS}/p/binding", a_binding(resourceVersion=now))


REFUSALS = [
    ("a pod that is not there", "q", a_binding(name="q"), (404, "NotFound", 'pods "q" not found')),
    (
        "another name than that of the path",
        "p",
        a_binding(name="q"),
        (400, "BadRequest", "name in URL does not match name in Binding object"),
    ),
    (
        "another namespace than that of the path",
        "p",
        a_binding(namespace="other"),
        (400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"),
    ),
    (
        "no node",
        "p",
        a_binding(target={}),
        (422, "Invalid", 'Binding "p" is invalid: target.name: Required value'),
    ),
    (
        "something that is no node",
        "p",
        a_binding(target={"kind": "Pod", "name": "n"}),
        (
            422,
            "Invalid",
            'Binding "p" is invalid: target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
        ),
    ),
]


@pytest.mark.parametrize(
    ("name", "binding", "expected"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_what_is_no_binding_of_the_pod(api: Asking, name: str, binding: Any, expected: Any) -> None:
    create(api)
    assert api.refused("POST", f"{PODS}/{name}/binding", binding) == expected


MALFORMED: list[tuple[str, bytes]] = [
    ("nothing", b""),
    ("no JSON", b"{"),
    ("a list", b"[]"),
    ("null", b"null"),
    ("bytes that are no text", b'{"metadata":{"name":"\xff"}}'),
    ("a target that is a text", b'{"metadata":{"name":"p"},"target":"n"}'),
    ("a name that is a number", b'{"metadata":{"name":"p"},"target":{"name":1}}'),
    ("labels that are a list", b'{"metadata":{"name":"p","labels":[]},"target":{"name":"n"}}'),
    ("another kind", b'{"kind":"Pod","metadata":{"name":"p"},"target":{"name":"n"}}'),
    ("another version", b'{"apiVersion":"v2","kind":"Binding","metadata":{"name":"p"},"target":{"name":"n"}}'),
    ("a version that is none", b'{"metadata":{"name":"p","resourceVersion":5},"target":{"name":"n"}}'),
]


@pytest.mark.parametrize("body", [row[1] for row in MALFORMED], ids=[row[0] for row in MALFORMED])
def test_what_cannot_be_understood(api: Asking, body: bytes) -> None:
    create(api)
    response = api.raw("POST", f"{PODS}/p/binding", body)
    assert (response.code, response.document()["reason"]) == (400, "BadRequest"), response.document()
    assert "nodeName" not in api.ok("GET", f"{PODS}/p")["spec"]


def test_nulls_count_as_left_out(api: Asking) -> None:
    create(api)
    api.ok("POST", f"{PODS}/p/binding", a_binding(labels=None, annotations=None, uid=None, creationTimestamp=None))
    assert api.ok("GET", f"{PODS}/p")["spec"]["nodeName"] == "n"


def test_a_namespace_that_goes_takes_no_bindings(api: Asking) -> None:
    api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "going"}})
    pods = "/api/v1/namespaces/going/pods"
    api.ok("POST", pods, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    api.ok("DELETE", "/api/v1/namespaces/going")
    code, status = api.ask("POST", f"{pods}/p/binding", a_binding())
    why = "unable to create new content in namespace going because it is being terminated"
    assert (code, status["message"]) == (403, f'pods "p" is forbidden: {why}')
    cause = {"reason": "NamespaceTerminating", "message": "namespace going is being terminated"}
    assert status["details"]["causes"] == [{**cause, "field": "metadata.namespace"}]


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_bindings_can_only_be_made(api: Asking, method: str) -> None:
    create(api)
    assert api.ask(method, f"{PODS}/p/binding", a_binding(), MERGE)[0] == 405
