"""Lists that are taken apart as they arrive say what they would say read whole."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.client.listing import ListReader

META = {"resourceVersion": "7", "continue": "next"}


def read(text: bytes, size: int) -> tuple[list[Any], str, str, int]:
    """Return the items, the version, what asks for the next page, and how many items were told before the end."""
    reader = ListReader()
    items = [item for at in range(0, len(text), size) for item in reader.feed(text[at : at + size])]
    early = len(items)
    left, meta = reader.end()
    return [json.loads(item) for item in items + left], meta.resource_version, meta.more, early


def compact(document: Any) -> bytes:
    """Return JSON as servers write it."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def an_item(number: int, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": f"p{number}"}, **more}


NESTED = {"templates": [an_item(1), an_item(2, deeper=[an_item(3), an_item(4)])]}
SAID = {"annotation": '"},{"metadata":{"name":"no item"}},{"metadata":'}

DOCUMENTS = {
    "a typed list": {"kind": "PodList", "metadata": META, "items": [an_item(i) for i in range(5)]},
    "a list of custom resources, whose metadata comes last": {
        "items": [{"apiVersion": "x/v1", **an_item(i)} for i in range(5)],
        "kind": "FooList",
        "metadata": META,
    },
    "no items": {"metadata": META, "items": []},
    "null for no items": {"metadata": META, "items": None},
    "items left out": {"metadata": META},
    "one item": {"metadata": META, "items": [an_item(1)]},
    "items that hold others like them": {"metadata": META, "items": [an_item(i, spec=NESTED) for i in range(4)]},
    "texts that look like the end of an item": {"metadata": META, "items": [an_item(i, spec=SAID) for i in range(4)]},
    "items that begin differently": {"metadata": META, "items": [an_item(1), {"kind": "B", **an_item(2)}, an_item(3)]},
    "items that are empty": {"metadata": META, "items": [{}, {}, an_item(1)]},
    "letters of more than a byte": {"metadata": META, "items": [an_item(i, text="ä€😀" * i) for i in range(4)]},
    "a field of the same name in the metadata": {"metadata": {**META, "items": [1]}, "items": [an_item(1), an_item(2)]},
}


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_list_in_pieces(case: str, size: int) -> None:
    document = DOCUMENTS[case]
    items, version, more, _ = read(compact(document), size)
    assert items == (document.get("items") or [])
    assert (version, more) == ("7", "next")


def test_a_list_that_is_written_with_spaces() -> None:
    document = DOCUMENTS["a typed list"]
    assert read(json.dumps(document, indent=2).encode(), 16)[0] == document["items"]


def test_items_are_told_as_soon_as_the_next_one_begins() -> None:
    text = compact({"metadata": META, "items": [an_item(i, spec=NESTED) for i in range(100)]})
    assert read(text, 256)[3] == 99


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"<html>",
        b'{"metadata":{},"items":[{"metadata":{}}',
        b'{"metadata":{},"items":[{"metadata":{}},{"metadata":{}}]',
        b'{"metadata":{},"items":[{"metadata":{}},{"metadata":]}',
        b'{"metadata":{},"items":[{"metadata":{}}]}}',
        b'{"metadata":{},"items":"none"}',
        b'{"metadata":{"resourceVersion":7},"items":[]}',
        b'{"metadata":{},"items":[{"metadata":{"name":"\xff"}}]}',
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_no_list(text: bytes, size: int) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        read(text, size)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.text(alphabet='{}[],":\\ametd€', max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["metadata", "items", "a"]), inner),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["metadata", "items", "a", ""]), VALUES, max_size=3)


@given(st.lists(OBJECTS, max_size=6), st.integers(1, 40), st.booleans())
def test_any_list_in_any_pieces(items: list[Any], size: int, last: bool) -> None:
    document = {"items": items, "metadata": META} if last else {"metadata": META, "items": items}
    assert read(compact(document), size)[:3] == (items, "7", "next")
