"""Text to plain values and back: the YAML and JSON that the reference reads, with nothing lost or guessed.

In: one document, as text or as bytes in UTF-8. Out: dict, list, str, int, float, bool, None, with string keys, as
sigs.k8s.io/yaml would hand them to a JSON decoder; `dump` writes YAML that `parse` reads back. Duplicate keys, cyclic
aliases, alias bombs and deep nesting are errors. The YAML tree is built from parser events, without recursion, so no
input can exhaust the stack.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final

import yaml

from kubesched.api.go_text import quote
from kubesched.config.golang import decode_base64

MAX_DEPTH: Final = 100
MAX_NODES: Final = 100_000
# characters of YAML from which on other threads may run while a scalar is read
_LONG: Final = 1 << 20

_TAG_PREFIX = "tag:yaml.org,2002:"
_MERGE = object()
_UINT64_MAX = 2**64 - 1
_INT64_MIN = -(2**63)

# upstream: go.yaml.in/yaml/v2 resolve.go (v1.36): YAML 1.1 words, y and n among them; no base 60, no dates.
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    "<<": _MERGE,
}
_INTEGERS = (
    (re.compile(r"([-+]?)0[xX]([0-9a-fA-F]{1,400})"), 16),
    (re.compile(r"([-+]?)0[bB]([01]{1,400})"), 2),
    (re.compile(r"([-+]?)0[oO]?([0-7]{1,400})"), 8),
    (re.compile(r"([-+]?)(0|[1-9][0-9]{0,400})"), 10),
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# a string, or the beginning or end of a list or an object in JSON
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)
_TAGGED_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "null": (type(None),),
}


# each value follows one of these, but for keys and for the first value
_SEPARATORS = (b",", b"[", b"{", b"\n", b"- ")


class DocumentError(ValueError):
    """A text that is no single well-formed document; its message names the line where it can."""


def parse(text: str | bytes, most_nodes: int | None = None) -> Any:
    """Return the value of the first document in `text` (JSON if it begins with a brace, else YAML).

    Parsing YAML takes a few microseconds for each value: callers with untrusted input limit the number of nodes.
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    try:
        return _parse_json(text, most_nodes) if _looks_like_json(text) else _parse_yaml(text, most_nodes)
    except yaml.YAMLError as error:
        raise DocumentError(_yaml_message(error)) from None
    except UnicodeError:
        raise DocumentError("yaml: the text is not valid Unicode") from None


def rough_values(text: bytes) -> int:
    """Estimate the number of values in a text without parsing it, which takes longer."""
    return sum(map(text.count, _SEPARATORS))


def parse_yaml(text: str | bytes, most_nodes: int | None = None) -> Any:
    """Return the value of the first document in `text`, read as YAML also if it begins with a brace."""
    if isinstance(text, bytes):
        text = _decoded(text)
    try:
        return parse(text, most_nodes)
    except DocumentError:
        if not _looks_like_json(text):
            raise
    # YAML has more in braces than JSON: a comma before the last of them, names without quotes
    try:
        return _parse_yaml(text, most_nodes)
    except yaml.YAMLError as error:
        raise DocumentError(_yaml_message(error)) from None


def _looks_like_json(text: str) -> bool:
    return text.lstrip(" \t\r\n").startswith("{")


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"not valid UTF-8: byte {error.start}") from None


def _yaml_message(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "cannot be parsed"
        return f"yaml: line {mark.line + 1}: {problem}" if mark else f"yaml: {problem}"
    if isinstance(error, yaml.reader.ReaderError):
        return f"yaml: position {error.position}: {error.reason}"
    return f"yaml: {error}"


class _Dumper(yaml.CSafeDumper):
    """Writes without aliases, and quotes strings that `parse` would not read as strings."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(f"{_TAG_PREFIX}str", text, style=None if _plain(text) == text else "'")


_Dumper.add_representer(str, _represent_text)


def dump(value: Any, *, sort_keys: bool = True, flow: bool = False) -> str:
    """Return plain `value` as YAML, with sorted keys as the reference writes it; `flow` writes braces, on one line."""
    # lines are folded where YAML is wider than this
    width = 2**30 if flow else 80
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=sort_keys, allow_unicode=True, default_flow_style=flow, width=width
    )


# --- JSON -------------------------------------------------------------------------------------------------------------


class _DuplicateError(DocumentError):
    """A key that occurs twice in one object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _DuplicateError(f"json: key {quote(key)} already set in map")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise DocumentError(f"json: invalid value {name}")


def _json_int(digits: str) -> int:
    if len(digits) > 400:
        raise DocumentError(f"json: number of {len(digits)} digits is out of range")
    return int(digits)


def _parse_json(text: str, most_nodes: int | None) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_json_int)
    except _DuplicateError:
        # The JSON reader reports no position; read as YAML, the same text fails with a line number.
        _parse_yaml(text, most_nodes)
        raise
    except RecursionError:
        raise DocumentError(f"json: nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        # from Python 3.14 on the JSON reader goes deeper before it gives up
        if _deepest(text[: error.pos]) > MAX_DEPTH:
            raise DocumentError(f"json: nested deeper than {MAX_DEPTH} levels") from None
        raise DocumentError(f"json: line {error.lineno}: {error.msg}") from None
    _check_depth(value)
    if "\\u" in text:
        # An escaped half of a surrogate pair is no text; Go reads it as U+FFFD.
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        value = json.loads(whole)
    return value


def _deepest(text: str) -> int:
    """Return how many lists and objects are open at once in the beginning of a JSON text."""
    steps = (1 if found[0] in "[{" else -1 for found in _BRACKET.finditer(text) if found[0][0] != '"')
    return max(accumulate(steps), default=0)


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise DocumentError(f"json: nested deeper than {MAX_DEPTH} levels")
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]


# --- YAML -------------------------------------------------------------------------------------------------------------


def _plain(text: str) -> Any:
    """Return the value of an untagged, unquoted scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    for pattern, base in _INTEGERS:
        match = pattern.fullmatch(digits)
        if match:
            number = int(match[1] + match[2], base)
            if _INT64_MIN <= number <= _UINT64_MAX:
                return number
    if _FLOAT.fullmatch(digits):
        real = float(digits)
        # A number beyond float64 is a string in the reference, too.
        return text if math.isinf(real) else _json_number(real)
    return text


def _json_number(number: float) -> int | float:
    """Return a float as the JSON number Go writes for it: below 1e21 a whole one has no fraction."""
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _scalar(event: yaml.ScalarEvent) -> Any:
    """Return the value of a scalar event, honouring its tag."""
    text, tag = event.value, event.tag
    if tag is None or tag == "!":
        return _plain(text) if tag is None and event.implicit[0] else text
    short = tag.removeprefix(_TAG_PREFIX)
    if short == "binary":
        try:
            return decode_base64(text).decode("utf-8", "replace")
        except ValueError:
            raise _at(event, "!!binary value contains invalid base64 data") from None
    expected = _TAGGED_TYPES.get(short)
    if expected is None:
        return text
    value = _plain(text)
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        raise _at(event, f"cannot decode {quote(text)} as a !!{short}")
    return value


def _at(event: yaml.Event, problem: str) -> DocumentError:
    mark = event.start_mark
    return DocumentError(f"yaml: line {mark.line + 1 if mark else '?'}: {problem}")


def _too_deep(event: yaml.Event) -> DocumentError:
    return _at(event, f"nested deeper than {MAX_DEPTH} levels")


class _Open:
    """A mapping or sequence whose end has not been read yet."""

    __slots__ = ("anchor", "expects_key", "height", "key", "size", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: Any = None
        self.expects_key = isinstance(value, dict)
        self.size = 1
        self.height = 1

    def add(self, value: Any, event: yaml.Event) -> None:
        if isinstance(self.value, list):
            self.value.append(_finite(value, event))
        elif self.expects_key:
            self.key = value if value is _MERGE else _key(value, event)
            self.expects_key = False
        else:
            self.expects_key = True
            if self.key is _MERGE:
                for key, item in _merged(value, event):
                    self._set(key, item, event)
            else:
                self._set(self.key, _finite(value, event), event)

    def _set(self, key: str, value: Any, event: yaml.Event) -> None:
        assert isinstance(self.value, dict)
        if key in self.value:
            raise _at(event, f"key {quote(key)} already set in map")
        self.value[key] = value


def _finite(value: Any, event: yaml.Event) -> Any:
    if value is _MERGE:
        return "<<"
    if isinstance(value, float) and not math.isfinite(value):
        raise _at(event, f"unsupported value: {value}")
    return value


def _key(value: Any, event: yaml.Event) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return format(value, "g") if isinstance(value, float) else str(value)
    raise _at(event, f"unsupported map key of type {'null' if value is None else type(value).__name__}")


def _merged(value: Any, event: yaml.Event) -> Iterator[tuple[str, Any]]:
    for source in value if isinstance(value, list) else [value]:
        if not isinstance(source, dict):
            raise _at(event, "map merge requires map or sequence of maps as the value")
        yield from source.items()


class _Tree:
    """Builds the value of one document from its events.

    Aliases share values, so a small text can stand for a huge or a very deep tree: every value carries the number of
    nodes and the height it has when written out, and both are bounded; values without aliases may be long.
    """

    def __init__(self) -> None:
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int, int]] = {}
        self.pending: set[str] = set()
        self.root: Any = None
        self.fed = 0

    def feed(self, event: yaml.Event) -> None:
        self.fed += 1
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
            if event.anchor:
                self.anchors[event.anchor] = (value, 1, 0)
            self._complete(value, 1, 0, event)
        elif isinstance(event, yaml.AliasEvent):
            name = event.anchor or ""
            if name in self.pending:
                raise _at(event, f"anchor {quote(name)} value contains itself")
            if name not in self.anchors:
                raise _at(event, f"unknown anchor {quote(name)} referenced")
            self._complete(*self.anchors[name], event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            closed = self.stack.pop()
            if closed.anchor:
                self.pending.discard(closed.anchor)
                self.anchors[closed.anchor] = (closed.value, closed.size, closed.height)
            self._complete(closed.value, closed.size, closed.height, event)

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise _too_deep(event)
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        if event.anchor:
            self.pending.add(event.anchor)
        self.stack.append(_Open(value, event.anchor))

    def _complete(self, value: Any, size: int, height: int, event: yaml.Event) -> None:
        if not self.stack:
            self.root = _finite(value, event)
            return
        parent = self.stack[-1]
        parent.size += size
        parent.height = max(parent.height, height + 1)
        if len(self.stack) + height > MAX_DEPTH:
            raise _too_deep(event)
        if parent.size > MAX_NODES + self.fed:
            raise _at(event, "document contains excessive aliasing")
        parent.add(value, event)


class _InPieces:
    """A text that the YAML library reads piece by piece, so that other threads run between two pieces of a scalar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self, size: int) -> str:
        """Return the next characters, none at the end."""
        start, self._at = self._at, self._at + size
        return self._text[start : self._at]


def _parse_yaml(text: str, most_nodes: int | None) -> Any:
    tree = _Tree()
    for event in yaml.parse(_InPieces(text) if len(text) > _LONG else text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.DocumentEndEvent):
            break
        if most_nodes is not None and tree.fed > most_nodes:
            raise _at(event, f"more than {most_nodes} values; send so many as JSON")
        tree.feed(event)
    return tree.root
