"""What there is, as clients find it: group by group, and all in one document."""

from typing import Any

import pytest

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.server.catalog import RESOURCES, built_in
from kubesched_controlplane.server.server import ApiServer

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
# as kubectl 1.36 asks
ASKED = f"{AGGREGATED.format('v2')},{AGGREGATED.format('v2beta1')},application/json"


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(access=always_allow, seed=1)


def get(server: ApiServer, path: str, accept: str = ASKED, **headers: str) -> Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    found = server.handle(Request("GET", path, {}, {"accept": accept, **given}))
    assert isinstance(found, Response)
    return found


FORMS = [
    ("the newest", ASKED, "v2"),
    ("the older one", f"{AGGREGATED.format('v2beta1')},application/json", "v2beta1"),
    ("the newest alone", AGGREGATED.format("v2"), "v2"),
    ("the plain one first", f"application/json,{AGGREGATED.format('v2')}", ""),
    ("a version that does not exist", f"{AGGREGATED.format('v9')},application/json", ""),
    ("the plain one", "application/json", ""),
    ("anything", "*/*", ""),
]


@pytest.mark.parametrize(("what", "accept", "version"), FORMS, ids=[each[0] for each in FORMS])
@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_the_form_is_the_one_that_a_client_wants(
    server: ApiServer, path: str, what: str, accept: str, version: str
) -> None:
    del what
    found = get(server, path, accept)
    document = found.document()
    assert found.code == 200
    if version:
        assert (document["kind"], document["apiVersion"]) == ("APIGroupDiscoveryList", f"apidiscovery.k8s.io/{version}")
        assert found.content_type == AGGREGATED.format(version)
        assert found.headers["Vary"] == "Accept"
    else:
        assert document["kind"] == ("APIVersions" if path == "/api" else "APIGroupList")
        assert found.content_type == "application/json"


def resources_of(document: dict[str, Any]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return all resources by group, version and name."""
    return {
        (group["metadata"].get("name", ""), version["version"], resource["resource"]): resource
        for group in document["items"]
        for version in group["versions"]
        for resource in version["resources"]
    }


def test_everything_that_is_served_is_there(server: ApiServer) -> None:
    found = resources_of(get(server, "/api").document()) | resources_of(get(server, "/apis").document())
    assert found.keys() == {(each.group, each.version, each.plural) for each in RESOURCES}
    pods = found["", "v1", "pods"]
    assert pods["responseKind"] == {"group": "", "version": "", "kind": "Pod"}
    assert (pods["scope"], pods["singularResource"], pods["shortNames"]) == ("Namespaced", "pod", ["po"])
    assert pods["categories"] == ["all"]
    subresources = {each["subresource"]: each["responseKind"] for each in pods["subresources"]}
    assert subresources["eviction"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    assert subresources["status"] == {"group": "", "version": "", "kind": "Pod"}
    assert found["", "v1", "nodes"]["scope"] == "Cluster"
    scale = found["apps", "v1", "replicasets"]["subresources"][0]
    assert (scale["subresource"], scale["responseKind"]["kind"]) == ("scale", "Scale")


def test_both_forms_say_the_same(server: ApiServer) -> None:
    for (group, version, name), resource in resources_of(get(server, "/apis").document()).items():
        listed = get(server, f"/apis/{group}/{version}", "application/json").document()["resources"]
        (plain,) = (each for each in listed if each["name"] == name)
        assert (plain["kind"], plain["verbs"]) == (resource["responseKind"]["kind"], resource["verbs"])
        below = {each["name"].partition("/")[2] for each in listed if each["name"].startswith(f"{name}/")}
        assert below == {each["subresource"] for each in resource.get("subresources", ())}


def test_a_client_that_has_it_already_is_told_so(server: ApiServer) -> None:
    found = get(server, "/apis")
    tag = found.headers["ETag"]
    again = get(server, "/apis", if_none_match=tag)
    assert (again.code, list(again.chunks)) == (304, [])
    assert get(server, "/apis", if_none_match='"other"').code == 200
    assert get(server, "/api").headers["ETag"] != tag


def test_what_is_added_later_is_found() -> None:
    catalog = built_in()
    server = ApiServer(access=always_allow, catalog=catalog)
    before = get(server, "/apis").headers["ETag"]
    catalog.resources = (*catalog.resources, Resource("example.com", "v1", "unicorns", "Unicorn"))
    found = get(server, "/apis")
    assert found.headers["ETag"] != before
    assert ("example.com", "v1", "unicorns") in resources_of(found.document())


@pytest.mark.parametrize("accept", ["text/html", "application/cbor"])
def test_what_is_not_there_is_not_acceptable(server: ApiServer, accept: str) -> None:
    assert get(server, "/apis", accept).code == 406
    assert get(server, "/healthz", accept).code == 200, "health is for everybody"
