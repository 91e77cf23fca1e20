"""Conversions between types: `int('3')`, `string(1.5)`, `type(x)`."""

# upstream: cel-go common/types, ConvertToType of each (v0.26)

import math
import re
from collections.abc import Callable
from typing import Any, Final

from kubesched.api.go_numbers import shortest
from kubesched.cel import types
from kubesched.cel.errors import CelValueError
from kubesched.cel.functions.arithmetic import MAX_SECONDS, MIN_SECONDS, checked_int, checked_uint
from kubesched.cel.go_format import duration_text, parse_duration, parse_timestamp, timestamp_text
from kubesched.cel.types import Type
from kubesched.cel.values import MAX_INT, MAX_UINT, MIN_INT, Duration, Opaque, Timestamp, Uint, type_of

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_NATURAL: Final = re.compile(r"[0-9]+")
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_NUMBERS: Final = re.compile(r"[+-]?(?:inf|infinity)|nan", re.IGNORECASE)
# Longer texts are out of range, and slow to convert.
_LONGEST_NUMBER: Final = 400


def _impossible(value: Any, target: Type) -> CelValueError:
    return CelValueError(f"type conversion error from '{type_of(value)}' to '{target}'")


def to_type(value: Any) -> Type:
    """Return the type of a value."""
    return type_of(value)


def to_bool(value: Any) -> bool:
    """Return a truth value."""
    if type(value) is bool:
        return value
    if type(value) is str and (value in _TRUE or value in _FALSE):
        return value in _TRUE
    raise _impossible(value, types.BOOL)


def to_bytes(value: Any) -> bytes:
    """Return the bytes of a text."""
    if type(value) is bytes:
        return value
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass")
    raise _impossible(value, types.BYTES)


def to_int(value: Any) -> int:
    """Return an integer; a double is truncated."""
    kind = type(value)
    if kind is int:
        return int(value)
    if kind is Uint:
        return checked_int(int(value))
    if kind is float:
        if not math.isfinite(value) or not -(2.0**63) < value < 2.0**63:
            raise CelValueError("integer overflow")
        return int(value)
    if kind is str and _INTEGER.fullmatch(value) and len(value) < _LONGEST_NUMBER:
        number = int(value)
        if MIN_INT <= number <= MAX_INT:
            return number
    if kind is Duration:
        return int(value.nanoseconds)
    if kind is Timestamp:
        return int(value.seconds)
    raise _impossible(value, types.INT)


def to_uint(value: Any) -> Uint:
    """Return an unsigned integer."""
    kind = type(value)
    if kind is Uint:
        return Uint(value)
    if kind is int:
        return checked_uint(value)
    if kind is float:
        if not math.isfinite(value) or not 0 <= value < 2.0**64:
            raise CelValueError("unsigned integer overflow")
        return Uint(int(value))
    if kind is str and _NATURAL.fullmatch(value) and len(value) < _LONGEST_NUMBER and int(value) <= MAX_UINT:
        return Uint(int(value))
    raise _impossible(value, types.UINT)


def to_double(value: Any) -> float:
    """Return a double."""
    kind = type(value)
    if kind in (int, Uint, float):
        return float(value)
    if kind is str:
        if _NO_NUMBERS.fullmatch(value):
            return float(value)
        if _DOUBLE.fullmatch(value) and math.isfinite(number := float(value)):
            return number
    raise _impossible(value, types.DOUBLE)


def to_duration(value: Any) -> Duration:
    """Return a span of time."""
    if type(value) is Duration:
        return value
    found = parse_duration(value) if type(value) is str else None
    if found is None:
        raise _impossible(value, types.DURATION)
    return found


def to_timestamp(value: Any) -> Timestamp:
    """Return a point in time."""
    if type(value) is Timestamp:
        return value
    if type(value) is int:
        found: Timestamp | None = Timestamp(value)
    else:
        found = parse_timestamp(value) if type(value) is str else None
    if found is None:
        raise _impossible(value, types.TIMESTAMP)
    if not MIN_SECONDS <= found.seconds <= MAX_SECONDS:
        raise CelValueError("timestamp overflow")
    return found


def to_string(value: Any) -> str:
    """Return a text."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bytes:
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise CelValueError("invalid UTF-8 in bytes, cannot convert to string") from None
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, Uint):
        return str(int(value))
    if kind is Opaque and value.type in (types.IP, types.CIDR):
        return str(value.held) if value.type == types.IP else f"{value.held[0]}/{value.held[1]}"
    write = _WRITTEN.get(kind)
    if write is None:
        raise _impossible(value, types.STRING)
    return write(value)


_WRITTEN: Final[dict[type, Callable[[Any], str]]] = {
    float: shortest,
    Duration: duration_text,
    Timestamp: timestamp_text,
    type(None): lambda _: "null",
    Type: lambda value: str(value.name),
}

_NATIVE: Final = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "double": "type conversion error from Double to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "type": "type conversion not supported for 'type'",
    "optional_type": "optional.none() dereference",
}


def native_problem(value: Any) -> str:
    """Return the error for a value that is no boolean as the result of a selector."""
    name = type_of(value).name
    short = name.rpartition(".")[2].removeprefix("Named")
    reason = _NATIVE.get(name, f"type conversion error from '{short}' to 'bool'")
    return f"CEL result of type {name} could not be converted to bool: {reason}"
