"""Go's forms of texts and JSON, so that messages read as the reference writes them.

From Python values to the text that Go's strconv and encoding/json packages give them. Pure functions.
"""

import json
from typing import Any

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    '"': r"\"",
    "\\": r"\\",
}
# Go's JSON encoder hides these from HTML.
_JSON_ESCAPES = str.maketrans(
    {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029"}
)


def quote(text: str) -> str:
    """Return the text in double quotes, as Go's %q writes it."""
    return '"' + "".join(map(_quoted_character, text)) + '"'


def to_json(value: Any, *, sort_keys: bool = True, indent: int | None = None) -> str:
    """Return a plain value as Go's json.Marshal writes it: compact unless indented, HTML escaped.

    Go sorts the keys of maps, and leaves the fields of structs as they are.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, separators=separators, sort_keys=sort_keys, indent=indent)
    return text.translate(_JSON_ESCAPES)


def _quoted_character(character: str) -> str:
    """Return one character as it stands in a Go string literal."""
    if (escaped := _ESCAPES.get(character)) is not None:
        return escaped
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
