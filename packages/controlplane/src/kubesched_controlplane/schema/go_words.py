"""Go's names and formats of JSON values, as in the messages of its decoders and printers.

From plain values (dicts, lists, texts, numbers, booleans, None) to the names and texts in messages.
"""

# upstream: Go's encoding/json, fmt, reflect

from typing import Any

_JSON_NAMES = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_KINDS = {dict: "map", list: "slice", str: "string", bool: "bool", int: "int64", float: "float64"}
_TYPES = {**_KINDS, dict: "map[string]interface {}", list: "[]interface {}"}


def json_name(value: Any) -> str:
    """Return the name of a JSON value's type in messages of Go's decoder."""
    return _named(_JSON_NAMES, value, "null")


def kind_name(value: Any) -> str:
    """Return the Go kind of a decoded JSON value."""
    return _named(_KINDS, value, "nil")


def type_name(value: Any) -> str:
    """Return the Go type of a decoded JSON value."""
    return _named(_TYPES, value, "nil")


def _named(names: dict[type, str], value: Any, nothing: str) -> str:
    found = names.get(type(value))
    return found or next((name for kind, name in names.items() if isinstance(value, kind)), nothing)


def printed(value: Any) -> str:
    """Format a value like Go's %v: keys sorted, strings without quotes."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{printed(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(printed, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _printed_float(value)
    return str(value)


def _printed_float(value: float) -> str:
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" not in text and abs(value) < 1e-4:
        return f"{value:e}"
    return text
