"""JSON Patches between documents."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.json_patch import json_patched
from kubesched_answers.remedies.patches import patch_of, pointer

PATCHES: dict[str, tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]] = {
    "a list that was empty is added as a whole": (
        {"spec": {}},
        {"spec": {"tolerations": [{"key": "a"}]}},
        [{"op": "add", "path": "/spec/tolerations", "value": [{"key": "a"}]}],
    ),
    "what is appended comes at the end": (
        {"taints": [1]},
        {"taints": [1, 2]},
        [{"op": "add", "path": "/taints/-", "value": 2}],
    ),
    "entries are removed from the end, each if it is still at its index": (
        {"taints": [1, 2, 3]},
        {"taints": [2]},
        [
            {"op": "test", "path": "/taints/2", "value": 3},
            {"op": "remove", "path": "/taints/2"},
            {"op": "test", "path": "/taints/0", "value": 1},
            {"op": "remove", "path": "/taints/0"},
        ],
    ),
    "an entry is known by what tells it from others": (
        {"taints": [{"key": "a", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]},
        {"taints": []},
        [
            {"op": "test", "path": "/taints/0/key", "value": "a"},
            {"op": "test", "path": "/taints/0/effect", "value": "NoSchedule"},
            {"op": "remove", "path": "/taints/0"},
        ],
    ),
    "only what differs is replaced": (
        {"containers": [{"name": "a", "cpu": 1}, {"name": "b", "cpu": 2}]},
        {"containers": [{"name": "a", "cpu": 1}, {"name": "b", "cpu": 3}]},
        [
            {"op": "test", "path": "/containers/1/name", "value": "b"},
            {"op": "replace", "path": "/containers/1/cpu", "value": 3},
        ],
    ),
    "a limit that follows its request is one change with it": (
        {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}},
        {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}},
        [{"op": "replace", "path": "/resources", "value": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}],
    ),
    "a volume gets another source in one operation": (
        {"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}},
        {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
        [
            {"op": "test", "path": "/spec/volumes/0/name", "value": "v"},
            {"op": "replace", "path": "/spec/volumes/0", "value": {"name": "v", "emptyDir": {}}},
        ],
    ),
    "tolerations are written as a whole, since an API server adds some to those of a manifest": (
        {"kind": "Pod", "spec": {"tolerations": [1]}},
        {"kind": "Pod", "spec": {"tolerations": [1, 2, 3]}},
        [{"op": "add", "path": "/spec/tolerations", "value": [1, 2, 3]}],
    ),
    "so are the labels of a namespace": (
        {"kind": "Namespace", "metadata": {"labels": {"kubernetes.io/metadata.name": "a"}}},
        {"kind": "Namespace", "metadata": {"labels": {"kubernetes.io/metadata.name": "a", "team": "b"}}},
        [{"op": "add", "path": "/metadata/labels", "value": {"kubernetes.io/metadata.name": "a", "team": "b"}}],
    ),
    "what admission works out is set whether or not the manifest has it": (
        {"kind": "Pod", "spec": {"priority": 0}},
        {"kind": "Pod", "spec": {"priority": 10, "priorityClassName": "high"}},
        [
            {"op": "add", "path": "/spec/priority", "value": 10},
            {"op": "add", "path": "/spec/priorityClassName", "value": "high"},
        ],
    ),
    "keys are escaped": (
        {"labels": {}},
        {"labels": {"a/b~c": "1"}},
        [{"op": "add", "path": "/labels/a~1b~0c", "value": "1"}],
    ),
}


@pytest.mark.parametrize(("old", "new", "patch"), PATCHES.values(), ids=PATCHES)
def test_patch(old: dict[str, Any], new: dict[str, Any], patch: list[dict[str, Any]]) -> None:
    assert patch_of(old, new) == patch


def test_a_pointer_escapes_its_keys() -> None:
    assert pointer("metadata", "labels", "a/b~c", 0) == "/metadata/labels/a~1b~0c/0"


JSON = st.recursive(
    st.integers(0, 3) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "x/y", "~"]), inner),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.sampled_from(["spec", "resources", "status"]), JSON)


@given(DOCUMENTS, DOCUMENTS)
def test_a_patch_makes_the_one_document_of_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert json_patched(copy.deepcopy(old), patch_of(old, new)) == new
