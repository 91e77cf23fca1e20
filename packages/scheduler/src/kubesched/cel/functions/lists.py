"""Functions of lists, of lists as sets, and of maps that comprehensions build."""

# upstream: cel-go ext/{lists,sets,comprehensions}.go, cel/library.go (v0.26);
# upstream: apiserver/pkg/cel/library/lists.go, dynamic-resource-allocation/cel/compile.go (v1.36)

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from kubesched.cel.errors import CelAbortError, CelValueError, no_such_overload
from kubesched.cel.functions.arithmetic import MIN_SECONDS, add, contained, undefined
from kubesched.cel.go_format import shown
from kubesched.cel.values import (
    COMPARABLE,
    MISSING,
    NONE,
    CelMap,
    Duration,
    Optional,
    Timestamp,
    compare,
    surely_equal,
    type_of,
)

# A list of this length exceeds the cost limit of any selector.
_MOST_ELEMENTS: Final = 1_000_000
# upstream: ResourceSliceMaxAttributeValuesPerDevice
_MOST_INCLUDED: Final = 48


def is_sorted(elements: list[Any]) -> bool:
    """Return whether no element is greater than the next."""
    for element in elements:
        if type(element) not in COMPARABLE:
            raise no_such_overload()
    return all(_order(left, right) <= 0 for left, right in pairwise(elements))


def _order(left: Any, right: Any) -> int:
    # elements that cannot be compared are in order for the reference
    try:
        return compare(left, right)
    except CelValueError:
        return 0


def total(zero: Any) -> Callable[[list[Any]], Any]:
    """Return the function that sums a list, starting at a zero of its type."""

    def apply(elements: list[Any]) -> Any:
        result = zero
        for element in elements:
            result = add(result, element)
        return result

    return apply


def extreme(name: str, wanted: int) -> Callable[[list[Any]], Any]:
    """Return the function that finds the least or greatest element."""

    def apply(elements: list[Any]) -> Any:
        if not elements:
            raise CelValueError(f"{name} called on empty list")
        best = elements[0]
        for element in elements:
            if type(element) not in COMPARABLE:
                raise no_such_overload()
            if _order(best, element) == wanted:
                best = element
        return best

    return apply


def index_of(elements: list[Any], item: Any) -> int:
    """Return the first index of an item, or -1."""
    return next((index for index, element in enumerate(elements) if surely_equal(element, item)), -1)


def last_index_of(elements: list[Any], item: Any) -> int:
    """Return the last index of an item, or -1."""
    places = range(len(elements) - 1, -1, -1)
    return next((index for index in places if surely_equal(elements[index], item)), -1)


def slice_of(elements: list[Any], start: int, end: int) -> list[Any]:
    """Return the elements from one position up to another."""
    words = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        raise CelValueError(words + "negative indexes not supported")
    if start > end:
        raise CelValueError(words + "start index must be less than or equal to end index")
    if len(elements) < end:
        raise CelValueError(words + f"list is length {len(elements)}")
    return elements[start:end]


def flatten(elements: Any, *depth: Any) -> list[Any]:
    """Return a list with its nested lists flattened, down to a depth."""
    if not isinstance(elements, list) or (depth and type(depth[0]) is not int):
        given = ", ".join(str(type_of(each)) for each in depth)
        raise CelValueError(f"no such overload: {type_of(elements)}.flatten({given})")
    levels = depth[0] if depth else 1
    if levels < 0:
        raise CelValueError("level must be non-negative")
    flat: list[Any] = []
    for element in elements:
        if isinstance(element, list) and levels:
            flat.extend(flatten(element, levels - 1))
        else:
            flat.append(element)
    return flat


def sort(elements: Any) -> list[Any]:
    """Return the elements in order."""
    if not isinstance(elements, list):
        raise undefined("sort", elements)
    return sort_by_keys(elements, elements)


def sort_by_keys(elements: Any, keys: Any) -> list[Any]:
    """Return the elements in the order of their keys."""
    if not isinstance(elements, list):
        raise undefined("@sortByAssociatedKeys", elements)
    if len(elements) != len(keys):
        words = "expected a list of the same size as the associated keys list"
        raise CelValueError(
            f"@sortByAssociatedKeys() {words}, but got {len(elements)} and {len(keys)} elements respectively"
        )
    if not elements:
        return elements
    kind = type(keys[0])
    if kind not in COMPARABLE:
        raise CelValueError("list elements must be comparable")
    if any(type(key) is not kind for key in keys):
        raise CelValueError("list elements must have the same type")
    order = sorted(range(len(keys)), key=lambda index: cmp_to_key(_order)(keys[index]))
    return [elements[index] for index in order]


def numbers_below(count: int) -> list[int]:
    """Return the integers from 0 up to a count."""
    if count > _MOST_ELEMENTS:
        raise CelAbortError("operation cancelled: actual cost limit exceeded")
    return list(range(count))


def reverse(elements: list[Any]) -> list[Any]:
    """Return the elements from last to first."""
    return elements[::-1]


def distinct(elements: list[Any]) -> list[Any]:
    """Return the elements without repetitions."""
    found: list[Any] = []
    for element in elements:
        if not any(surely_equal(element, each) for each in found):
            found.append(element)
    return found


def first(elements: list[Any]) -> Optional:
    """Return the first element, if there is one."""
    return Optional(elements[0]) if elements else NONE


def last(elements: list[Any]) -> Optional:
    """Return the last element, if there is one."""
    return Optional(elements[-1]) if elements else NONE


def unwrap(elements: list[Any]) -> list[Any]:
    """Return the present values of a list of optional values."""
    for element in elements:
        if type(element) is not Optional:
            raise CelValueError(f"value {shown(element)} is not optional")
    return [element.value for element in elements if element.present]


def non_zero(value: Any) -> Optional:
    """Return the value as an optional one, absent if it is zero or empty."""
    match value:
        case None:
            zero = True
        case str() | bytes() | list() | CelMap():
            zero = len(value) == 0
        case bool() | int() | float():
            zero = value == 0
        case Duration():
            zero = value.nanoseconds == 0
        case Timestamp():
            zero = value.instant == (MIN_SECONDS, 0)
        case _:
            zero = False
    return NONE if zero else Optional(value)


def contains_all(elements: list[Any], others: list[Any]) -> bool:
    """Return whether the elements contain the whole second list."""
    return all(contained(other, elements) for other in others)


def equivalent(elements: list[Any], others: list[Any]) -> bool:
    """Return whether the lists have the same elements, regardless of order and repetition."""
    return contains_all(elements, others) and contains_all(others, elements)


def intersects(elements: list[Any], others: list[Any]) -> bool:
    """Return whether the lists have a common element."""
    return any(contained(element, others) for element in elements)


def includes(target: Any, item: Any) -> bool:
    """Return whether a value is an item, or a list holds it."""
    if not isinstance(target, list):
        return surely_equal(target, item)
    for index, element in enumerate(target):
        if index >= _MOST_INCLUDED:
            raise CelValueError(f"'includes' function cannot be applied to lists longer than {_MOST_INCLUDED} values")
        if surely_equal(element, item):
            return True
    return False


def insert(target: CelMap, key: Any, value: Any) -> CelMap:
    """Return a map with one more entry."""
    if target.look_up(key) is not MISSING:
        raise CelValueError(f"insert failed: key {shown(key)} already exists")
    grown = target if target.growing else CelMap(dict(target.entries))
    grown.put(key, value)
    return grown


def insert_all(target: CelMap, entries: CelMap) -> CelMap:
    """Return a map with the entries of another."""
    for key, value in entries.items():
        target = insert(target, key, value)
    return target
