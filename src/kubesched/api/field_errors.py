"""Words for a field that is wrong, as the reference writes them.

Comes in: the path of a field, the bad value, what is wrong. Goes out: one sentence, or the joined text of several.
A path is plain text (`nodeSelectorTerms[0].key`); the empty path is the reference's nil path.
"""

# upstream: apimachinery/pkg/util/validation/field/{errors,path}.go, pkg/util/errors/errors.go (v1.36)

from collections.abc import Iterable, Sequence

import msgspec

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
# Go's JSON encoder hides these from HTML.
_JSON_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def child(path: str, name: str) -> str:
    """Return the path of a field of the value at `path`."""
    return f"{path}.{name}" if path else name


def index(path: str, subscript: int | str) -> str:
    """Return the path of one element of the list or map at `path`."""
    return f"{path}[{subscript}]"


def go_quote(text: str) -> str:
    """Return the text in double quotes, as Go's %q writes it."""
    return '"' + "".join(map(_go_character, text)) + '"'


def invalid(path: str, bad_value: str | Sequence[str] | None, detail: str) -> str:
    """Return the sentence about a malformed value; None stands for a list that was never given."""
    return f"{path or '<nil>'}: Invalid value: {_shown(bad_value)}: {detail}"


def not_supported(path: str, bad_value: str, supported: Sequence[str]) -> str:
    """Return the sentence about a value outside an enumeration; an empty bad value is shown as well."""
    return f"{path}: Unsupported value: {go_quote(bad_value)}: supported values: {', '.join(map(go_quote, supported))}"


def aggregate(problems: Iterable[str]) -> str:
    """Return one text for all problems, each different one said once; the empty text if there is none."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]" if distinct else ""


def _go_character(character: str) -> str:
    """Return one character as it stands in a Go string literal."""
    if (escaped := _ESCAPES.get(character)) is not None:
        return escaped
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _shown(value: str | Sequence[str] | None) -> str:
    """Return the value as an error message shows it: texts quoted, lists as JSON."""
    if isinstance(value, str):
        return go_quote(value)
    return msgspec.json.encode(value).decode().translate(_JSON_ESCAPES)
