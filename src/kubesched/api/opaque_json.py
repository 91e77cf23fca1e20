"""JSON that others understand, such as the parameters of a device's driver: passed on as it came, never looked into.

From a JSON text, or decoded values, to values that can be written again. What is nested too deep to be walked safely,
or cannot be decoded (half a surrogate pair, a number beyond all bounds), stays the text that it is, as a `msgspec.Raw`.
"""

import re
from typing import Annotated, Any, Final

import msgspec

OPAQUE: Final = msgspec.Meta(description="JSON that others understand")
OpaqueJson = Annotated[Any, OPAQUE]

# strings are passed over whole, and brackets count by the run; a lone quote begins a string without an end
NESTING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]++|[\]}]++|"', re.DOTALL)
OPENING: Final = b"[{"
QUOTE: Final = ord('"')
# whatever walks values, or writes them, goes as deep as they are
_DEEPEST: Final = 64


def keep_text(text: bytes) -> Any:
    """Return an opaque value that is written so."""
    if not nests_deeper(text):
        try:
            return msgspec.json.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
    return msgspec.Raw(text)


def keep_value(value: Any) -> Any:
    """Return an opaque value that was decoded, as a text if it is deep."""
    if isinstance(value, msgspec.Raw):
        return value
    if isinstance(value, dict | list):
        text = msgspec.json.encode(value)
        if nests_deeper(text):
            return msgspec.Raw(text)
    return value


def nests_deeper(text: bytes) -> bool:
    """Return whether a JSON text goes deeper than what is decoded."""
    if text.count(b"[") + text.count(b"{") <= _DEEPEST:
        return False
    depth = 0
    for match in NESTING.finditer(text):
        first, length = text[match.start()], match.end() - match.start()
        if first in OPENING:
            depth += length
            if depth > _DEEPEST:
                return True
        elif first != QUOTE:
            depth -= length
    return False
