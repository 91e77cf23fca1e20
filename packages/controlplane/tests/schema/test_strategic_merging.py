"""Strategic merge patches: how maps and lists of a shape merge, and what directives do."""

from typing import Any

import pytest

from kubesched_controlplane.schema import Schemas
from kubesched_controlplane.schema.merging import ListOfListsError, MergeError, strategic_merge

Document = dict[str, Any]
POD: Document = {
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"a": "b"}, "finalizers": ["x.y/one", "x.y/two"]},
    "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}], "nodeSelector": {"k": "v"}},
}


def merged(document: Document, patch: Any, kind: str = "Pod", api_version: str = "v1") -> Document:
    shape = Schemas().for_kind(api_version, kind)
    assert shape is not None
    before = repr((document, patch))
    found = strategic_merge(shape, document, patch)
    assert repr((document, patch)) == before, "neither is changed"
    return found


def at(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        document = document[int(step) if isinstance(document, list) else step]
    return document


@pytest.mark.parametrize(
    ("what", "patch", "pointer", "expected"),
    [
        ("merges maps", {"metadata": {"labels": {"a": None, "q": "r"}}}, "/metadata/labels", {"q": "r"}),
        (
            "merges lists by key",
            {"spec": {"containers": [{"name": "d", "image": "n"}]}},
            "/spec/containers",
            [{"name": "c", "image": "i"}, {"name": "d", "image": "n"}],
        ),
        (
            "puts what is new before what was there",
            {"spec": {"containers": [{"name": "z"}]}},
            "/spec/containers/0/name",
            "z",
        ),
        (
            "merges lists within",
            {"spec": {"containers": [{"name": "c", "env": [{"name": "E", "value": "1"}], "image": None}]}},
            "/spec/containers/0",
            {"name": "c", "env": [{"name": "E", "value": "1"}]},
        ),
        (
            "removes an element",
            {"spec": {"containers": [{"name": "c", "$patch": "delete"}]}},
            "/spec/containers",
            [{"name": "d", "image": "j"}],
        ),
        (
            "replaces a list",
            {"spec": {"containers": [{"name": "z"}, {"$patch": "replace"}]}},
            "/spec/containers",
            [{"name": "z"}],
        ),
        (
            "replaces a map",
            {"metadata": {"labels": {"$patch": "replace", "n": "m"}}},
            "/metadata/labels",
            {"n": "m"},
        ),
        (
            "removes a map",
            {"spec": {"nodeSelector": {"$patch": "delete"}}},
            "/spec/nodeSelector",
            {},
        ),
        (
            "adds to a set",
            {"metadata": {"finalizers": ["x.y/new", "x.y/one"]}},
            "/metadata/finalizers",
            ["x.y/new", "x.y/one", "x.y/two"],
        ),
        (
            "takes from a set",
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x.y/one", "no"]}},
            "/metadata/finalizers",
            ["x.y/two"],
        ),
        (
            "puts a set in order",
            {"metadata": {"$setElementOrder/finalizers": ["x.y/two", "x.y/one"]}},
            "/metadata/finalizers",
            ["x.y/two", "x.y/one"],
        ),
        (
            "puts a list in order while merging it",
            {
                "spec": {
                    "$setElementOrder/containers": [{"name": "d"}, {"name": "c"}],
                    "containers": [{"name": "c", "image": "n"}],
                }
            },
            "/spec/containers",
            [{"name": "d", "image": "j"}, {"name": "c", "image": "n"}],
        ),
        (
            "replaces lists that are one",
            {"spec": {"tolerations": [{"key": "z"}]}},
            "/spec/tolerations",
            [{"key": "z"}],
        ),
        ("may be empty", {}, "/metadata/name", "p"),
        (
            "leaves nulls and directives out of what is new",
            {"spec": {"affinity": {"nodeAffinity": None, "podAffinity": {"$patch": "delete"}, "podAntiAffinity": {}}}},
            "/spec/affinity",
            {"podAntiAffinity": {}},
        ),
        ("takes another type as it is", {"spec": {"containers": {"a": 1}}}, "/spec/containers", {"a": 1}),
    ],
)
def test_a_strategic_merge_patch(what: str, patch: Any, pointer: str, expected: Any) -> None:
    assert at(merged(POD, patch), pointer) == expected, what


def test_fields_to_retain() -> None:
    pod = {"spec": {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]}}
    volume = {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}
    assert merged(pod, {"spec": {"volumes": [volume]}})["spec"]["volumes"] == [
        {"name": "v", "hostPath": {"path": "/"}},
        {"name": "w", "emptyDir": {}},
    ]


def test_conditions_merge_by_type_and_claims_by_uid() -> None:
    status = {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "True", "reason": "r"}]}
    found = merged({"status": status}, {"status": {"conditions": [{"type": "B", "status": "False"}]}})
    assert found["status"]["conditions"] == [
        {"type": "A", "status": "True"},
        {"type": "B", "status": "False", "reason": "r"},
    ]
    users = [{"resource": "pods", "name": name, "uid": name} for name in "ab"]
    claim: Document = {"status": {"reservedFor": users}}
    gone = {"status": {"reservedFor": [{"uid": "a", "$patch": "delete"}]}}
    assert merged(claim, gone, "ResourceClaim", "resource.k8s.io/v1") == {"status": {"reservedFor": users[1:]}}


def test_a_selector_that_is_replaced() -> None:
    budget: Document = {"spec": {"selector": {"matchLabels": {"a": "1"}}}}
    patch = {"spec": {"selector": {"matchLabels": {"b": "2"}}}}
    assert merged(budget, patch, "PodDisruptionBudget", "policy/v1") == patch


@pytest.mark.parametrize(
    ("what", "patch", "message"),
    [
        (
            "an element without its key",
            {"spec": {"containers": [{"image": "z"}]}},
            "map: map[image:z] does not contain declared merge key: name",
        ),
        (
            "elements of other types",
            {"metadata": {"finalizers": [1, None, ["x"]]}},
            "list element types are not identical: [[x.y/one x.y/two] [1 <nil> [x]]]",
        ),
        (
            "an unknown directive",
            {"spec": {"$patch": "foo", "b": True, "a": 1.5}},
            "unknown patch type: foo in map: map[$patch:foo a:1.5 b:true]",
        ),
        (
            "an unknown directive in a list",
            {"spec": {"containers": [{"name": "c", "$patch": "foo"}]}},
            "unknown patch type: foo in map: map[$patch:foo name:c]",
        ),
        (
            "a directive that lists do not have",
            {"spec": {"containers": [{"name": "c", "$patch": "merge"}]}},
            "merging lists cannot yet be specified in the patch",
        ),
        ("retaining no list", {"spec": {"$retainKeys": "x"}}, "invalid patch format of retainKeys"),
        (
            "changing what is not retained",
            {"spec": {"$retainKeys": ["x"], "containers": []}},
            "invalid patch format of retainKeys",
        ),
        (
            "deleting from nowhere",
            {"metadata": {"$deleteFromPrimitiveList": []}},
            "invalid patch format of primitive list",
        ),
        ("ordering nothing", {"metadata": {"$setElementOrder": []}}, "invalid patch format of setElementOrder list"),
        (
            "ordering what does not exist",
            {"metadata": {"$setElementOrder/nope": []}},
            'unable to find api field in struct ObjectMeta for the json field "nope"',
        ),
        (
            "ordering a map",
            {"metadata": {"$setElementOrder/labels": []}},
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            "an order that is not kept",
            {"spec": {"$setElementOrder/containers": [{"name": "d"}], "containers": [{"name": "c"}]}},
            "The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n[map[name:d]]\n",
        ),
    ],
)
def test_patches_that_cannot_be_merged(what: str, patch: Any, message: str) -> None:
    with pytest.raises(MergeError) as caught:
        merged(POD, patch)
    assert str(caught.value) == message, what


def test_lists_of_lists_have_no_strategy() -> None:
    with pytest.raises(ListOfListsError):
        merged({"metadata": {"finalizers": []}}, {"metadata": {"finalizers": [["x"]]}})


@pytest.mark.parametrize(
    ("what", "document", "patch", "message"),
    [
        (
            "an order of nothing",
            {"metadata": {"finalizers": []}},
            {"metadata": {"$setElementOrder/finalizers": ["a"]}},
            "no elements in any of the given slices",
        ),
        (
            "objects where texts should be",
            {"metadata": {"labels": {"a": {}}}},
            {"metadata": {"labels": {"a": {}}}},
            "merging an object in json but data type is not struct, instead is: map",
        ),
        (
            "an object where a list should be",
            {"metadata": {"finalizers": {"a": {}}}},
            {"metadata": {"finalizers": {"a": {}}}},
            "merging an object in json but data type is not struct, instead is: slice",
        ),
        (
            "a list where an object should be",
            {"spec": []},
            {"spec": []},
            "expected slice or array type, but got: struct",
        ),
    ],
)
def test_what_has_no_strategy(what: str, document: Document, patch: Document, message: str) -> None:
    with pytest.raises(MergeError) as caught:
        merged(document, patch)
    assert str(caught.value) == message, what
