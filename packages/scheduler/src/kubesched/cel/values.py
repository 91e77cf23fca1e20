"""Values of a running expression, and how they compare.

Booleans, strings, bytes, doubles and null are Python's own; an `int` is a signed 64 bit integer and `Uint` an unsigned
one; lists are Python lists. The left operand's type decides equality, as in the reference: some types have no equality
with other types (`no such overload`), all other types are simply not equal to them.
"""

# upstream: cel-go common/types (v0.26)

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from kubesched.api.quantity import Quantity
from kubesched.cel import types
from kubesched.cel.errors import CelValueError, no_such_overload
from kubesched.cel.types import Type

MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1
MAX_UINT: Final = 2**64 - 1


class Uint(int):
    """An unsigned 64 bit integer."""

    __slots__ = ()


class GrowingList(list[Any]):
    """The accumulator of a comprehension, which `+` extends in place."""

    __slots__ = ()


class _Missing:
    __slots__ = ()


MISSING: Final = _Missing()


class CelMap:
    """A map; keys that are no strings are kept with their type, since 1, 1u, 1.0 and true are different keys.

    A map with a default returns it for missing keys; only `in` tests whether a key exists.
    """

    __slots__ = ("default", "entries", "growing")

    def __init__(self, entries: dict[Any, Any] | None = None, default: Any = MISSING, *, growing: bool = False) -> None:
        self.entries: dict[Any, Any] = {} if entries is None else entries
        self.default = default
        # the accumulator of a comprehension, which insertion changes in place
        self.growing = growing

    def __len__(self) -> int:
        return len(self.entries)

    def keys(self) -> Iterator[Any]:
        """Yield the keys."""
        for key in self.entries:
            yield key if type(key) is str else key[1]

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield keys with their values."""
        for key, value in self.entries.items():
            yield (key if type(key) is str else key[1]), value

    def find(self, key: Any) -> Any:
        """Return the value of a key, the default, or MISSING."""
        value = self.look_up(key)
        return self.default if value is MISSING else value

    def look_up(self, key: Any) -> Any:
        """Return the value of a key, or MISSING; numbers also match equal integer keys."""
        if type(key) is str:
            return self.entries.get(key, MISSING)
        for candidate in _key_candidates(key):
            if candidate in self.entries:
                return self.entries[candidate]
        return MISSING

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key."""
        self.entries[map_key(key)] = value

    def drop(self, key: Any) -> None:
        """Remove a key."""
        self.entries.pop(map_key(key), None)


def map_key(key: Any) -> Any:
    """Return the dictionary key of a map key."""
    if type(key) is str:
        return key
    if type(key) in _HASHABLE:
        return type(key), key
    return type(key), id(key)


def _key_candidates(key: Any) -> Iterator[Any]:
    yield map_key(key)
    kind = type(key)
    if kind is float:
        if key.is_integer():
            yield int, int(key)
            yield Uint, int(key)
    elif kind is int:
        yield Uint, key
    elif kind is Uint:
        yield int, int(key)


class Optional:
    """A value that may be absent."""

    __slots__ = ("value",)

    def __init__(self, value: Any = MISSING) -> None:
        self.value = value

    @property
    def present(self) -> bool:
        """Return whether the value is present."""
        return self.value is not MISSING


NONE: Final = Optional()


class Duration:
    """A span of time in nanoseconds."""

    __slots__ = ("nanoseconds",)

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds


class Timestamp:
    """A point in time: seconds since 1970, nanoseconds, and the offset from UTC it was written with."""

    __slots__ = ("nanoseconds", "offset_seconds", "seconds")

    def __init__(self, seconds: int, nanoseconds: int = 0, offset_seconds: int = 0) -> None:
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.offset_seconds = offset_seconds

    @property
    def instant(self) -> tuple[int, int]:
        """Return the time without the offset, for comparisons."""
        return self.seconds, self.nanoseconds


class ComputedQuantity:
    """A sum or difference of quantities, which the reference's equality does not recognise on its right side."""

    __slots__ = ("quantity",)

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity


class Opaque:
    """A value of a library: its type, its content, and the content for comparisons."""

    __slots__ = ("compared", "held", "type")

    def __init__(self, described: Type, held: Any, compared: Any) -> None:
        self.type = described
        self.held = held
        self.compared = compared


_TYPES: Final[dict[type, Type]] = {
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
    list: types.LIST,
    GrowingList: types.LIST,
    CelMap: types.MAP,
    Optional: types.OPTIONAL,
    Duration: types.DURATION,
    Timestamp: types.TIMESTAMP,
    Quantity: types.QUANTITY,
    ComputedQuantity: types.QUANTITY,
    Type: types.TYPE,
}
_HASHABLE: Final = frozenset({bool, int, Uint, float, str, bytes, type(None)})
_GO_NAMES: Final[dict[type, str]] = {
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    list: "*types.baseList",
    GrowingList: "*types.mutableList",
    CelMap: "*types.baseMap",
    Optional: "*types.Optional",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    Quantity: "cel.Quantity",
    ComputedQuantity: "*cel.Quantity",
    Type: "*types.Type",
}


def type_of(value: Any) -> Type:
    """Return the run-time type of a value; of lists and maps without their parameters."""
    found = _TYPES.get(type(value))
    return found if found is not None else value.type


def go_type_name(value: Any) -> str:
    """Return the Go type of a value, as the reference's messages name it."""
    found = _GO_NAMES.get(type(value))
    return found if found is not None else f"cel.{value.type.name.rpartition('.')[2].removeprefix('Named')}"


def has_type(described: Type, value: Any) -> bool:
    """Return whether a value is of a declared type; of lists and maps only the first element is checked."""
    kind = described.kind
    if kind in ("dyn", "any", "param"):
        return True
    if described.name != type_of(value).name:
        return False
    if kind == "list":
        return not value or has_type(described.parameters[0], value[0])
    if kind == "map" and value:
        key, inner = next(value.items())
        return has_type(described.parameters[0], key) and has_type(described.parameters[1], inner)
    return True


# Numbers.


def _compare_double_int(double: float, integer: int, low: float, high: float) -> int:
    if double < low:
        return -1
    if double > high:
        return 1
    other = float(integer)
    return int(double > other) - int(double < other)


def _compare_numbers(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 for two numbers of any type; an integer is compared with a double as a double."""
    if type(left) is float and type(right) is not float:
        low, high = (0.0, 2.0**64) if type(right) is Uint else (-(2.0**63), 2.0**63)
        return _compare_double_int(left, right, low, high)
    if type(right) is float and type(left) is not float:
        return -_compare_numbers(right, left)
    return int(left > right) - int(left < right)


_NUMBERS: Final = frozenset({int, Uint, float})


def _numbers_equal(left: Any, right: Any) -> bool:
    if type(right) not in _NUMBERS or left != left or right != right:
        return False
    return _compare_numbers(left, right) == 0


# Equality.


def equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal; raises CelValueError if their types have no equality."""
    if left is None or right is None:
        return left is right
    kind = type(left)
    if kind is str or kind is bool or kind is bytes:
        return type(right) is kind and bool(left == right)
    form = _EQUALITY.get(kind)
    return _opaque_equal(left, right) if form is None else form(left, right)


def surely_equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal; False if their types have no equality."""
    try:
        return equal(left, right)
    except CelValueError:
        return False


def _surely_different(left: Any, right: Any) -> bool:
    # the reference continues if elements cannot be compared
    try:
        return not equal(left, right)
    except CelValueError:
        return False


def _lists_equal(left: list[Any], right: Any) -> bool:
    if not isinstance(right, list) or len(left) != len(right):
        return False
    return not any(map(_surely_different, left, right))


def _maps_equal(left: CelMap, right: Any) -> bool:
    if type(right) is not CelMap or len(left) != len(right):
        return False
    for key, value in left.items():
        other = right.find(key)
        if other is MISSING or _surely_different(value, other):
            return False
    return True


def _optionals_equal(left: Optional, right: Any) -> bool:
    if type(right) is not Optional or left.present != right.present:
        return False
    return not left.present or equal(left.value, right.value)


def _quantities_equal(left: Any, right: Any) -> bool:
    if type(right) is not Quantity:
        raise no_such_overload()
    quantity = left.quantity if type(left) is ComputedQuantity else left
    return bool(quantity.compare(right) == 0)


def _opaque_equal(left: Opaque, right: Any) -> bool:
    if not isinstance(right, Opaque) or right.type is not left.type:
        raise no_such_overload()
    return bool(left.compared == right.compared)


def _durations_equal(left: Duration, right: Any) -> bool:
    return type(right) is Duration and left.nanoseconds == right.nanoseconds


def _timestamps_equal(left: Timestamp, right: Any) -> bool:
    return type(right) is Timestamp and left.instant == right.instant


def _types_equal(left: Type, right: Any) -> bool:
    return type(right) is Type and left.name == right.name


_EQUALITY: Final[dict[type, Callable[[Any, Any], bool]]] = {
    int: _numbers_equal,
    Uint: _numbers_equal,
    float: _numbers_equal,
    list: _lists_equal,
    GrowingList: _lists_equal,
    CelMap: _maps_equal,
    Optional: _optionals_equal,
    Quantity: _quantities_equal,
    ComputedQuantity: _quantities_equal,
    Duration: _durations_equal,
    Timestamp: _timestamps_equal,
    Type: _types_equal,
}


# Order.

COMPARABLE: Final = frozenset({bool, int, Uint, float, str, bytes, Duration, Timestamp})


def compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 for values that have an order, or raise CelValueError; the left one is of a comparable type."""
    kind = type(left)
    if kind in _NUMBERS:
        if left != left:
            raise CelValueError("NaN values cannot be ordered")
        if type(right) not in _NUMBERS:
            raise no_such_overload()
        if right != right:
            raise CelValueError("NaN values cannot be ordered")
        return _compare_numbers(left, right)
    if type(right) is not kind:
        raise no_such_overload()
    if kind is Duration:
        left, right = left.nanoseconds, right.nanoseconds
    elif kind is Timestamp:
        left, right = left.instant, right.instant
    return int(left > right) - int(left < right)


def size_of(value: Any) -> int:
    """Return the size that costs are computed from: 1 for values without a size."""
    if isinstance(value, str | list | bytes | CelMap):
        return len(value)
    if isinstance(value, Opaque) and value.type in (types.IP, types.CIDR):
        bits = value.held.max_prefixlen if value.type == types.IP else value.held[1]
        return -(-int(bits) // 8)
    if type(value) is Optional and value.present:
        return size_of(value.value)
    return 1


def weight(value: Any, known: dict[int, int] | None = None) -> int:
    """Return the number of characters and elements in a value; shared parts count at each occurrence."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value) + 1
    if kind is Optional:
        return weight(value.value, known) if value.present else 1
    if not isinstance(value, list | CelMap):
        return 1
    known = {} if known is None else known
    found = known.get(id(value))
    if found is None:
        parts = value if isinstance(value, list) else [each for pair in value.items() for each in pair]
        found = known[id(value)] = 1 + sum(weight(each, known) for each in parts)
    return found
