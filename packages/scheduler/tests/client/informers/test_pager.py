"""Lists that are taken apart as they arrive say what they would say read whole."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.client.informers import pager
from kubesched.client.informers.pager import LONGEST_ITEM, ListReader, _Brackets
from kubesched.errors import InvalidObjectError

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

DOCUMENTS: dict[str, dict[str, Any]] = {
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
    assert read(text, 256)[3] >= 99


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
        b'{"metadata":{},"items":[{"metadata":{}} {"metadata":{}}]}',
        b'{"metadata":{},"items":[{"metadata":{}},]}',
        b'{"metadata":{} "items":[]}',
        b'{,"items":[]}',
        b'{"items":[7,"a"b]}',
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_no_list(text: bytes, size: int) -> None:
    with pytest.raises(InvalidObjectError):
        read(text, size)


DEEP = b"[" * 4900 + b"]" * 4900
STRANGE = {
    "half a surrogate pair": b'{"metadata":{"name":"\\ud800"}}',
    "bytes that are no UTF-8": b'{"metadata":{"name":"\xff"}}',
    "lists nested 4900 deep": b'{"metadata":{},"a":' + DEEP + b"}",
    "objects nested 1500 deep": b'{"metadata":{},"a":' + b'{"a":' * 1500 + b"1" + b"}" * 1500 + b"}",
    "brackets that do not match": b'{"metadata":[}]',
    "two commas": b'{"metadata":{},,"a":1}',
    "an escape that there is not": b'{"metadata":{"name":"\\q"}}',
    "a number beyond all bounds": b'{"metadata":{},"a":1e999999}',
    "no object": b"null",
    "a text": b'"},{\\"metadata\\":"',
}


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("case", STRANGE)
def test_an_item_that_cannot_be_read_leaves_the_others_alone(case: str, size: int) -> None:
    strange = STRANGE[case]
    good = [compact(an_item(i)) for i in range(4)]
    for place in range(5):
        items = [*good[:place], strange, *good[place:]]
        reader, text = ListReader(), b'{"metadata":{"resourceVersion":"7"},"items":[' + b",".join(items) + b"]}"
        found = [item for at in range(0, len(text), size) for item in reader.feed(text[at : at + size])]
        left, meta = reader.end()
        assert found + left == items
        assert meta.resource_version == "7"


SEAMS = '},{"metadata":'


@pytest.mark.parametrize(
    "strange", [{"text": SEAMS * 20_000}, {"list": [{"metadata": {}}] * 20_000}], ids=["in a text", "in a list"]
)
def test_each_byte_is_looked_at_a_few_times_only(strange: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    class Counting(_Brackets):
        def end(self, text: bytearray) -> int | None:
            nonlocal looked
            before = self._at
            found = super().end(text)
            looked += self._at - before
            return found

    def is_whole(item: bytes) -> bool:
        nonlocal looked
        looked += len(item)
        return whole(item)

    whole = pager._is_whole
    monkeypatch.setattr(pager, "_is_whole", is_whole)
    monkeypatch.setattr(pager, "_Brackets", Counting)
    items = [an_item(i, spec=strange) for i in range(3)]
    text = compact({"metadata": META, "items": items})
    assert read(text, 4096)[0] == items
    assert looked < 4 * len(text)


def test_an_item_without_end_is_given_up() -> None:
    reader = ListReader()
    reader.feed(b'{"items":[{"metadata":{"name":"')
    reader.feed(b"x" * (LONGEST_ITEM - 100))
    with pytest.raises(InvalidObjectError, match="an item of the list is longer than 16 MiB"):
        reader.feed(b"x" * 100)


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
