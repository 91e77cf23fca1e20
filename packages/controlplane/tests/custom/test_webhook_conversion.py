"""Kinds whose versions only a webhook can convert: nothing is lost without a word."""

from typing import Any

import pytest
from tests.support.api import Asking, events_of
from tests.support.good_objects import an_api

Document = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CLIENT = {"service": {"namespace": "default", "name": "nosuch", "path": "/c"}}
FAILED = "failed: this server calls no conversion webhooks; use the storage version v1"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"


def a_version(name: str, *fields: str, storage: bool = False) -> Document:
    properties = {field: {"type": "string"} for field in fields}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {"name": name, "served": True, "storage": storage, "schema": schema}


def a_definition() -> Document:
    """Two versions of a kind that have no field in common."""
    return {
        "metadata": {"name": "convs.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "convs", "singular": "conv", "kind": "Conv"},
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": CLIENT},
            },
            "versions": [a_version("v1", "hostPort", storage=True), a_version("v2", "host", "port")],
        },
    }


def path(version: str, name: str = "") -> str:
    return f"/apis/example.com/{version}/namespaces/default/convs{name and '/' + name}"


def a_conv(version: str, name: str = "x", **fields: str) -> Document:
    return {"apiVersion": f"example.com/{version}", "kind": "Conv", "metadata": {"name": name}, **fields}


@pytest.fixture
def api() -> Asking:
    found = an_api()
    found.ok("POST", DEFINITIONS, a_definition())
    found.ok("POST", path("v1"), a_conv("v1", "kept", hostPort="h:80"))
    return found


@pytest.mark.parametrize(
    ("method", "name", "body", "form", "given"),
    [
        pytest.param("POST", "", a_conv("v2", host="h"), "application/json", "v2", id="a new object"),
        pytest.param("PUT", "kept", a_conv("v2", "kept", host="h"), "application/json", "v2", id="an update"),
        pytest.param("PATCH", "kept", {"host": "h"}, MERGE, "v1", id="a patch"),
        pytest.param("PATCH", "x", a_conv("v2", host="h"), APPLY, "v2", id="an applied object"),
        pytest.param("GET", "kept", None, "application/json", "v1", id="an object that is read"),
        pytest.param("GET", "", None, "application/json", "v1", id="a list"),
    ],
)
def test_another_version_than_that_of_storage_is_refused(
    api: Asking, method: str, name: str, body: Any, form: str, given: str
) -> None:
    query = {"fieldManager": "t"} if form == APPLY else {}
    code, _, message = api.refused(method, path("v2", name), body, form, **query)
    assert (code, message) == (500, f"conversion webhook for example.com/{given}, Kind=Conv {FAILED}")
    assert [each["metadata"]["name"] for each in api.ok("GET", path("v1"))["items"]] == ["kept"]


def test_the_storage_version_works() -> None:
    api = an_api()
    api.ok("POST", DEFINITIONS, a_definition())
    assert api.ok("GET", path("v2"))["items"] == []
    api.ok("POST", path("v1"), a_conv("v1", hostPort="h:80"))
    assert api.ok("PATCH", path("v1", "x"), {"hostPort": "h:81"}, MERGE)["hostPort"] == "h:81"


@pytest.mark.parametrize("existing", [True, False])
def test_a_watch_fails_when_it_would_send_an_object(api: Asking, existing: bool) -> None:
    if not existing:
        api.ok("DELETE", path("v1", "kept"))
    watch = api.watch(path("v2"))
    other = api.watch(path("v1"))
    api.ok("POST", path("v1"), a_conv("v1", hostPort="h:80"))
    ((kind, status),) = events_of(watch)
    assert (kind, status["code"]) == ("ERROR", 500)
    assert FAILED in status["message"]
    assert watch.ended
    assert not other.ended


def test_objects_are_deleted_in_any_version_and_with_their_definition(api: Asking) -> None:
    api.ok("POST", path("v1"), a_conv("v1", hostPort="h:80"))
    api.ok("DELETE", path("v2", "x"))
    api.ok("DELETE", f"{DEFINITIONS}/convs.example.com")
    assert api.ask("GET", path("v1"))[0] == 404
    assert api.ok("GET", DEFINITIONS)["items"] == []
