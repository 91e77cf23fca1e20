"""Strategic merge patches as the scheduler writes them."""

from typing import Any

import pytest

from kubesched.api.merging import strategic_merge


@pytest.mark.parametrize(
    ("what", "document", "patch", "merged"),
    [
        ("a field is set", {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ("a field is taken away", {"a": 1, "b": 2}, {"b": None}, {"a": 1}),
        ("objects are merged", {"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ("a list without a key is replaced", {"l": [1, 2]}, {"l": [3]}, {"l": [3]}),
        (
            "entries with a key are merged",
            {"conditions": [{"type": "A", "status": "False"}, {"type": "B"}]},
            {"conditions": [{"type": "A", "status": "True"}, {"type": "C"}]},
            {"conditions": [{"type": "A", "status": "True"}, {"type": "B"}, {"type": "C"}]},
        ),
        (
            "an entry is deleted by its key",
            {"reservedFor": [{"uid": "1"}, {"uid": "2"}]},
            {"reservedFor": [{"$patch": "delete", "uid": "1"}]},
            {"reservedFor": [{"uid": "2"}]},
        ),
        (
            "texts are deleted from a list",
            {"finalizers": ["a", "b"]},
            {"$deleteFromPrimitiveList/finalizers": ["a"]},
            {"finalizers": ["b"]},
        ),
        (
            "what is to be deleted may be missing",
            {},
            {"$deleteFromPrimitiveList/finalizers": ["a"]},
            {"finalizers": []},
        ),
    ],
)
def test_merging(what: str, document: dict[str, Any], patch: dict[str, Any], merged: dict[str, Any]) -> None:
    before = repr(document)
    assert strategic_merge(document, patch) == merged, what
    assert repr(document) == before
