"""The cost of evaluating an expression, in the reference's units.

From a call's function and overload to a number, or to a function of its arguments and result. An evaluation whose cost
exceeds the limit is aborted, so that no selector can block the scheduler.
"""

# upstream: cel-go interpreter/runtimecost.go, ext/{lists,sets}.go (v0.26);
# upstream: apiserver/pkg/cel/library/cost.go (v1.36)

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from kubesched.api.quantity import Quantity
from kubesched.cel.values import CelMap, ComputedQuantity, Opaque, size_of

NEW_LIST: Final = 10
NEW_MAP: Final = 30

CostOf = Callable[[Sequence[Any], Any], int]
Cost = int | CostOf

_TRAVERSAL: Final = 0.1
_REGEX_LENGTH: Final = 0.25


def _tenths(size: int) -> int:
    return math.ceil(size * _TRAVERSAL)


def _first(args: Sequence[Any], _: Any) -> int:
    return _tenths(size_of(args[0]))


def _first_twice(args: Sequence[Any], _: Any) -> int:
    return math.ceil(size_of(args[0]) * 2 * _TRAVERSAL)


def _result_twice(_: Sequence[Any], result: Any) -> int:
    return math.ceil(size_of(result) * 2 * _TRAVERSAL)


def _regex(args: Sequence[Any], _: Any) -> int:
    return math.ceil((1.0 + size_of(args[0])) * _TRAVERSAL) * math.ceil(size_of(args[1]) * _REGEX_LENGTH)


def _traversal(value: Any, known: dict[int, int] | None = None) -> int:
    match value:
        case str():
            return int(len(value.encode("utf-8", "replace")) * _TRAVERSAL)
        case bytes():
            return int(len(value) * _TRAVERSAL)
        case list() | CelMap():
            known = {} if known is None else known
            found = known.get(id(value))
            if found is None:
                parts = value if isinstance(value, list) else [each for pair in value.items() for each in pair]
                found = known[id(value)] = sum(_traversal(each, known) for each in parts)
            return found
    return 1


def _traversed(args: Sequence[Any], _: Any) -> int:
    return _traversal(args[0])


def equality(args: Sequence[Any], _: Any = None) -> int:
    """Return the cost of comparing two values."""
    left, right = args
    if isinstance(left, Opaque | Quantity | ComputedQuantity):
        return 1
    return _tenths(min(size_of(left), size_of(right)))


def _smaller(args: Sequence[Any], _: Any) -> int:
    return _tenths(min(size_of(args[0]), size_of(args[1])))


def _both(args: Sequence[Any], _: Any) -> int:
    return _tenths(size_of(args[0]) + size_of(args[1]))


def _product(args: Sequence[Any], _: Any) -> int:
    return _tenths(size_of(args[0])) * _tenths(size_of(args[1]))


def _contains_ip(args: Sequence[Any], _: Any) -> int:
    text = _tenths(len(args[1])) if isinstance(args[1], str) else 0
    return _tenths(2 * size_of(args[0])) + text


def _contains_cidr(args: Sequence[Any], _: Any) -> int:
    return _contains_ip(args, None) + _tenths(size_of(args[0])) + 1


def _validated(args: Sequence[Any], _: Any) -> int:
    pattern: int = math.ceil(args[0].held.pattern_length * _REGEX_LENGTH)
    return math.ceil((1.0 + size_of(args[1])) * _TRAVERSAL) * pattern


def _new_list(size: int, factor: float = 1.0) -> int:
    return int(size * factor) + 1 + NEW_LIST


def _flattened(args: Sequence[Any], _: Any) -> int:
    return _new_list(size_of(args[0]), float(args[1]) if len(args) == 2 else 1.0)


def _self_compared(elements: list[Any]) -> int:
    factor = 2.0 + (_TRAVERSAL if elements and isinstance(elements[0], str | bytes) else 0.0)
    return _new_list(len(elements) ** 2, factor)


def _sets(factor: float) -> CostOf:
    return lambda args, _: 1 + int(len(args[0]) * len(args[1]) * factor)


_BY_FUNCTION: Final[dict[str, Cost]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traversed),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR"), _first),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _first),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first_twice),
    **dict.fromkeys(("find", "findAll"), _regex),
    "join": _result_twice,
    "check": 350_000,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validated,
    "_==_": equality,
}
_BY_OVERLOAD: Final[dict[str, Cost]] = {
    **dict.fromkeys(("list_slice", "lists_range", "list_reverse"), lambda _, result: _new_list(len(result))),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), _flattened),
    "list_distinct": lambda args, _: _self_compared(args[0]),
    "list_sets_contains_list": _sets(1.0),
    "list_sets_intersects_list": _sets(1.0),
    "list_sets_equivalent_list": _sets(2.0),
    "string_to_ip": _first,
    **dict.fromkeys(("starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string"), _first),
    **dict.fromkeys(("strings_quote", "string_format"), _first),
    "in_list": lambda args, _: size_of(args[1]),
    **{
        f"{order}_{kind}": _smaller
        for order in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
    "not_equals": _smaller,
    **dict.fromkeys(("add_string", "add_bytes"), _both),
    "matches_string": _regex,
    "contains_string": _product,
}


def cost_of(function: str, overload: str) -> Cost:
    """Return the cost of a call; `overload` is empty if it is only known at run time."""
    if overload.endswith("_sort"):
        return lambda args, _: _self_compared(args[0])
    if overload.endswith("_sortByAssociatedKeys"):
        return lambda args, _: _self_compared(args[1])
    known = _BY_FUNCTION.get(function)
    return known if known is not None else _BY_OVERLOAD.get(overload, 1)
