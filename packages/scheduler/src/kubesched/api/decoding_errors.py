"""Errors of objects that cannot be decoded: the object, the field, the expected type and the actual value.

From a document and msgspec's message about it to an InvalidObjectError of one sentence.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from kubesched.api.field_types import field_types, is_struct, strip_optional
from kubesched.api.meta import ApiStruct
from kubesched.errors import InvalidObjectError

_ERROR = re.compile(r"(?P<message>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<field>[^.\[]+)|\[(?P<index>\d+)\]|\[(?P<any>\.\.\.)\]")
_EXPECTED = re.compile(r"Expected `(?P<types>[^`]+)`(?P<bound> [<>]= -?\d+)?")
_WORDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
    "datetime": "a time such as 2006-01-02T15:04:05Z",
}


def invalid_object(where: str, sentence: str) -> InvalidObjectError:
    """Return the error with this sentence; `where` is put before it."""
    return InvalidObjectError(f"{where}: {sentence}" if where else sentence)


def name_of(document: object, kind: str = "") -> str:
    """Return kind, namespace and name of a document, `Pod default/web-0`, as far as it has them."""
    if not isinstance(document, Mapping):
        return kind
    kind = kind or _text(document.get("kind")) or "object"
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return f"{kind} without a name"
    name, namespace = _text(metadata.get("name")), _text(metadata.get("namespace"))
    if not name:
        return f"{kind} without a name"
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def problem_of(text: str, document: object, kind_type: type[ApiStruct]) -> str:
    """Return `field: expected this, got that` for an error text of msgspec."""
    match = _ERROR.fullmatch(text)
    assert match is not None, text
    path, value = _locate(match["path"] or "", document, kind_type)
    before = f"{path}: " if path else ""
    if match["key"]:
        bad_key = next((key for key in value if not isinstance(key, str)), None)
        return f"{before}expected strings as keys, got {described(bad_key)}"
    expected = _expected(match["message"])
    if expected is None:
        return before + match["message"]
    return f"{before}expected {expected}, got {described(value)}"


def _locate(path: str, document: object, kind_type: Any) -> tuple[str, Any]:
    """Return the field path as a person writes it, and the value found there."""
    written, value, value_type = "", document, kind_type
    for step in _STEP.finditer(path):
        value_type, _ = strip_optional(value_type)
        if step["field"] and isinstance(value, Mapping) and is_struct(value_type):
            field = step["field"]
            written += f".{field}"
            value, value_type = value.get(field), field_types(value_type).get(field, Any)
        elif step["index"] and isinstance(value, Sequence):
            written += step[0]
            value, value_type = value[int(step["index"])], get_args(value_type)[0]
        elif step["any"] and isinstance(value, Mapping):
            value_type = get_args(value_type)[1]
            key = _first_misfit(value, value_type)
            written += f'["{key}"]'
            value = value.get(key)
    return written.removeprefix("."), value


def _first_misfit(mapping: Mapping[Any, Any], value_type: Any) -> object:
    """Return the first key whose value does not have the type, since msgspec does not report the key."""
    for key, value in mapping.items():
        try:
            msgspec.convert(value, value_type)
        except msgspec.ValidationError:
            return key
    return None


def _expected(message: str) -> str | None:
    """Return the type that msgspec expected, in words; None if its message has none."""
    if "datetime" in message:
        return _WORDS["datetime"]
    match = _EXPECTED.match(message)
    if match is None:
        return None
    types = [name for name in match["types"].split(" | ") if name != "null"]
    if set(types) == {"int", "float", "str"}:
        return "a quantity"
    bound = match["bound"] or ""
    return " or ".join(_WORDS.get(name, name) for name in types) + bound


def described(value: object) -> str:
    """Return a value in a few words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"' if len(value) <= 40 else f'"{value[:40]}..."'
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
    return str(value)
