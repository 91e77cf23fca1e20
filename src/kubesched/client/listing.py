"""Lists read item by item as they arrive, however long they are.

From pieces of `{..., "metadata": {...}, "items": [{...}, {...}]}` to items as JSON texts, and the list's metadata at
the end. A server that knows no pages sends hundreds of megabytes in one answer; neither is it held in memory, nor is
the loop held up while it is taken apart.

How items are told apart without reading every character here: they begin alike (`{"metadata":`), so an end is looked
for where the next one may begin. That may also be in the midst of an item; but no beginning of an object is an object,
so what can be read is the item. What does not look as expected is kept until the end and read in one go.
"""

from typing import Final

import msgspec

_ITEMS: Final = b'"items":['
# a beginning longer than this is no list as servers write them
_LONGEST_HEAD: Final = 1 << 16
# what the key of the first field of an item is expected within
_LONGEST_KEY: Final = 64


class ListMeta(msgspec.Struct, rename={"resource_version": "resourceVersion", "more": "continue"}):
    """How new a list is, and how to ask for the next page."""

    resource_version: str = ""
    more: str = ""


class _Head(msgspec.Struct):
    metadata: ListMeta | None = None


class _Page(msgspec.Struct):
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | None = None


class ListReader:
    """Takes a list apart; every method raises msgspec.DecodeError if it is none."""

    def __init__(self) -> None:
        self._left = bytearray()
        # all before the items, once they have begun, with a last comma where there was something
        self._head: bytes | None = None
        # what ends an item and begins the next one
        self._seam = b""
        # where the next one is looked for
        self._from = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """Take in a piece; return the items that are complete."""
        self._left += piece
        if self._head is None and not self._begin():
            return []
        if not self._seam and not self._find_seam():
            return []
        return self._whole_items()

    def end(self) -> tuple[list[bytes], ListMeta]:
        """Return the items that are left, and the list's metadata."""
        text = bytes(self._left) if self._head is None else self._head + _ITEMS + bytes(self._left)
        page = msgspec.json.decode(text, type=_Page)
        return [bytes(item) for item in page.items or ()], page.metadata or ListMeta()

    def _begin(self) -> bool:
        """Return whether the items have begun; what was before them is put aside."""
        at = self._left.find(_ITEMS, 0, _LONGEST_HEAD)
        if at < 0:
            return False
        head = bytes(self._left[:at])
        try:
            msgspec.json.decode(head + _ITEMS + b"]}", type=_Head)
        except msgspec.DecodeError:
            # it belongs to something within
            return False
        self._head = head
        del self._left[: at + len(_ITEMS)]
        return True

    def _find_seam(self) -> bool:
        """Return whether it is known how items begin."""
        if not self._left.startswith(b'{"'):
            return False
        key_ends = self._left.find(b'":', 2, _LONGEST_KEY)
        if key_ends < 0:
            return False
        self._seam = b"}," + bytes(self._left[: key_ends + 2])
        return True

    def _whole_items(self) -> list[bytes]:
        items: list[bytes] = []
        begin = 0
        at = self._left.find(self._seam, self._from)
        while at >= 0:
            item = bytes(self._left[begin : at + 1])
            if _is_whole(item):
                items.append(item)
                begin = at + 2
            self._from = at + 1
            at = self._left.find(self._seam, self._from)
        # one may have come in part
        self._from = max(self._from, len(self._left) - len(self._seam) + 1) - begin
        del self._left[:begin]
        return items


def _is_whole(item: bytes) -> bool:
    """Return whether a text is an object from its beginning to its end."""
    try:
        msgspec.json.decode(item, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
