"""The verbs that every kind has: create, get, list, update, patch, delete, and their preconditions."""

from typing import Any

import pytest
from tests.support.api import Asking

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"


@pytest.fixture
def api() -> Asking:
    asking = Asking()
    if asking.ask("GET", "/api/v1/namespaces/default")[0] == 404:
        asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def a_map(name: str, **more: object) -> dict[str, object]:
    return {"metadata": {"name": name, **more}, "data": {"a": "1"}}


def test_what_is_created_comes_back_with_what_the_server_fills_in(api: Asking) -> None:
    created = api.ok("POST", MAPS, a_map("m"))
    meta = created["metadata"]
    assert (created["kind"], created["apiVersion"], meta["namespace"]) == ("ConfigMap", "v1", "default")
    assert meta["uid"]
    assert meta["creationTimestamp"].endswith("Z")
    assert int(meta["resourceVersion"]) > 0
    assert api.ok("GET", f"{MAPS}/m") == created


def test_a_name_is_made_up_from_its_beginning(api: Asking) -> None:
    created = api.ok("POST", MAPS, {"metadata": {"generateName": "m-"}})
    name = created["metadata"]["name"]
    assert name.startswith("m-")
    assert len(name) == 7


def test_what_exists_is_not_created_again(api: Asking) -> None:
    api.ok("POST", MAPS, a_map("m"))
    assert api.refused("POST", MAPS, a_map("m")) == (409, "AlreadyExists", 'configmaps "m" already exists')


REFUSALS: list[tuple[str, str, str, Any, tuple[int, str, str]]] = [
    ("an object that does not exist", "GET", f"{MAPS}/none", None, (404, "NotFound", 'configmaps "none" not found')),
    (
        "a namespace that does not exist",
        "POST",
        "/api/v1/namespaces/none/configmaps",
        a_map("m"),
        (404, "NotFound", 'namespaces "none" not found'),
    ),
    (
        "a kind that is not served",
        "GET",
        "/api/v1/namespaces/default/unicorns",
        None,
        (404, "NotFound", "the server could not find the requested resource"),
    ),
    (
        "a verb that the path does not have",
        "PUT",
        MAPS,
        a_map("m"),
        (405, "MethodNotAllowed", "the server does not allow this method on the requested resource"),
    ),
    (
        "a method that nobody knows",
        "BREW",
        MAPS,
        None,
        (405, "MethodNotAllowed", "the server does not allow this method on the requested resource"),
    ),
    (
        "another namespace than that of the path",
        "POST",
        MAPS,
        a_map("m", namespace="other"),
        (
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ),
    (
        "a resource version on something new",
        "POST",
        MAPS,
        a_map("m", resourceVersion="5"),
        (400, "BadRequest", "resourceVersion should not be set on objects to be created"),
    ),
    (
        "no name at all",
        "POST",
        MAPS,
        {"metadata": {}},
        (
            422,
            "Invalid",
            'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        ),
    ),
]


@pytest.mark.parametrize(
    ("method", "path", "document", "said"), [case[1:] for case in REFUSALS], ids=[c[0] for c in REFUSALS]
)
def test_refusals(
    api: Asking, method: str, path: str, document: dict[str, object] | None, said: tuple[int, str, str]
) -> None:
    assert api.refused(method, path, document) == said


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/configmaps/..",
        "/api/v1/../../etc/passwd",
        "/apis//v1/x",
        "/api/v2/pods",
        "/nowhere",
        "/apis/apps/v1/replicasets/a/b/c/d",
    ],
)
def test_paths_that_lead_nowhere(api: Asking, path: str) -> None:
    assert api.refused("GET", path)[0] == 404


def test_an_update_with_a_stale_version_is_refused(api: Asking) -> None:
    created = api.ok("POST", MAPS, a_map("m"))
    api.ok("PUT", f"{MAPS}/m", created | {"data": {"a": "2"}})
    code, reason, message = api.refused("PUT", f"{MAPS}/m", created | {"data": {"a": "3"}})
    assert (code, reason) == (409, "Conflict")
    assert message == (
        'Operation cannot be fulfilled on configmaps "m": the object has been modified; please apply your changes to '
        "the latest version and try again"
    )
    assert api.ok("GET", f"{MAPS}/m")["data"] == {"a": "2"}


def test_an_update_without_a_version_is_unconditional(api: Asking) -> None:
    api.ok("POST", MAPS, a_map("m"))
    updated = api.ok("PUT", f"{MAPS}/m", {"metadata": {"name": "m"}, "data": {"b": "2"}})
    assert updated["data"] == {"b": "2"}


def test_an_update_of_another_object_under_the_name_is_refused(api: Asking) -> None:
    created = api.ok("POST", MAPS, a_map("m"))
    uid = created["metadata"]["uid"]
    code, reason, message = api.refused("PUT", f"{MAPS}/m", a_map("m", uid="other"))
    assert (code, reason) == (409, "Conflict")
    assert f"UID in precondition: other, UID in object meta: {uid}" in message


def test_a_write_that_changes_nothing_leaves_the_version_alone(api: Asking) -> None:
    created = api.ok("POST", MAPS, a_map("m"))
    watch = api.watch(MAPS, resourceVersion=created["metadata"]["resourceVersion"])
    assert api.ok("PUT", f"{MAPS}/m", created) == created
    assert api.ok("PATCH", f"{MAPS}/m", {"data": {"a": "1"}}, MERGE) == created
    assert len(watch) == 0


def test_a_dry_run_stores_nothing(api: Asking) -> None:
    assert api.ok("POST", MAPS, a_map("m"), dryRun="All")["metadata"]["name"] == "m"
    assert api.refused("GET", f"{MAPS}/m")[0] == 404
    created = api.ok("POST", MAPS, a_map("m"))
    assert api.ok("PATCH", f"{MAPS}/m", {"data": {"a": "2"}}, MERGE, dryRun="All")["data"] == {"a": "2"}
    api.ok("DELETE", f"{MAPS}/m", dryRun="All")
    assert api.ok("GET", f"{MAPS}/m") == created


def test_a_merge_patch_sets_and_removes(api: Asking) -> None:
    api.ok("POST", MAPS, a_map("m"))
    changed = api.ok("PATCH", f"{MAPS}/m", {"data": {"a": None, "b": "2"}, "metadata": {"labels": {"x": "y"}}}, MERGE)
    assert (changed["data"], changed["metadata"]["labels"]) == ({"b": "2"}, {"x": "y"})


def test_a_patch_in_an_unknown_form_is_refused(api: Asking) -> None:
    api.ok("POST", MAPS, a_map("m"))
    assert api.refused("PATCH", f"{MAPS}/m", {}, "application/x-unknown")[:2] == (415, "UnsupportedMediaType")


def test_what_clients_may_not_change_stays(api: Asking) -> None:
    created = api.ok("POST", MAPS, a_map("m"))
    meta = created["metadata"]
    stamped = {
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "generation": 7,
        "deletionTimestamp": "2001-01-01T00:00:00Z",
    }
    changed = api.ok("PATCH", f"{MAPS}/m", {"metadata": stamped, "data": {"b": "2"}}, MERGE)["metadata"]
    assert changed["creationTimestamp"] == meta["creationTimestamp"]
    assert "deletionTimestamp" not in changed
    assert changed["uid"] == meta["uid"]


class TestDeleting:
    def test_it_is_gone_and_a_status_says_so(self, api: Asking) -> None:
        uid = api.ok("POST", MAPS, a_map("m"))["metadata"]["uid"]
        status = api.ok("DELETE", f"{MAPS}/m")
        assert status["status"] == "Success"
        assert status["details"] == {"name": "m", "kind": "configmaps", "uid": uid}
        assert api.refused("DELETE", f"{MAPS}/m")[0] == 404

    @pytest.mark.parametrize("precondition", [{"uid": "other"}, {"resourceVersion": "1"}])
    def test_preconditions_hold(self, api: Asking, precondition: dict[str, str]) -> None:
        api.ok("POST", MAPS, a_map("m"))
        assert api.refused("DELETE", f"{MAPS}/m", {"preconditions": precondition})[:2] == (409, "Conflict")

    def test_finalizers_are_waited_for(self, api: Asking) -> None:
        api.ok("POST", MAPS, a_map("m", finalizers=["example.com/wait"]))
        watch = api.watch(MAPS, resourceVersion="0")
        watch.take()
        going = api.ok("DELETE", f"{MAPS}/m")
        assert going["metadata"]["deletionTimestamp"]
        assert going["metadata"]["deletionGracePeriodSeconds"] == 0
        assert api.ok("DELETE", f"{MAPS}/m") == going
        code, _, message = api.refused(
            "PATCH", f"{MAPS}/m", {"metadata": {"finalizers": ["example.com/wait", "b.com/c"]}}, MERGE
        )
        assert code == 422
        assert "no new finalizers can be added if the object is being deleted" in message
        api.ok("PATCH", f"{MAPS}/m", {"metadata": {"finalizers": None}}, MERGE)
        assert api.refused("GET", f"{MAPS}/m")[0] == 404
        assert [kind for kind in watch.take().decode().split('"') if kind in ("MODIFIED", "DELETED")] == [
            "MODIFIED",
            "DELETED",
        ]

    def test_a_collection_is_deleted_by_selector(self, api: Asking) -> None:
        for number in range(4):
            api.ok("POST", MAPS, a_map(f"m{number}", labels={"odd": str(number % 2)}))
        listed = api.ok("DELETE", MAPS, labelSelector="odd=1")
        assert [item["metadata"]["name"] for item in listed["items"]] == ["m1", "m3"]
        assert [item["metadata"]["name"] for item in api.ok("GET", MAPS)["items"]] == ["m0", "m2"]

    def test_bad_options_are_refused(self, api: Asking) -> None:
        api.ok("POST", MAPS, a_map("m"))
        assert api.refused("DELETE", f"{MAPS}/m", {"propagationPolicy": "Sideways"})[0] == 422
        assert api.refused("DELETE", f"{MAPS}/m", {"gracePeriodSeconds": "soon"})[0] == 400
        assert api.refused("DELETE", f"{MAPS}/m", {"kind": "Pod"})[0] == 400


def test_bodies_that_are_too_large_or_no_json(api: Asking) -> None:
    assert api.raw("POST", MAPS, b"x" * (3 * 1024 * 1024 + 1)).code == 413
    for body in (b"", b"{", b"[]", b'"text"', b"\xff\xfe", b'{"metadata": "no"}', b"[" * 100_000):
        assert api.raw("POST", MAPS, body).code == 400, body[:20]
    # read as an object without fields
    assert api.raw("POST", MAPS, b"null").code == 422


def test_media_types_other_than_json(api: Asking) -> None:
    assert api.raw("POST", MAPS, b"x", "application/cbor").code == 415
