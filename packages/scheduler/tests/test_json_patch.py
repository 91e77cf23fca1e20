"""Operations of JSON patches, one after another, on any document."""

from typing import Any

import pytest

from kubesched.json_patch import Operation, OperationError, json_patched

POD = {
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"a": "b"}, "finalizers": ["x.y/one", "x.y/two"]},
    "spec": {"containers": [{"name": "c", "image": "i"}], "priority": 1},
}


def at(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        document = document[int(step) if isinstance(document, list) else step]
    return document


@pytest.mark.parametrize(
    ("what", "operations", "pointer", "expected"),
    [
        ("adds a field", [{"op": "add", "path": "/metadata/labels/x", "value": "y"}], "/metadata/labels/x", "y"),
        (
            "adds a field with a slash and a tilde in its name",
            [
                {"op": "add", "path": "/metadata/annotations", "value": {}},
                {"op": "add", "path": "/metadata/annotations/a~1b~0c", "value": "y"},
            ],
            "/metadata/annotations",
            {"a/b~c": "y"},
        ),
        (
            "adds before an element",
            [{"op": "add", "path": "/metadata/finalizers/1", "value": "x.y/new"}],
            "/metadata/finalizers",
            ["x.y/one", "x.y/new", "x.y/two"],
        ),
        (
            "adds at the end",
            [{"op": "add", "path": "/metadata/finalizers/-", "value": "x.y/new"}],
            "/metadata/finalizers",
            ["x.y/one", "x.y/two", "x.y/new"],
        ),
        (
            "counts from the end",
            [{"op": "remove", "path": "/metadata/finalizers/-1"}],
            "/metadata/finalizers",
            ["x.y/one"],
        ),
        (
            "replaces what is there",
            [{"op": "replace", "path": "/spec/containers/0/image", "value": "n"}],
            "/spec/containers/0/image",
            "n",
        ),
        (
            "replaces what is not there",
            [{"op": "replace", "path": "/metadata/labels/x", "value": "y"}],
            "/metadata/labels",
            {"a": "b", "x": "y"},
        ),
        (
            "moves",
            [{"op": "move", "from": "/metadata/labels/a", "path": "/metadata/labels/z"}],
            "/metadata/labels",
            {"z": "b"},
        ),
        (
            "copies",
            [{"op": "copy", "from": "/metadata/labels/a", "path": "/metadata/labels/z"}],
            "/metadata/labels",
            {"a": "b", "z": "b"},
        ),
        (
            "copies what is not there as nothing",
            [{"op": "copy", "from": "/metadata/labels/no", "path": "/metadata/labels/z"}],
            "/metadata/labels",
            {"a": "b", "z": None},
        ),
        (
            "takes a missing value for null",
            [{"op": "add", "path": "/metadata/labels/x"}],
            "/metadata/labels",
            {"a": "b", "x": None},
        ),
        (
            "tests before it changes",
            [
                {"op": "test", "path": "/metadata/labels", "value": {"a": "b"}},
                {"op": "remove", "path": "/metadata/labels/a"},
            ],
            "/metadata",
            {"name": "p", "labels": {}, "finalizers": ["x.y/one", "x.y/two"]},
        ),
        ("takes what is not there for null", [{"op": "test", "path": "/metadata/no"}], "/metadata/name", "p"),
        ("may be empty", [], "/metadata/name", "p"),
        (
            "may replace the whole",
            [{"op": "replace", "path": "", "value": {"metadata": {"name": "q"}}}],
            "/metadata",
            {"name": "q"},
        ),
    ],
)
def test_a_json_patch(what: str, operations: Any, pointer: str, expected: Any) -> None:
    before = repr(POD)
    assert at(json_patched(POD, operations), pointer) == expected, what
    assert repr(POD) == before


@pytest.mark.parametrize(
    ("what", "operation"),
    [
        ("no operation", {}),
        ("an operation that is no text", {"op": 1, "path": "/spec"}),
        ("a path that is no text", {"op": "add", "path": 1}),
        ("an unknown operation", {"op": "foo", "path": "/spec"}),
        ("no path", {"op": "add", "value": 1}),
        ("a path without a slash", {"op": "add", "path": "metadata", "value": 1}),
        ("the whole document", {"op": "add", "path": "", "value": {}}),
        ("a place below nothing", {"op": "add", "path": "/nope/x", "value": "z"}),
        ("a place below a text", {"op": "add", "path": "/metadata/name/x", "value": "z"}),
        ("what is not there", {"op": "remove", "path": "/metadata/labels/q"}),
        ("an index past the end", {"op": "add", "path": "/metadata/finalizers/3", "value": "z"}),
        ("an index before the beginning", {"op": "remove", "path": "/metadata/finalizers/-3"}),
        ("an index that is no number", {"op": "replace", "path": "/metadata/finalizers/x", "value": "z"}),
        ("an index in other digits", {"op": "remove", "path": "/metadata/finalizers/١"}),
        ("a huge index", {"op": "remove", "path": "/metadata/finalizers/" + "9" * 5000}),
        ("a move from nowhere", {"op": "move", "from": "/metadata/labels/q", "path": "/metadata/labels/r"}),
        ("a move without from", {"op": "move", "path": "/metadata/labels/r"}),
        ("a copy from below nothing", {"op": "copy", "from": "/nope/x", "path": "/metadata/labels/r"}),
        ("a test that fails", {"op": "test", "path": "/metadata/labels/a", "value": "c"}),
        ("a test for null that fails", {"op": "test", "path": "/metadata/labels/a", "value": None}),
        ("a number for the whole", {"op": "replace", "path": "", "value": 3}),
        ("nothing for the whole", {"op": "replace", "path": ""}),
    ],
)
def test_operations_that_do_not_fit(what: str, operation: Any) -> None:
    with pytest.raises(OperationError):
        json_patched(POD, [operation])


@pytest.mark.parametrize(("value", "same"), [(1, True), (1.0, False), (True, False), ("1", False), (None, False)])
def test_numbers_and_truths_are_told_apart(value: Any, same: bool) -> None:
    operations: list[Operation] = [{"op": "test", "path": "/spec/priority", "value": value}]
    if same:
        json_patched(POD, operations)
    else:
        with pytest.raises(OperationError):
            json_patched(POD, operations)


def test_what_is_added_is_the_patch_s_own() -> None:
    value = {"x": ["y"]}
    found = json_patched({}, [{"op": "add", "path": "/a", "value": value}, {"op": "copy", "from": "/a", "path": "/b"}])
    found["a"]["x"].append("z")
    assert (value, found["b"]) == ({"x": ["y"]}, {"x": ["y"]})


def test_copies_do_not_grow_without_end() -> None:
    operations: list[Operation] = []
    operations += ({"op": "copy", "from": "/metadata", "path": f"/metadata/x{number}"} for number in range(40))
    with pytest.raises(OperationError, match="accumulated size"):
        json_patched(POD, operations)
