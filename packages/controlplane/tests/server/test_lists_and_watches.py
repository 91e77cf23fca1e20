"""Lists in pages and by selectors, and watches from a version on."""

import pytest
from tests.support.api import Asking, events_of, seen

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage.store import Store

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"


@pytest.fixture
def api() -> Asking:
    return with_namespaces(Asking())


def with_namespaces(api: Asking) -> Asking:
    for name in ("default", "other"):
        if api.ask("GET", f"/api/v1/namespaces/{name}")[0] == 404:
            api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return api


def put(api: Asking, name: str, namespace: str = "default", **labels: str) -> dict[str, object]:
    document = {"metadata": {"name": name, "labels": labels}}
    return api.ok("POST", f"/api/v1/namespaces/{namespace}/configmaps", document)


def names(listed: dict[str, object]) -> list[str]:
    items = listed["items"]
    assert isinstance(items, list)
    return [item["metadata"]["name"] for item in items]


def test_a_list_is_in_order_and_of_one_version(api: Asking) -> None:
    for name in ("c", "a", "b"):
        put(api, name)
    put(api, "z", "other")
    listed = api.ok("GET", MAPS)
    assert (listed["kind"], names(listed)) == ("ConfigMapList", ["a", "b", "c"])
    assert names(api.ok("GET", "/api/v1/configmaps")) == ["a", "b", "c", "z"]
    assert listed["metadata"]["resourceVersion"] == api.ok("GET", MAPS)["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"labelSelector": "app=x"}, ["a", "b"]),
        ({"labelSelector": "app in (y,z)"}, ["c"]),
        ({"labelSelector": "!app"}, ["d"]),
        ({"labelSelector": "app=x,odd"}, ["b"]),
        ({"fieldSelector": "metadata.name=c"}, ["c"]),
        ({"fieldSelector": "metadata.name!=c,metadata.namespace=default"}, ["a", "b", "d"]),
        ({"labelSelector": "app=x", "fieldSelector": "metadata.name==b"}, ["b"]),
        ({"fieldSelector": ",metadata.name=c,"}, ["c"]),
        ({"fieldSelector": "metadata.name!=a\\,b\\=c"}, ["a", "b", "c", "d"]),
        ({"limit": "-1"}, ["a", "b", "c", "d"]),
    ],
)
def test_selectors(api: Asking, query: dict[str, str], found: list[str]) -> None:
    put(api, "a", app="x")
    put(api, "b", app="x", odd="1")
    put(api, "c", app="y")
    put(api, "d")
    assert names(api.ok("GET", MAPS, **query)) == found


@pytest.mark.parametrize(
    "query",
    [
        {"labelSelector": "a in"},
        {"labelSelector": "=b"},
        {"fieldSelector": "spec.unknown=1"},
        {"fieldSelector": "nonsense"},
        {"limit": "many"},
        {"limit": "1_0"},
        {"limit": "99999999999999999999"},
        {"timeoutSeconds": "1s"},
        {"fieldSelector": "metadata.name=a=b"},
        {"fieldSelector": "metadata.name=a\\b"},
        {"continue": "????"},
        {"continue": "e30"},
        # {"v": "meta.k8s.io/v1", "rv": 1, "start": "../../"}, and "a/../b"
        {"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi8ifQ"},
        {"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhLy4uL2IifQ"},
        {"resourceVersion": "latest"},
        {"resourceVersion": "-1"},
        {"resourceVersion": "9" * 5000},
    ],
)
def test_bad_queries(api: Asking, query: dict[str, str]) -> None:
    assert api.refused("GET", MAPS, **query)[:2] == (400, "BadRequest")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            {"resourceVersionMatch": "Exact"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "Roughly", "resourceVersion": "1"},
            'resourceVersionMatch: Unsupported value: "Roughly": supported values: "Exact", "NotOlderThan", ""',
        ),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
            'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        ({"sendInitialEvents": "true"}, "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
        (
            {"watch": "true", "sendInitialEvents": "true"},
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
    ],
)
def test_options_that_contradict_each_other(api: Asking, query: dict[str, str], words: str) -> None:
    refused = api.refused("GET", MAPS, **query)
    assert refused == (422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {words}')


def test_the_paths_that_there_are(api: Asking) -> None:
    assert {"/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz", "/version"} <= set(api.ok("GET", "/")["paths"])
    assert api.refused("POST", "/version")[0] == 405
    assert api.refused("GET", "//api")[0] == 404


def test_the_version_says_what_it_emulates(api: Asking) -> None:
    found = api.ok("GET", "/version")
    fields = ("major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor")
    assert [found[field] for field in fields] == ["1", "36", "1", "36", "1", "35"]


def test_the_endpoints_of_the_core_group_are_deprecated(api: Asking) -> None:
    warning = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    path = "/api/v1/namespaces/default/endpoints"
    assert api.raw("GET", path).headers["Warning"] == warning
    # also when the request is refused
    refused = api.raw("POST", path, b'{"metadata": {}}')
    assert (refused.code, refused.headers["Warning"]) == (422, warning)


def test_a_changed_cluster_ip_is_refused_before_it_is_allocated(api: Asking) -> None:
    path = "/api/v1/namespaces/default/services"
    api.ok("POST", path, {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}})
    patch = {"spec": {"clusterIP": "1.2.3.4"}}
    message = api.refused("PATCH", f"{path}/web", patch, "application/merge-patch+json")[2]
    problem = 'spec.clusterIPs[0]: Invalid value: ["1.2.3.4"]: may not change once set'
    assert message == f'Service "web" is invalid: {problem}'


def test_a_version_that_does_not_exist_yet(api: Asking) -> None:
    assert api.refused("GET", MAPS, resourceVersion="999999")[:2] == (504, "Timeout")


def test_pages_are_of_one_moment(api: Asking) -> None:
    for number in range(7):
        put(api, f"m{number}")
    first = api.ok("GET", MAPS, limit="3")
    assert (names(first), first["metadata"]["remainingItemCount"]) == (["m0", "m1", "m2"], 4)
    put(api, "m3-late")
    api.ok("DELETE", f"{MAPS}/m5")
    second = api.ok("GET", MAPS, **{"limit": "3", "continue": first["metadata"]["continue"]})
    third = api.ok("GET", MAPS, **{"limit": "3", "continue": second["metadata"]["continue"]})
    assert (names(second), names(third)) == (["m3", "m4", "m5"], ["m6"])
    assert "continue" not in third["metadata"]
    assert first["metadata"]["resourceVersion"] == third["metadata"]["resourceVersion"]


def test_a_page_of_a_moment_that_is_forgotten(api: Asking) -> None:
    for number in range(3):
        put(api, f"m{number}")
    first = api.ok("GET", MAPS, limit="1")
    put(api, "late")
    api.server.registry.store.set_of("configmaps").forget_history()
    token, version = first["metadata"]["continue"], first["metadata"]["resourceVersion"]
    assert api.refused("GET", MAPS, **{"continue": token})[:2] == (410, "Expired")
    exact = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    assert api.refused("GET", MAPS, **exact)[:2] == (410, "Expired")


def test_a_list_of_an_earlier_moment(api: Asking) -> None:
    for number in range(3):
        put(api, f"m{number}")
    version = api.ok("GET", MAPS)["metadata"]["resourceVersion"]
    put(api, "m1-late")
    api.ok("PATCH", f"{MAPS}/m0", {"data": {"x": "1"}}, MERGE)
    api.ok("DELETE", f"{MAPS}/m1")
    api.ok("DELETE", f"{MAPS}/m1-late")
    found = api.ok("GET", MAPS, resourceVersion=version, resourceVersionMatch="Exact")
    assert (names(found), found["metadata"]["resourceVersion"]) == (["m0", "m1", "m2"], version)
    assert "data" not in found["items"][0]
    assert names(api.ok("GET", MAPS)) == ["m0", "m2"]


class TestWatching:
    def test_from_a_version_on(self, api: Asking) -> None:
        put(api, "a")
        version = api.ok("GET", MAPS)["metadata"]["resourceVersion"]
        put(api, "b")
        watch = api.watch(MAPS, resourceVersion=version)
        assert seen(watch) == [("ADDED", "b")]
        api.ok("PATCH", f"{MAPS}/a", {"data": {"x": "1"}}, MERGE)
        api.ok("DELETE", f"{MAPS}/b")
        put(api, "c", "other")
        assert seen(watch) == [("MODIFIED", "a"), ("DELETED", "b")]

    @pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}])
    def test_without_a_version_it_begins_with_what_is_there(self, api: Asking, query: dict[str, str]) -> None:
        put(api, "a")
        assert seen(api.watch(MAPS, **query)) == [("ADDED", "a")]

    def test_initial_events_end_with_a_bookmark(self, api: Asking) -> None:
        put(api, "a")
        watch = api.watch(
            MAPS, sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true"
        )
        (first, _), (second, mark) = events_of(watch)
        assert (first, second) == ("ADDED", "BOOKMARK")
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert mark["metadata"]["resourceVersion"] == api.ok("GET", MAPS)["metadata"]["resourceVersion"]

    def test_versions_rise_and_a_deletion_has_its_own(self, api: Asking) -> None:
        watch = api.watch(MAPS)
        put(api, "a")
        api.ok("PATCH", f"{MAPS}/a", {"data": {"x": "1"}}, MERGE)
        api.ok("DELETE", f"{MAPS}/a")
        versions = [int(obj["metadata"]["resourceVersion"]) for _, obj in events_of(watch)]
        assert versions == sorted(set(versions))
        assert len(versions) == 3

    def test_what_begins_or_ends_to_match_is_added_or_deleted(self, api: Asking) -> None:
        watch = api.watch(MAPS, labelSelector="on")
        put(api, "a")
        assert seen(watch) == []
        api.ok("PATCH", f"{MAPS}/a", {"metadata": {"labels": {"on": ""}}}, MERGE)
        assert seen(watch) == [("ADDED", "a")]
        changed = api.ok("PATCH", f"{MAPS}/a", {"metadata": {"labels": None}}, MERGE)
        ((kind, last),) = events_of(watch)
        assert (kind, last["metadata"]["labels"]) == ("DELETED", {"on": ""})
        assert last["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
        api.ok("DELETE", f"{MAPS}/a")
        assert seen(watch) == []

    def test_one_object_by_name(self, api: Asking) -> None:
        watch = api.watch("/api/v1/watch/namespaces/default/configmaps/a")
        put(api, "a")
        put(api, "b")
        assert seen(watch) == [("ADDED", "a")]

    def test_a_version_that_is_forgotten_is_an_error_event(self) -> None:
        api = with_namespaces(Asking(ApiServer(access=always_allow, seed=1, store=Store(5))))
        first = put(api, "a")
        for number in range(10):
            put(api, f"b{number}")
        watch = api.watch(MAPS, resourceVersion=first["metadata"]["resourceVersion"])  # type: ignore[index]
        ((kind, status),) = events_of(watch)
        assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")
        assert watch.ended

    def test_a_watch_that_has_ended_hears_no_more(self, api: Asking) -> None:
        watch = api.watch(MAPS)
        watch.end()
        put(api, "a")
        assert len(watch) == 0

    def test_a_change_is_encoded_once(self, api: Asking) -> None:
        watches = [api.watch(MAPS) for _ in range(3)]
        put(api, "a")
        assert len({id(watch._pieces[1]) for watch in watches}) == 1

    def test_bookmarks_are_for_those_who_want_them(self, api: Asking) -> None:
        wanted, unwanted = api.watch(MAPS, allowWatchBookmarks="true"), api.watch(MAPS)
        api.server.watching.bookmark()
        assert [kind for kind, _ in seen(wanted)] == ["BOOKMARK"]
        assert len(unwanted) == 0


def test_events_are_one_set_in_two_versions(api: Asking) -> None:
    watch = api.watch("/apis/events.k8s.io/v1/namespaces/default/events")
    about = {"kind": "Pod", "namespace": "default", "name": "p"}
    times = {"firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z"}
    old = {"metadata": {"name": "e"}, "involvedObject": about, "reason": "R", "message": "hello", "type": "Normal"}
    api.ok("POST", "/api/v1/namespaces/default/events", {**old, **times, "source": {"component": "me"}})
    new = api.ok("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e")
    assert (new["apiVersion"], new["note"], new["regarding"]) == ("events.k8s.io/v1", "hello", about)
    ((_, told),) = events_of(watch)
    assert told == new
    changed = api.ok("PATCH", "/api/v1/namespaces/default/events/e", {"message": "hello again"}, MERGE)
    assert changed["message"] == "hello again"
    assert api.ok("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e")["note"] == "hello again"


def rewrite(api: Asking, times: int) -> None:
    """Change an object of some hundred bytes."""
    for number in range(times):
        api.ok("PATCH", f"{MAPS}/a", {"data": {"text": f"{number:0300}"}}, MERGE)


def test_history_is_bounded_by_bytes_as_well(api: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched_controlplane.storage.store.HISTORY_BYTES", 3000)
    before = str(put(api, "a")["metadata"]["resourceVersion"])  # type: ignore[index]
    rewrite(api, 20)
    (kind, status), *others = events_of(api.watch(MAPS, resourceVersion=before))
    assert (kind, status["code"], others) == ("ERROR", 410, [])
    objects = api.server.registry.store.set_of("configmaps")
    assert 1 < len(objects.since(objects.forgotten)) <= 3000 // 300
    latest = str(api.ok("GET", f"{MAPS}/a")["metadata"]["resourceVersion"])
    watch = api.watch(MAPS, resourceVersion=latest)
    rewrite(api, 1)
    assert seen(watch) == [("MODIFIED", "a")]


def test_a_watch_that_nobody_reads_is_bounded_by_bytes(api: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    put(api, "a")
    rewrite(api, 1)
    monkeypatch.setattr("kubesched_controlplane.server.verbs.watching.MOST_BYTES_BEHIND", 3000)
    watch = api.watch(MAPS)
    watch.take()
    rewrite(api, 5)
    assert (watch.ended, len(watch)) == (False, 4)
    watch.take()
    rewrite(api, 20)
    assert (watch.ended, len(watch)) == (True, 0)


def test_what_a_watch_begins_with_does_not_count(api: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        put(api, f"a{number}", text="x" * 60)
    monkeypatch.setattr("kubesched_controlplane.server.verbs.watching.MOST_BYTES_BEHIND", 3000)
    watch = api.watch(MAPS)
    put(api, "b")
    assert (watch.ended, len(watch)) == (False, 31)
    assert len(seen(watch)) == 31


def test_lines_are_taken_up_to_a_number_of_bytes_and_at_least_one(api: Asking) -> None:
    put(api, "a")
    watch = api.watch(MAPS)
    watch.take()
    rewrite(api, 6)
    assert watch.take(500, 1).count(b"\n") == 1
    assert 1 < watch.take(500, 1000).count(b"\n") < 5
    assert watch.take(1).count(b"\n") == 1


def test_yaml_takes_no_more_values_than_can_be_read_at_once(api: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"metadata: {name: a}\ndata:\n" + b"".join(b"  k%d: v\n" % number for number in range(100))
    for module in ("representation.negotiation", "server.verbs.server_side_apply"):
        monkeypatch.setattr(f"kubesched_controlplane.{module}.MOST_YAML_NODES", 50)
    for method, path, kind in (
        ("POST", MAPS, "application/yaml"),
        ("PATCH", f"{MAPS}/a", "application/apply-patch+yaml"),
    ):
        request = Request(method, path, {"fieldManager": ["t"]}, {"content-type": kind}, body, api.user)
        answer = api.server.handle(request)
        assert isinstance(answer, Response)
        assert answer.code == 400
        assert b"more than 50 values; send so many as JSON" in b"".join(answer.chunks)
