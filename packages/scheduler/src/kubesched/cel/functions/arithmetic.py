"""Operators: two values in, a value or an error out.

The left operand's type selects the operation. Integers do not wrap around: overflow is an error.
"""

# upstream: cel-go common/types/{int,uint,double,duration,timestamp,overflow}.go, interpreter/interpretable.go (v0.26)

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from kubesched.cel.errors import CelValueError, no_such_overload
from kubesched.cel.values import (
    COMPARABLE,
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    MISSING,
    CelMap,
    Duration,
    GrowingList,
    Timestamp,
    Uint,
    compare,
    surely_equal,
)

Binary = Callable[[Any, Any], Any]

_SECOND: Final = 10**9
MIN_SECONDS: Final = -62135596800
MAX_SECONDS: Final = 253402300799
# Types whose error for an unknown function does not name the function.
_RECEIVERS: Final = frozenset({str, Duration, Timestamp})


def undefined(function: str, value: Any) -> CelValueError:
    """Return the error of a function that is not defined for its first argument's type."""
    return no_such_overload() if type(value) in _RECEIVERS else CelValueError(f"no such overload: {function}")


def checked_int(value: int) -> int:
    """Return an integer if it fits in 64 bits, or raise CelValueError."""
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelValueError("integer overflow")


def checked_uint(value: int) -> Uint:
    """Return an unsigned integer if it fits in 64 bits, or raise CelValueError."""
    if 0 <= value <= MAX_UINT:
        return Uint(value)
    raise CelValueError("unsigned integer overflow")


def _same(left: Any, right: Any) -> None:
    if type(right) is not type(left):
        raise no_such_overload()


def truncated(left: int, right: int) -> int:
    """Return a quotient cut towards zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


# Sums.


def _later(moment: Timestamp, nanoseconds: int) -> Timestamp:
    seconds, rest = divmod(moment.seconds * _SECOND + moment.nanoseconds + nanoseconds, _SECOND)
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise CelValueError("timestamp overflow")
    return Timestamp(seconds, rest, moment.offset_seconds)


def _add_list(left: list[Any], right: Any) -> list[Any]:
    if not isinstance(right, list):
        raise no_such_overload()
    if type(left) is GrowingList:
        left.extend(right)
        return left
    return left + right


def _add_duration(left: Duration, right: Any) -> Any:
    if type(right) is Timestamp:
        return _later(right, left.nanoseconds)
    _same(left, right)
    return Duration(checked_int(left.nanoseconds + right.nanoseconds))


def _add_timestamp(left: Timestamp, right: Any) -> Timestamp:
    if type(right) is not Duration:
        raise no_such_overload()
    return _later(left, right.nanoseconds)


def _subtract_duration(left: Duration, right: Any) -> Duration:
    _same(left, right)
    return Duration(checked_int(left.nanoseconds - right.nanoseconds))


def _subtract_timestamp(left: Timestamp, right: Any) -> Any:
    if type(right) is Duration:
        return _later(left, -checked_int(right.nanoseconds))
    _same(left, right)
    seconds = checked_int((left.seconds - right.seconds) * _SECOND)
    return Duration(checked_int(seconds + left.nanoseconds - right.nanoseconds))


# Numbers.


def _ints(operate: Binary) -> Binary:
    def apply(left: int, right: Any) -> int:
        if type(right) is not int:
            raise no_such_overload()
        return checked_int(operate(left, right))

    return apply


def _uints(operate: Binary) -> Binary:
    def apply(left: Uint, right: Any) -> Uint:
        if type(right) is not Uint:
            raise no_such_overload()
        return checked_uint(operate(int(left), int(right)))

    return apply


def _doubles(operate: Binary) -> Binary:
    def apply(left: float, right: Any) -> float:
        if type(right) is not float:
            raise no_such_overload()
        return float(operate(left, right))

    return apply


def _joined(left: Any, right: Any) -> Any:
    _same(left, right)
    return left + right


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise CelValueError("division by zero")
    return truncated(left, right)


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise CelValueError("modulus by zero")
    if left == MIN_INT and right == -1:
        raise CelValueError("integer overflow")
    return left - right * truncated(left, right)


def _divided(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _by_left_operand(function: str, forms: dict[type, Binary]) -> Binary:
    """Return an operator that selects its implementation by the left operand's type."""

    def apply(left: Any, right: Any) -> Any:
        form = forms.get(type(left))
        if form is None:
            raise undefined(function, left)
        return form(left, right)

    return apply


add: Final = _by_left_operand(
    "_+_",
    {
        int: _ints(operator.add),
        Uint: _uints(operator.add),
        float: _doubles(operator.add),
        str: _joined,
        bytes: _joined,
        list: _add_list,
        GrowingList: _add_list,
        Duration: _add_duration,
        Timestamp: _add_timestamp,
    },
)
subtract: Final = _by_left_operand(
    "_-_",
    {
        int: _ints(operator.sub),
        Uint: _uints(operator.sub),
        float: _doubles(operator.sub),
        Duration: _subtract_duration,
        Timestamp: _subtract_timestamp,
    },
)
multiply: Final = _by_left_operand(
    "_*_", {int: _ints(operator.mul), Uint: _uints(operator.mul), float: _doubles(operator.mul)}
)
divide: Final = _by_left_operand("_/_", {int: _ints(_quotient), Uint: _uints(_quotient), float: _doubles(_divided)})
modulo: Final = _by_left_operand("_%_", {int: _ints(_remainder), Uint: _uints(_remainder)})


def negate(value: Any) -> Any:
    """Return a number or duration with the opposite sign."""
    kind = type(value)
    if kind is int:
        return checked_int(-value)
    if kind is float:
        return -value
    if kind is Duration:
        return Duration(checked_int(-value.nanoseconds))
    raise no_such_overload() if kind is bool else undefined("-_", value)


def logical_not(value: Any) -> bool:
    """Return the opposite of a truth value."""
    if type(value) is not bool:
        raise no_such_overload()
    return not value


def _order(function: str, decide: Callable[[int], bool]) -> Binary:
    def apply(left: Any, right: Any) -> bool:
        if type(left) not in COMPARABLE:
            raise undefined(function, left)
        return decide(compare(left, right))

    return apply


less: Final = _order("_<_", lambda order: order < 0)
less_equals: Final = _order("_<=_", lambda order: order <= 0)
greater: Final = _order("_>_", lambda order: order > 0)
greater_equals: Final = _order("_>=_", lambda order: order >= 0)


def contained(element: Any, container: Any) -> bool:
    """Return whether a list holds a value, or a map a key."""
    if isinstance(container, list):
        return any(surely_equal(element, each) for each in container)
    if type(container) is CelMap:
        return container.look_up(element) is not MISSING
    raise no_such_overload()


def size(value: Any) -> int:
    """Return the size of a text, list or map."""
    if isinstance(value, str | bytes | list | CelMap):
        return len(value)
    raise undefined("size", value)
