"""Opaque JSON, such as the parameters of a device's driver: passed on unchanged, never interpreted.

From a JSON text, or decoded values, to values that can be written again. A value that is nested too deep to be walked
safely, or cannot be decoded (half a surrogate pair, a huge number), stays a text, as a `msgspec.Raw`.
"""

import re
from typing import Annotated, Any, Final

import msgspec

OPAQUE: Final = msgspec.Meta(description="JSON that others understand")
OpaqueJson = Annotated[Any, OPAQUE]

# strings are skipped, and adjacent brackets match together; a lone quote begins a string without an end
NESTING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]++|[\]}]++|"', re.DOTALL)
OPENING: Final = b"[{"
QUOTE: Final = ord('"')
# code that walks values, or writes them, recurses as deep as they are nested
_DEEPEST: Final = 64


def keep_text(text: bytes) -> Any:
    """Return the opaque value of a JSON text; the text itself if it is too deep or cannot be decoded."""
    if not nests_deeper(text):
        try:
            return msgspec.json.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
    return msgspec.Raw(text)


def keep_value(value: Any) -> Any:
    """Return a decoded opaque value; its JSON text if it is too deep."""
    if isinstance(value, msgspec.Raw):
        return value
    if isinstance(value, dict | list):
        text = msgspec.json.encode(value)
        if nests_deeper(text):
            return msgspec.Raw(text)
    return value


def nests_deeper(text: bytes) -> bool:
    """Return whether a JSON text is nested deeper than `_DEEPEST`."""
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
