"""Server-side apply: who owns which fields, what is taken away, and what is a conflict.

What is expected here is what kube-apiserver v1.36.4 answers to the same requests, but for what is said to differ.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.support.api import Asking, Document

MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SERVICES = "/api/v1/namespaces/default/services"
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"


@pytest.fixture
def api() -> Asking:
    asking = Asking()
    asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    return asking


def a_map(data: Document | None = None, **meta: object) -> Document:
    found: Document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", **meta}}
    return found if data is None else {**found, "data": data}


def a_deployment(*containers: Document, **spec: object) -> Document:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": list(containers)}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


def some_containers(*containers: Document) -> Document:
    """Return a configuration that says something about containers and nothing else."""
    template = {"spec": {"containers": list(containers)}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": template}}


def owned(document: Document) -> dict[str, set[str]]:
    """Return what everybody owns, by name; the name of a subresource stands behind it."""
    found: dict[str, set[str]] = {}
    for entry in document["metadata"].get("managedFields", ()):
        assert entry["fieldsType"] == "FieldsV1"
        where = f" {entry['subresource']}" if "subresource" in entry else ""
        found[f"{entry['manager']} {entry['operation']}{where}"] = set(_paths(entry["fieldsV1"], ""))
    return found


def _paths(fields: Document, start: str) -> Iterator[str]:
    for key, below in fields.items():
        if key == ".":
            continue
        path = f"{start}.{key[2:]}" if key.startswith("f:") else f"{start}[{key[2:]}]"
        if not below or "." in below:
            yield path.removeprefix(".")
        yield from _paths(below, path)


class Step(NamedTuple):
    """What somebody does to a config map."""

    who: str
    data: Any
    how: str = "apply"
    meta: Document | None = None


def take(api: Asking, step: Step) -> Document:
    """Do something to a config map; return it."""
    match step.how:
        case "apply" | "force":
            options = {"force": "true"} if step.how == "force" else {}
            return api.ok(
                "PATCH", f"{MAPS}/m", a_map(step.data, **(step.meta or {})), APPLY, fieldManager=step.who, **options
            )
        case "create":
            return api.ok("POST", MAPS, a_map(step.data, **(step.meta or {})), fieldManager=step.who)
        case "put":
            return api.ok("PUT", f"{MAPS}/m", a_map(step.data, **(step.meta or {})), fieldManager=step.who)
        case _:
            change = {"data": step.data, **({"metadata": step.meta} if step.meta else {})}
            return api.ok("PATCH", f"{MAPS}/m", change, MERGE, fieldManager=step.who)


ONE = Step("one", {"x": "1", "y": "2"})
STORIES: list[tuple[str, list[Step], Document, dict[str, set[str]]]] = [
    ("whoever applies creates", [ONE], {"x": "1", "y": "2"}, {"one Apply": {"data.x", "data.y"}}),
    ("the same once more changes nothing", [ONE, ONE], {"x": "1", "y": "2"}, {"one Apply": {"data.x", "data.y"}}),
    (
        "who wants the same owns it, too",
        [ONE, Step("two", {"x": "1"})],
        {"x": "1", "y": "2"},
        {"one Apply": {"data.x", "data.y"}, "two Apply": {"data.x"}},
    ),
    (
        "what its only owner no longer says is gone",
        [ONE, Step("one", {"x": "1"})],
        {"x": "1"},
        {"one Apply": {"data.x"}},
    ),
    (
        "what another owns, too, stays",
        [ONE, Step("two", {"y": "2"}), Step("one", {"x": "1"})],
        {"x": "1", "y": "2"},
        {"one Apply": {"data.x"}, "two Apply": {"data.y"}},
    ),
    (
        "force takes a field",
        [ONE, Step("two", {"x": "9"}, "force")],
        {"x": "9", "y": "2"},
        {"one Apply": {"data.y"}, "two Apply": {"data.x"}},
    ),
    (
        "what was taken by force does not come back when its first owner says it no more",
        [ONE, Step("two", {"x": "9"}, "force"), Step("one", {"y": "2"})],
        {"x": "9", "y": "2"},
        {"one Apply": {"data.y"}, "two Apply": {"data.x"}},
    ),
    (
        "whoever creates owns what he says, and the levels that lead there",
        [Step("maker", {"x": "1"}, "create")],
        {"x": "1"},
        {"maker Update": {"data", "data.x"}},
    ),
    (
        "an update takes what it changes, without asking",
        [ONE, Step("putter", {"x": "1", "y": "3", "z": "4"}, "put")],
        {"x": "1", "y": "3", "z": "4"},
        {"one Apply": {"data.x"}, "putter Update": {"data.y", "data.z"}},
    ),
    (
        "what an update removes nobody owns",
        [ONE, Step("putter", {"y": "2"}, "put")],
        {"y": "2"},
        {"one Apply": {"data.y"}},
    ),
    (
        "a patch owns what it changes, and not what it only repeats",
        [ONE, Step("patcher", {"x": "1", "y": None, "z": "3"}, "merge")],
        {"x": "1", "z": "3"},
        {"one Apply": {"data.x"}, "patcher Update": {"data.z"}},
    ),
    (
        "what somebody gives up and an updater has stays",
        [ONE, Step("patcher", {"y": "3"}, "merge"), Step("one", {"x": "1"})],
        {"x": "1", "y": "3"},
        {"one Apply": {"data.x"}, "patcher Update": {"data.y"}},
    ),
    (
        "null is a value that somebody may want",
        [Step("one", {"x": "1", "y": None})],
        {"x": "1", "y": ""},
        {"one Apply": {"data.x", "data.y"}},
    ),
    (
        "the last owner of nothing leaves no trace",
        [ONE, Step("two", {"x": "1", "y": "2"}), Step("one", None)],
        {"x": "1", "y": "2"},
        {"two Apply": {"data.x", "data.y"}},
    ),
]


@pytest.mark.parametrize(("story", "steps", "data", "owners"), STORIES, ids=[story[0] for story in STORIES])
def test_stories(api: Asking, story: str, steps: list[Step], data: Document, owners: dict[str, set[str]]) -> None:
    for step in steps:
        found = take(api, step)
    assert found["data"] == data
    assert owned(found) == owners
    assert api.ok("GET", f"{MAPS}/m") == found


def test_what_changes_nothing_leaves_version_and_times_alone(api: Asking) -> None:
    first = take(api, ONE)
    assert take(api, ONE) == first
    # another owner is news, though no field has changed
    second = take(api, Step("two", {"x": "1"}))
    assert second["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]


# -- conflicts


def test_a_conflict_names_the_owner_and_the_field(api: Asking) -> None:
    take(api, ONE)
    code, status = api.ask("PATCH", f"{MAPS}/m", a_map({"y": "9"}), APPLY, fieldManager="two")
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.y'
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.y"}
    assert status["details"] == {"causes": [cause]}
    assert api.ok("GET", f"{MAPS}/m")["data"] == {"x": "1", "y": "2"}


def test_several_conflicts_are_told_by_owner(api: Asking) -> None:
    take(api, ONE)
    take(api, Step("two", {"x": "1"}))
    take(api, Step("editor", {"z": "1"}, "merge"))
    wanted = a_map({"x": "9", "y": "9", "z": "9"})
    code, _, message = api.refused("PATCH", f"{MAPS}/m", wanted, APPLY, fieldManager="three")
    assert code == 409
    assert message == (
        'Apply failed with 4 conflicts: conflicts with "editor" using v1:\n- .data.z\n'
        'conflicts with "one":\n- .data.x\n- .data.y\nconflicts with "two":\n- .data.x'
    )


def test_elements_of_lists_are_named_by_their_keys(api: Asking) -> None:
    container = {"name": "c", "image": "x", "ports": [{"containerPort": 80}]}
    api.ok("PATCH", f"{DEPLOYMENTS}/d", a_deployment(container), APPLY, fieldManager="one")
    wanted = some_containers({"name": "c", "image": "y", "ports": [{"containerPort": 80, "name": "web"}]})
    _, _, message = api.refused("PATCH", f"{DEPLOYMENTS}/d", wanted, APPLY, fieldManager="two")
    assert message.endswith('conflict with "one": .spec.template.spec.containers[name="c"].image')


# -- lists


def test_elements_of_a_list_belong_to_those_who_want_them(api: Asking) -> None:
    main, side = {"name": "c", "image": "x"}, {"name": "side", "image": "s"}
    api.ok("PATCH", f"{DEPLOYMENTS}/d", a_deployment(main), APPLY, fieldManager="ci")
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d", some_containers(side), APPLY, fieldManager="mesh")
    assert [each["name"] for each in found["spec"]["template"]["spec"]["containers"]] == ["c", "side"]
    start = 'spec.template.spec.containers[{"name":"side"}]'
    assert owned(found)["mesh Apply"] == {start, f"{start}.image", f"{start}.name"}
    # whoever does not speak of an element leaves it alone, and takes only his own away
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d", a_deployment(main), APPLY, fieldManager="ci")
    assert len(found["spec"]["template"]["spec"]["containers"]) == 2
    nothing = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d", nothing, APPLY, fieldManager="mesh")
    assert [each["name"] for each in found["spec"]["template"]["spec"]["containers"]] == ["c"]
    assert set(owned(found)) == {"ci Apply"}


ORDERS = [
    ("new ones come at the end", "ab", "cd", "abcd"),
    ("those that are wanted come in the order in which they are", "abc", "ca", "bca"),
    ("those that are not spoken of come before those that they came before", "abcd", "db", "acdb"),
    ("new ones come where they are wanted", "abc", "axc", "abxc"),
]


@pytest.mark.parametrize(("why", "first", "second", "order"), ORDERS, ids=[each[0] for each in ORDERS])
def test_the_order_of_elements(api: Asking, why: str, first: str, second: str, order: str) -> None:
    del why
    api.ok("PATCH", f"{DEPLOYMENTS}/d", a_deployment(*map(_container, first)), APPLY, fieldManager="one")
    wanted = some_containers(*map(_container, second))
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d", wanted, APPLY, fieldManager="two")
    assert "".join(each["name"] for each in found["spec"]["template"]["spec"]["containers"]) == order


def _container(name: str) -> Document:
    return {"name": name, "image": "i"}


def test_sets_are_united(api: Asking) -> None:
    take(api, Step("one", None, meta={"finalizers": ["x/a", "x/b"]}))
    found = take(api, Step("two", None, meta={"finalizers": ["x/c"]}))
    assert found["metadata"]["finalizers"] == ["x/a", "x/b", "x/c"]
    found = take(api, Step("one", None, meta={"finalizers": ["x/b"]}))
    assert found["metadata"]["finalizers"] == ["x/b", "x/c"]
    assert owned(found)["two Apply"] == {'metadata.finalizers["x/c"]'}


def test_atomic_parts_have_one_owner(api: Asking) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    spec = {"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]}
    found = api.ok("PATCH", f"{SERVICES}/s", {**service, "spec": spec}, APPLY, fieldManager="one")
    assert "spec.selector" in owned(found)["one Apply"]
    wanted = {**service, "spec": {"selector": {"a": "b", "c": "d"}}}
    assert api.refused("PATCH", f"{SERVICES}/s", wanted, APPLY, fieldManager="two")[2].endswith(": .spec.selector")
    # a key that is left out is what it is by default
    assert any('"protocol":"TCP"' in path for path in owned(found)["one Apply"])


# -- other ways to write


def test_scaling_owns_the_number_of_replicas(api: Asking) -> None:
    api.ok("PATCH", f"{DEPLOYMENTS}/d", a_deployment(_container("c"), replicas=2), APPLY, fieldManager="ci")
    api.ok("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 5}}, MERGE, fieldManager="hpa")
    found = api.ok("GET", f"{DEPLOYMENTS}/d")
    assert owned(found)["hpa Update scale"] == {"spec.replicas"}
    wanted = a_deployment(_container("c"), replicas=3)
    _, _, message = api.refused("PATCH", f"{DEPLOYMENTS}/d", wanted, APPLY, fieldManager="ci")
    assert message == (
        'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas'
    )
    # whoever no longer speaks of it leaves it to others
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d", a_deployment(_container("c")), APPLY, fieldManager="ci")
    assert found["spec"]["replicas"] == 5


def test_a_scale_can_be_applied(api: Asking) -> None:
    api.ok("POST", DEPLOYMENTS, a_deployment(_container("c"), replicas=2), fieldManager="maker")
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 4}}
    assert api.refused("PATCH", f"{DEPLOYMENTS}/d/scale", scale, APPLY, fieldManager="hpa")[0] == 409
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d/scale", scale, APPLY, fieldManager="hpa", force="true")
    assert (found["kind"], found["spec"]["replicas"]) == ("Scale", 4)
    assert owned(api.ok("GET", f"{DEPLOYMENTS}/d"))["hpa Apply scale"] == {"spec.replicas"}


def test_the_status_has_owners_of_its_own(api: Asking) -> None:
    api.ok("PATCH", f"{DEPLOYMENTS}/d", a_deployment(_container("c")), APPLY, fieldManager="ci")
    said: Document = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    status = {"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]}
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d/status", {**said, "status": status}, APPLY, fieldManager="ctl")
    condition = 'status.conditions[{"type":"Available"}]'
    expected = {"status.replicas", condition, f"{condition}.status", f"{condition}.type"}
    assert owned(found)["ctl Apply status"] == expected
    # on the path of the object it is neither written nor owned
    found = api.ok("PATCH", f"{DEPLOYMENTS}/d", {**said, "status": {"replicas": 7}}, APPLY, fieldManager="other")
    assert found["status"]["replicas"] == 1
    assert "other Apply" not in owned(found)
    wanted = {**said, "status": {"replicas": 2}}
    _, _, message = api.refused("PATCH", f"{DEPLOYMENTS}/d/status", wanted, APPLY, fieldManager="other")
    assert message.endswith('conflict with "ctl" with subresource "status": .status.replicas')
    gone = {**wanted, "metadata": {"name": "none"}}
    assert api.refused("PATCH", f"{DEPLOYMENTS}/none/status", gone, APPLY, fieldManager="x")[0] == 404


def test_a_binding_is_nobodys(api: Asking) -> None:
    pods = "/api/v1/namespaces/default/pods"
    api.ok("POST", pods, {"metadata": {"name": "p"}, "spec": {"containers": [_container("c")]}}, fieldManager="me")
    before = owned(api.ok("GET", f"{pods}/p"))
    assert not before["me Update"] & {"spec.tolerations", "spec.priority", "spec.nodeName", "status", "metadata.uid"}
    api.ok("POST", f"{pods}/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}})
    found = api.ok("GET", f"{pods}/p")
    assert found["spec"]["nodeName"] == "n"
    assert owned(found) == before


def test_a_program_is_known_by_its_name(api: Asking) -> None:
    found = api.ok("POST", MAPS, a_map({"a": "b"}))
    assert set(owned(found)) == {"unknown Update"}


def test_the_oldest_of_many_updaters_become_one(api: Asking) -> None:
    take(api, Step("m00", {"k0": "1"}, "create"))
    for number in range(1, 12):
        found = take(api, Step(f"m{number:02}", {f"k{number}": "1"}, "merge"))
    owners = owned(found)
    assert len(owners) == 10
    assert {"data.k0", "data.k1", "data.k2"} <= owners["ancient-changes Update"]


# -- owners that clients write


def test_owners_can_be_reset_and_what_was_there_is_then_nobodys(api: Asking) -> None:
    take(api, ONE)
    found = api.ok("PATCH", f"{MAPS}/m", {"metadata": {"managedFields": [{}]}}, MERGE)
    assert "managedFields" not in found["metadata"]
    found = take(api, Step("later", {"z": "1"}, "merge"))
    assert owned(found) == {}, "nobody is noted until somebody applies"
    found = take(api, Step("two", {"x": "1"}))
    assert owned(found) == {
        "before-first-apply Update": {"data", "data.x", "data.y", "data.z"},
        "two Apply": {"data.x"},
    }


def test_owners_can_be_handed_over_as_kubectl_does(api: Asking) -> None:
    made = take(api, Step("old", {"x": "1"}, "create"))
    entry = {**made["metadata"]["managedFields"][0], "manager": "new", "operation": "Apply"}
    change = [
        {"op": "replace", "path": "/metadata/managedFields", "value": [entry]},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": made["metadata"]["resourceVersion"]},
    ]
    found = api.ok("PATCH", f"{MAPS}/m", change, JSON_PATCH)
    assert owned(found) == {"new Apply": {"data", "data.x"}}
    found = take(api, Step("new", {"y": "1"}))
    assert found["data"] == {"y": "1"}, "what it was given it can give up"


NONSENSE = [
    ("an entry without fields", [{"manager": "x"}]),
    ("an operation that does not exist", [{"manager": "x", "operation": "Steal", "apiVersion": "v1"}]),
    ("fields of no type", [{"operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {}}}]),
    (
        "fields that are none",
        [{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"nonsense": {}}}],
    ),
    (
        "keys that are no JSON",
        [{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"k:{": {}}}],
    ),
]


@pytest.mark.parametrize(("why", "entries"), NONSENSE, ids=[each[0] for each in NONSENSE])
def test_nonsense_about_owners_changes_nothing(api: Asking, why: str, entries: list[Document]) -> None:
    del why
    made = take(api, ONE)
    made["metadata"]["managedFields"] = entries
    found = api.ok("PUT", f"{MAPS}/m", made, fieldManager="me")
    assert owned(found) == {"one Apply": {"data.x", "data.y"}}


def test_a_client_that_writes_back_what_it_read_changes_nothing(api: Asking) -> None:
    made = take(api, ONE)
    assert api.ok("PUT", f"{MAPS}/m", made, fieldManager="me") == made
    without = {**made, "metadata": {key: value for key, value in made["metadata"].items() if key != "managedFields"}}
    assert api.ok("PUT", f"{MAPS}/m", without, fieldManager="me") == made


# -- from kubectl's own apply to the server's


def test_kubectl_takes_over_what_it_applied_by_itself(api: Asking) -> None:
    last = "kubectl.kubernetes.io/last-applied-configuration"
    said = msgspec.json.encode(a_map({"x": "1", "y": "1"})).decode()
    take(api, Step("kubectl-client-side-apply", {"x": "1", "y": "1"}, "create", {"annotations": {last: said}}))
    found = take(api, Step("kubectl", {"x": "2"}))
    assert found["data"] == {"x": "2", "y": "1"}
    assert msgspec.json.decode(found["metadata"]["annotations"][last]) == a_map({"x": "2"})
    # what somebody else has changed since is a conflict again
    take(api, Step("kubectl-edit", {"y": "5"}, "merge"))
    code, _, message = api.refused("PATCH", f"{MAPS}/m", a_map({"x": "3", "y": "6"}), APPLY, fieldManager="kubectl")
    assert (code, message.partition(": ")[2]) == (409, 'conflict with "kubectl-edit" using v1: .data.y')


GARBAGE = [
    "",
    "{",
    "[]",
    "{}",
    '{"apiVersion": "v1"}',
    '{"apiVersion": "v1", "metadata": {"finalizers": 5}, "data": []}',
]


@pytest.mark.parametrize("said", GARBAGE)
def test_what_kubectl_is_said_to_have_applied_may_be_nonsense(api: Asking, said: str) -> None:
    last = "kubectl.kubernetes.io/last-applied-configuration"
    meta = {"annotations": {last: said}, "finalizers": ["x/a"]}
    take(api, Step("maker", {"x": "1"}, "create", meta))
    assert api.refused("PATCH", f"{MAPS}/m", a_map({"x": "2"}), APPLY, fieldManager="kubectl")[0] == 409
    assert take(api, Step("kubectl", {"y": "2"}))["data"] == {"x": "1", "y": "2"}


# -- what is refused


def test_a_dry_run_shows_what_would_be(api: Asking) -> None:
    found = api.ok("PATCH", f"{MAPS}/m", a_map({"x": "1"}), APPLY, fieldManager="one", dryRun="All")
    assert owned(found) == {"one Apply": {"data.x"}}
    assert api.ask("GET", f"{MAPS}/m")[0] == 404


REFUSALS: list[tuple[str, Any, dict[str, str], tuple[int, str]]] = [
    (
        "nobody",
        a_map({}),
        {},
        (422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'),
    ),
    ("another kind", {"apiVersion": "v1", "kind": "Secret"}, {}, (400, "invalid object type: /v1, Kind=Secret")),
    ("no kind", {"data": {}}, {}, (400, "invalid object type: /, Kind=")),
    ("owners", a_map({}, managedFields=[]), {}, (400, "metadata.managedFields must be nil")),
    (
        "a field that does not exist",
        {**a_map({}), "nope": 1},
        {},
        (400, "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .nope: field not declared in schema"),
    ),
    (
        "a number for a text",
        a_map({"x": 1}),
        {},
        (
            400,
            "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .data.x: expected string, "
            "got &value.valueUnstructured{Value:1}",
        ),
    ),
    (
        "a list for a map",
        {**a_map(), "data": ["x"]},
        {},
        (400, "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .data: expected map, got &{[x]}"),
    ),
    (
        "an element of a set twice",
        a_map({}, finalizers=["x/b", "x/b"]),
        {},
        (
            400,
            "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .metadata.finalizers: duplicate entries "
            'for key [="x/b"]',
        ),
    ),
    (
        "another name",
        {**a_map({}), "metadata": {"name": "other"}},
        {},
        (400, "the name of the object (other) does not match the name on the URL (m)"),
    ),
    (
        "no name for what does not exist",
        {"apiVersion": "v1", "kind": "ConfigMap"},
        {},
        (400, "the name of the object (m based on URL) was undeterminable: name must be provided"),
    ),
    (
        "the UID of something that does not exist",
        a_map({}, uid="u"),
        {},
        (
            409,
            'Operation cannot be fulfilled on configmaps "m": uid mismatch: the provided object specified uid u, and '
            "no existing object was found",
        ),
    ),
    (
        "something that is not valid",
        a_map({"a b": "c"}),
        {},
        (422, 'ConfigMap "m" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of'),
    ),
]


@pytest.mark.parametrize(("what", "config", "query", "answer"), REFUSALS, ids=[each[0] for each in REFUSALS])
def test_refusals(api: Asking, what: str, config: Any, query: dict[str, str], answer: tuple[int, str]) -> None:
    manager = {} if what == "nobody" else {"fieldManager": "one"}
    code, _, message = api.refused("PATCH", f"{MAPS}/m", config, APPLY, **manager, **query)
    assert (code, message[: len(answer[1])]) == answer
    assert api.ask("GET", f"{MAPS}/m")[0] == 404


BODIES = [b"{", b"[]", b'"x"', b"a: b: c", b"\xff\xfe", b"", b"- x", b"a: &a [*a]", b"{}", b"null", b"[" * 1000]


@pytest.mark.parametrize("body", BODIES)
def test_bodies_that_are_no_configuration(api: Asking, body: bytes) -> None:
    assert api.raw("PATCH", f"{MAPS}/m", body, APPLY, fieldManager="one").code == 400


def test_yaml_is_understood(api: Asking) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  x: 'yes'\n"
    assert api.raw("PATCH", f"{MAPS}/m", body, APPLY, fieldManager="one").document()["data"] == {"x": "yes"}


@pytest.mark.parametrize("form", ["application/apply-patch+cbor", "application/apply-patch+json", "text/plain", ""])
def test_other_forms_are_refused(api: Asking, form: str) -> None:
    code, reason, message = api.refused("PATCH", f"{MAPS}/m", a_map({}), form, fieldManager="one")
    assert (code, reason, message) == (415, "UnsupportedMediaType", "415: Unsupported Media Type")


def test_force_is_for_those_who_apply(api: Asking) -> None:
    take(api, ONE)
    code, _, message = api.refused("PATCH", f"{MAPS}/m", {}, MERGE, force="true")
    assert (code, "may not be specified for non-apply patch" in message) == (422, True)


WRONG: list[Any] = [None, 1, "text", [], {}, [None], [[]], {"a": None}, True, 1e300, -(2**70)]


@pytest.mark.parametrize("field", ["metadata", "data", "immutable", "binaryData"])
@pytest.mark.parametrize("value", WRONG)
def test_damaged_configurations_get_an_answer(api: Asking, field: str, value: Any) -> None:
    take(api, ONE)
    code, _ = api.ask("PATCH", f"{MAPS}/m", {**a_map({"z": "1"}), field: value}, APPLY, fieldManager="two")
    assert code in (200, 400, 422)
    assert api.ok("GET", f"{MAPS}/m")["data"]["x"] == "1"


@pytest.mark.parametrize("value", WRONG)
def test_damaged_lists_get_an_answer(api: Asking, value: Any) -> None:
    for config in (a_deployment(value), some_containers({"name": "c", "ports": value}), a_deployment({"name": value})):
        assert api.ask("PATCH", f"{DEPLOYMENTS}/d", config, APPLY, fieldManager="two")[0] in (200, 400, 422)
