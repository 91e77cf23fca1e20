"""JSON that the decoder refuses, read as far as a type has fields for it; and texts that the encoder refuses.

From the bytes of a document and a type to plain values: the fields of the type, and nothing else. An API server passes
on what clients wrote: halves of surrogate pairs, bytes that are no UTF-8, lists nested by the thousand. An object is
read nevertheless if the fields that are needed are valid.

* Fields that the type does not have are skipped, however deep they are.
* Texts are repaired as in Go: bytes or escapes that are no character become U+FFFD.
* Opaque values (`opaque_json.OpaqueJson`) that cannot be decoded stay bytes.

Every byte is looked at a bounded number of times. Recursion follows types, never the text.
"""

import json
import re
from functools import cache
from math import isinf
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

import msgspec

from kubesched.api.field_types import field_types, is_struct, strip_optional
from kubesched.api.opaque_json import NESTING, OPAQUE, OPENING, QUOTE, keep_text, nests_deeper
from kubesched.errors import InvalidObjectError

_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR: Final = re.compile(rb'[^\s,:"\[\]{}]++')
_BRACE, _BRACKET = b"{["


T = TypeVar("T")

# errors of the decoder for a text that it cannot read
UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def decode(data: bytes, kind: type[T]) -> T:
    """Decode a document to a type; raises InvalidObjectError if that is not possible."""
    try:
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE:
        pass
    try:
        return msgspec.convert(read(data, kind), kind)
    except msgspec.ValidationError as error:
        raise InvalidObjectError(str(error)) from None


def read(data: bytes, value_type: Any, *, any_case: bool = False) -> Any:
    """Return the fields of a type from a document, as plain values; raises InvalidObjectError for malformed JSON.

    With `any_case` names of fields count in any case, as for Go's decoder; of several the last one counts.
    """
    reader = _Reader(data, any_case)
    at = reader.begin(0)
    value, at = reader.value(at, value_type)
    if reader.begin(at, end=True) < len(data):
        raise InvalidObjectError("JSON is malformed: something follows the end")
    return value


def mended_text(text: str) -> str:
    """Return a text in which halves of surrogate pairs are replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encode(value: Any) -> bytes:
    """Return plain values as JSON; their texts are repaired, since messages of plugins may contain anything."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_mended(value))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return mended_text(value)
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(inner) for inner in value]
    return value


class _Reader:
    """Reads one document; its methods take the offset of a value, and return the offset of its end, too."""

    def __init__(self, data: bytes, any_case: bool = False) -> None:
        self._data = data
        self._any_case = any_case

    def begin(self, at: int, *, end: bool = False) -> int:
        """Return the offset after spaces; raises InvalidObjectError at the end of the text unless `end` is set."""
        match = _SPACE.match(self._data, at)
        assert match is not None
        if match.end() == len(self._data) and not end:
            raise InvalidObjectError("JSON is malformed: it ends too early")
        return match.end()

    def value(self, at: int, value_type: Any) -> tuple[Any, int]:
        """Return a value, of structs only the fields of its type."""
        if value_type is msgspec.Raw or _is_opaque(value_type):
            end = self.passed(at)
            text = self._data[at:end]
            return (msgspec.Raw(text) if value_type is msgspec.Raw else keep_text(text)), end
        value_type, _ = strip_optional(value_type)
        first = self._data[at]
        if first == _BRACE and is_struct(value_type):
            return self._members(at, field_types(value_type), None)
        if first == _BRACE and get_origin(value_type) is dict:
            return self._members(at, {}, get_args(value_type)[1])
        if first == _BRACKET and get_origin(value_type) in (tuple, list):
            return self._items(at, get_args(value_type)[0])
        end = self.passed(at)
        if first in OPENING and value_type not in (Any, object):
            # of another type than expected: its JSON type suffices for the error
            return ({} if first == _BRACE else []), end
        return self._plain(at, end), end

    def passed(self, at: int) -> int:
        """Return the offset of the end of a value."""
        first = self._data[at]
        if first in OPENING:
            return self._passed_nesting(at)
        match = (_STRING if first == QUOTE else _SCALAR).match(self._data, at)
        if match is None:
            raise InvalidObjectError("JSON is malformed")
        return match.end()

    def _passed_nesting(self, at: int) -> int:
        depth = 0
        for match in NESTING.finditer(self._data, at):
            first, length = self._data[match.start()], match.end() - match.start()
            if first in OPENING:
                depth += length
            elif first != QUOTE:
                depth -= length
                if depth <= 0:
                    return match.end() + depth
            elif length == 1:
                break
        raise InvalidObjectError("JSON is malformed: it ends too early")

    def _members(self, at: int, fields: dict[str, Any], others: Any) -> tuple[dict[str, Any], int]:
        """Return the members of an object that have a type."""
        found: dict[str, Any] = {}
        in_any_case = {name.casefold(): name for name in fields} if self._any_case else {}
        at = self.begin(at + 1)
        while self._data[at : at + 1] != b"}":
            end = self.passed(at)
            key = self._text(at, end)
            if key not in fields:
                key = in_any_case.get(key.casefold(), key)
            at = self.begin(self._after(self.begin(end), b":"))
            wanted = fields.get(key, others)
            if wanted is None:
                at = self.passed(at)
            else:
                found[key], at = self.value(at, wanted)
            at = self._next(at, b"}")
        return found, at + 1

    def _items(self, at: int, item_type: Any) -> tuple[list[Any], int]:
        found: list[Any] = []
        at = self.begin(at + 1)
        while self._data[at : at + 1] != b"]":
            item, at = self.value(at, item_type)
            found.append(item)
            at = self._next(at, b"]")
        return found, at + 1

    def _next(self, at: int, close: bytes) -> int:
        """Return the offset of the next member or item, or of the closing bracket."""
        at = self.begin(at)
        if self._data[at : at + 1] == close:
            return at
        at = self.begin(self._after(at, b","))
        if self._data[at : at + 1] == close:
            raise InvalidObjectError("JSON is malformed: nothing follows a comma")
        return at

    def _after(self, at: int, sign: bytes) -> int:
        if self._data[at : at + 1] != sign:
            raise InvalidObjectError(f"JSON is malformed: expected {sign.decode()}")
        return at + 1

    def _text(self, at: int, end: int) -> str:
        if self._data[at] != QUOTE:
            raise InvalidObjectError("JSON is malformed: expected a name")
        text: str = self._plain(at, end)
        return text

    def _plain(self, at: int, end: int) -> Any:
        """Return the value of a part of the document, with its texts repaired."""
        data = self._data[at:end]
        try:
            if not nests_deeper(data):
                return msgspec.json.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
        try:
            value = json.loads(
                data.decode("utf-8", "replace"), strict=False, parse_constant=_no_number, parse_float=_number
            )
            if isinstance(value, str):
                return mended_text(value)
            return json.loads(mended_text(json.dumps(value, ensure_ascii=False)))
        except json.JSONDecodeError as error:
            # without the position, which may differ in the object's next version: the problem would be logged again
            raise InvalidObjectError(f"JSON is malformed: {error.msg}") from None
        except ValueError:
            # among others for a whole number of thousands of digits
            raise InvalidObjectError("JSON is malformed: a number is beyond all bounds") from None
        except RecursionError:
            raise InvalidObjectError("JSON is nested too deep") from None


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _number(text: str) -> float:
    found = float(text)
    if isinf(found):
        raise ValueError(f"{text} is beyond all bounds")
    return found


def _is_opaque(value_type: Any) -> bool:
    return get_origin(value_type) is Annotated and OPAQUE in get_args(value_type)


@cache
def holds_opaque(value_type: Any) -> bool:
    """Return whether values of a type may hold opaque ones."""
    if _is_opaque(value_type):
        return True
    value_type, _ = strip_optional(value_type)
    inner = field_types(value_type).values() if is_struct(value_type) else get_args(value_type)
    return any(holds_opaque(each) for each in inner if each is not Ellipsis)
