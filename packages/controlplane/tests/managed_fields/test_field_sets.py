"""Sets of fields behave as sets of paths do, however they are nested."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched_controlplane.managed_fields.field_sets import (
    Fields,
    FieldsError,
    covers,
    decoded,
    difference,
    encoded,
    intersection,
    paths,
    read,
    union,
    without,
)

Path = tuple[str, ...]
ELEMENTS = ("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"')
path_sets = st.sets(st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=4).map(tuple), max_size=8)


def tree_of(found: set[Path]) -> Fields:
    """Return the set with these members."""
    root: Fields = {}
    for path in found:
        node = root
        for element in path:
            node = node.setdefault(element, {})
        node["."] = {}
    return _tidy(root)


def _tidy(node: Fields) -> Fields:
    below = {key: _tidy(each) for key, each in node.items() if key != "."}
    return {**below, ".": {}} if "." in node and below else below


def members(fields: Fields, start: Path = ()) -> Iterator[Path]:
    """Return the members of a set."""
    for key, below in fields.items():
        if key == ".":
            continue
        if not below or "." in below:
            yield (*start, key)
        yield from members(below, (*start, key))


@given(path_sets, path_sets)
def test_sets_are_sets_of_paths(first: set[Path], second: set[Path]) -> None:
    a, b = tree_of(first), tree_of(second)
    assert set(members(a)) == first
    assert set(members(union(a, b))) == first | second
    assert set(members(difference(a, b))) == first - second
    assert set(members(intersection(a, b))) == first & second
    below = {path for path in first if any(path[: len(other)] == other for other in second)}
    assert set(members(without(a, b))) == first - below
    assert covers(a, b) == (first >= second)
    assert (set(members(a)), set(members(b))) == (first, second), "neither has changed"


@given(path_sets)
def test_what_is_written_is_read(found: set[Path]) -> None:
    fields = tree_of(found)
    assert set(members(decoded(encoded(fields)))) == found
    assert read(fields) == fields
    assert len(list(paths(fields))) == len(found)


def test_paths_are_told_level_by_level() -> None:
    fields = {
        "f:spec": {
            "f:b": {".": {}, 'k:{"port":80,"protocol":"TCP"}': {}, 'k:{"port":9,"protocol":"TCP"}': {"f:name": {}}},
            "f:a": {},
            "f:c": {'v:"x"': {}, "i:0": {}},
        }
    }
    assert list(paths(fields)) == [
        ".spec.a",
        ".spec.b",
        '.spec.b[port=80,protocol="TCP"]',
        '.spec.b[port=9,protocol="TCP"].name',
        ".spec.c[0]",
        '.spec.c[="x"]',
    ]


@pytest.mark.parametrize(
    "raw", [None, 1, "x", [], {"f": {}}, {"x": {}}, {"f:a": 1}, {"k:{": {}}, {"k:1": {}}, {"i:x": {}}]
)
def test_what_is_no_set_is_refused(raw: Any) -> None:
    with pytest.raises(FieldsError):
        read(raw)


def test_elements_of_kinds_that_are_not_known_are_passed_over() -> None:
    assert read({"z:future": {}, "f:a": {".": {}}}) == {"f:a": {}}
    assert read({'k:{"b":1,"a":2}': {}}) == {'k:{"a":2,"b":1}': {}}, "keys are in order"
