"""Lists read item by item as they arrive, however long they are.

From pieces of `{..., "metadata": {...}, "items": [{...}, {...}]}` to items as JSON texts, and the list's metadata at
the end. A server that knows no pages sends hundreds of megabytes in one response; the response is neither held in
memory as a whole, nor does splitting it block the loop. Items are split by their brackets alone; they are decoded
later, each on its own.

How items are split without looking at every character: all begin alike (`{"metadata":`), so an item is expected to
end where such a beginning follows. A text that ends too early cannot be decoded, so a text that can be decoded is the
item. If it cannot (the beginning may also occur within an item), brackets are counted, once, from the item's start.
"""

import re
from typing import Final

import msgspec

from kubesched.api import tolerant_json
from kubesched.api.opaque_json import NESTING, OPENING, QUOTE
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.errors import InvalidObjectError

# the key of an item's first field is expected within so many bytes
_LONGEST_KEY: Final = 64
# an item whose end is not found by the next beginning within so many bytes is split by its brackets
_LONGEST_LOOK: Final = 1 << 20
# servers store no longer item, and the reference reads no longer event
LONGEST_ITEM: Final = 16 << 20
# the same for the list's metadata
_LONGEST_MEMBER: Final = 1 << 20

# an optional comma and a key, before a value
_MEMBER: Final = re.compile(rb'\s*+(,?)\s*+("(?:[^"\\]++|\\.)*+")\s*+:\s*+(?=\S)', re.DOTALL)
_SPACES: Final = re.compile(rb"[ \t\r\n]++")
_IN_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_SCALAR: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[^\s,:"\[\]{}]++', re.DOTALL)


class ListMeta(msgspec.Struct, rename={"resource_version": "resourceVersion", "more": "continue"}):
    """The resource version of a list, and the continue token of its next page."""

    resource_version: str = ""
    more: str = ""


class _Brackets:
    """Finds the end of an object or array that arrives in pieces; each byte is looked at once."""

    def __init__(self) -> None:
        self._at = 0
        self._depth = 0
        self._in_string = False

    def end(self, text: bytearray) -> int | None:
        """Return where the value at the start of a text ends; None if its end has not arrived yet."""
        if self._in_string and not self._string_ends(text):
            return None
        for match in NESTING.finditer(text, self._at):
            first, length = text[match.start()], match.end() - match.start()
            if first in OPENING:
                self._depth += length
            elif first != QUOTE:
                self._depth -= length
                if self._depth <= 0:
                    return match.end() + self._depth
            elif length == 1:
                self._at, self._in_string = match.end(), True
                self._string_ends(text)
                return None
            self._at = match.end()
        self._at = len(text)
        return None

    def _string_ends(self, text: bytearray) -> bool:
        match = _IN_STRING.match(text, self._at)
        assert match is not None
        self._at = match.end()
        if text[self._at : self._at + 1] == b'"':
            self._at += 1
            self._in_string = False
        return not self._in_string


class _Items:
    """Removes complete items from the start of a text that grows, up to the bracket after the last item."""

    def __init__(self, text: bytearray) -> None:
        self._text = text
        # whether an item came before, which a comma has to follow, and whether the comma was read
        self._follows = False
        self._after_comma = False
        # the end of an item with the beginning of the next one, and where to look for it
        self._seam = b""
        self._from = 0
        # set while the end of an item is found by its brackets
        self._brackets: _Brackets | None = None

    def take(self, found: list[bytes], *, last: bool) -> bool:
        """Append the complete items; return whether the list has ended."""
        text = self._text
        while True:
            if not self._before_item():
                return False
            if text.startswith(b"]") and not self._after_comma:
                del text[:1]
                return True
            if self._follows and not self._after_comma:
                _expect(text, b",")
                self._after_comma = True
                continue
            end = self._end(last=last)
            if end is None:
                if len(text) > LONGEST_ITEM:
                    raise InvalidObjectError(f"an item of the list is longer than {LONGEST_ITEM >> 20} MiB")
                return False
            found.append(bytes(text[:end]))
            del text[:end]
            self._follows, self._after_comma, self._from, self._brackets = True, False, 0, None

    def _before_item(self) -> bool:
        """Drop spaces before an item; return whether any text is left."""
        if self._brackets is None and self._from == 0:
            _drop_spaces(self._text)
        return bool(self._text)

    def _end(self, *, last: bool) -> int | None:
        """Return where the item at the start of the text ends, or None if its end has not arrived yet."""
        text = self._text
        if text[0] not in OPENING:
            return _end_of_scalar(text, last=last)
        if self._brackets is None:
            if self._seam or self._find_seam():
                at = text.find(self._seam, self._from)
                if at >= 0 and _is_whole(bytes(text[: at + 1])):
                    return at + 1
                if at < 0 and not last and len(text) < _LONGEST_LOOK:
                    # a part of the seam may have arrived
                    self._from = max(1, len(text) - len(self._seam) + 1)
                    return None
            elif not last and len(text) < _LONGEST_KEY:
                return None
            self._brackets = _Brackets()
        return self._brackets.end(text)

    def _find_seam(self) -> bool:
        """Set the seam from the first item's beginning; return whether that was possible."""
        key_ends = self._text.find(b'":', 2, _LONGEST_KEY)
        if key_ends < 0 or not self._text.startswith(b'{"'):
            return False
        self._seam = b"}," + bytes(self._text[: key_ends + 2])
        return True


class ListReader:
    """Splits a list into items; every method raises InvalidObjectError if the text is no list."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._items: _Items | None = None
        self._begun = self._ended = False
        # whether a member came before, which a comma has to follow
        self._follows = False
        self._meta = ListMeta()

    def feed(self, piece: bytes) -> list[bytes]:
        """Add a piece of the text; return the items that are complete."""
        self._text += piece
        return self._read(last=False)

    def end(self) -> tuple[list[bytes], ListMeta]:
        """Return the items that are left, and the list's metadata."""
        items = self._read(last=True)
        if not self._ended or self._text.strip():
            raise InvalidObjectError("JSON is malformed: it ends too early, or goes on after its end")
        return items, self._meta

    def _read(self, *, last: bool) -> list[bytes]:
        found: list[bytes] = []
        while not self._ended:
            if self._items is not None:
                if not self._items.take(found, last=last):
                    break
                self._items = None
            elif not self._begun:
                _drop_spaces(self._text)
                if not self._text:
                    break
                _expect(self._text, b"{")
                self._begun = True
            elif not self._member():
                if len(self._text) > _LONGEST_MEMBER:
                    raise InvalidObjectError(f"a field of the list is longer than {_LONGEST_MEMBER >> 20} MiB")
                break
        return found

    def _member(self) -> bool:
        """Read the next member of the document; return False if it has not arrived yet."""
        text = self._text
        match = _MEMBER.match(text)
        if match is None:
            _drop_spaces(text)
            if text.startswith(b"}"):
                del text[:1]
                self._ended = True
                return True
            return False
        comma, key, at = bool(match[1]), tolerant_json.read(match[2], str), match.end()
        # a text that is looked at cannot be cut
        del match
        if comma != self._follows:
            raise InvalidObjectError("JSON is malformed: expected a comma between fields, and nowhere else")
        self._follows = True
        if key == "items" and text[at] == ord("["):
            del text[: at + 1]
            self._items = _Items(text)
            return True
        value = bytearray(text[at:])
        end = _Brackets().end(value) if value[0] in OPENING else _end_of_scalar(value, last=False)
        if end is None:
            self._follows = comma
            return False
        self._take_member(key, bytes(value[:end]))
        del text[: at + end]
        return True

    def _take_member(self, key: object, text: bytes) -> None:
        if key == "items" and text != b"null":
            raise InvalidObjectError("items: expected a list")
        if key == "metadata" and text != b"null":
            self._meta = tolerant_json.decode(text, ListMeta)


def _drop_spaces(text: bytearray) -> None:
    match = _SPACES.match(text)
    end = match.end() if match is not None else 0
    # a text that is looked at cannot be cut
    del match
    del text[:end]


def _expect(text: bytearray, sign: bytes) -> None:
    """Remove a character from the start of the text; raises InvalidObjectError if the text starts otherwise."""
    if not text.startswith(sign):
        raise InvalidObjectError(f"JSON is malformed: expected {sign.decode()}, got {bytes(text[:20])!r}")
    del text[:1]


def _end_of_scalar(text: bytearray, *, last: bool) -> int | None:
    """Return where the scalar at the start of a text ends, or None if its end has not arrived yet."""
    match = _SCALAR.match(text)
    if match is None:
        if text[0] == QUOTE and not last:
            return None
        raise InvalidObjectError(f"JSON is malformed at {bytes(text[:20])!r}")
    # more of a number may follow
    return match.end() if last or match.end() < len(text) or text[0] == QUOTE else None


def _is_whole(item: bytes) -> bool:
    """Return whether a text is one complete JSON value."""
    try:
        msgspec.json.decode(item, type=msgspec.Raw)
    except UNREADABLE:
        return False
    return True
