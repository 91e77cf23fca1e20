"""The work of a call in this implementation, if it may exceed the reference's cost.

The reference's cost counts the input of a call, not its output, nor values that are shared many times over
(`[[x, x], [x, x]]`) and are visited at each occurrence. Such work is computed from the arguments before it is done, in
the same units, about a microsecond each. A call costs the maximum of both, so that no call makes more than some ten
million characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from kubesched.cel.functions.regex import TOO_LARGE, RegexError, RegexTooLargeError, compile_regex, known_regex
from kubesched.cel.limits import LIMIT
from kubesched.cel.values import CelMap, GrowingList, Optional, weight

WorkOf = Callable[[Sequence[Any]], int]

# Characters per unit.
_CHARACTERS: Final = 10
_COMPARED_CHARACTERS: Final = 10_000
# The least cost of a search.
_SEARCH: Final = 5
# The cost of formatting a number with the highest precision.
_WIDE_NUMBER: Final = 100


def comparison_work(left: Any, right: Any) -> int:
    """Return the work of comparing two values, where at least one is a list or a map."""
    return min(weight(left), weight(right)) // _CHARACTERS


def refusal_work(args: Sequence[Any]) -> int:
    """Return the work of a call that ended with an error, for which the reference charges nothing."""
    return 1 + sum(len(each) // _CHARACTERS for each in args if type(each) is str or type(each) is bytes)


def _made(characters: int) -> int:
    return characters // _CHARACTERS


def _replace(args: Sequence[Any]) -> int:
    text, old, new, *most = args
    times = text.count(old)
    if most and most[0] >= 0:
        times = min(times, most[0])
    return _made(len(text) + int(times) * (len(new) - len(old)))


def _characters(rate: int) -> WorkOf:
    """Return the work of reading a text character by character."""
    return lambda args: len(args[0]) // rate if type(args[0]) is str else 0


def _split(args: Sequence[Any]) -> int:
    text, separator = args[:2]
    parts: int = text.count(separator) if separator else len(text)
    return min(parts, args[2]) if len(args) > 2 and args[2] >= 0 else parts


def _join(args: Sequence[Any]) -> int:
    parts, separator = args[0], args[1] if len(args) > 1 else ""
    return _made(sum(len(part) + len(separator) for part in parts if type(part) is str))


def _format(args: Sequence[Any]) -> int:
    text, values = args
    return _made(len(text) + weight(values)) + int(text.count("%.")) * _WIDE_NUMBER


def _add(args: Sequence[Any]) -> int:
    left, right = args
    if type(left) is GrowingList:
        return len(right) // _CHARACTERS if isinstance(right, list) else 0
    if isinstance(left, str | bytes | list) and isinstance(right, str | bytes | list):
        return (len(left) + len(right)) // _CHARACTERS
    return 0


def _last_index(args: Sequence[Any]) -> int:
    text, part = args[:2]
    if type(text) is str:
        return len(text) * len(part) // _COMPARED_CHARACTERS
    return weight(text) // _CHARACTERS


def _among(elements: list[Any], item: Any) -> int:
    """Return the work of searching for an item."""
    if isinstance(item, list | CelMap | Optional):
        return weight(elements) // _CHARACTERS
    return len(elements) * len(item) // _COMPARED_CHARACTERS if type(item) is str or type(item) is bytes else 0


def _contained(args: Sequence[Any]) -> int:
    item, container = args
    return _among(container, item) if isinstance(container, list) else 0


def _all_among(elements: list[Any], others: list[Any]) -> int:
    nested = any(isinstance(each, list | CelMap | Optional) for each in others)
    rate = _CHARACTERS if nested else _COMPARED_CHARACTERS
    return len(others) * weight(elements) // rate


def _sets(args: Sequence[Any]) -> int:
    left, right = args
    return _all_among(left, right) + _all_among(right, left)


def _everything(args: Sequence[Any]) -> int:
    return weight(args[0]) // _CHARACTERS


def _regex(args: Sequence[Any]) -> int:
    text, pattern = args[:2]
    if type(text) is not str or type(pattern) is not str:
        return 0
    compiling = 0
    regex = known_regex(pattern)
    if regex is None:
        if len(pattern) > LIMIT:
            return len(pattern)
        try:
            regex = compile_regex(pattern)
        except RegexTooLargeError:
            return len(pattern) + TOO_LARGE
        except RegexError:
            return len(pattern)
        compiling = len(pattern) + regex.size
    return compiling + regex.units(text) + _SEARCH


def _each_found(args: Sequence[Any], result: Any) -> int:
    return len(result) * compile_regex(args[1]).units_of_each(args[0])


_BY_FUNCTION: Final[dict[str, WorkOf]] = {
    "replace": _replace,
    "split": _split,
    "join": _join,
    "format": _format,
    "_+_": _add,
    "@in": _contained,
    "includes": lambda args: _contained((args[1], args[0])),
    "indexOf": _last_index,
    "lastIndexOf": _last_index,
    "distinct": lambda args: _all_among(args[0], args[0]),
    "sets.contains": _sets,
    "sets.equivalent": _sets,
    "sets.intersects": _sets,
    "flatten": _everything,
    "optional.unwrap": _everything,
    "unwrapOpt": _everything,
    "getQuery": lambda args: len(args[0].held.query) // 2,
    **dict.fromkeys(("duration", "semver", "isSemver"), _characters(2)),
    **dict.fromkeys(("strings.quote", "url", "isURL"), _characters(4)),
    "matches": _regex,
    "find": _regex,
    "findAll": _regex,
}
# Sums of single numbers or times.
_NO_WORK: Final = frozenset(
    {
        "add_double",
        "add_duration_duration",
        "add_duration_timestamp",
        "add_timestamp_duration",
        "add_int64",
        "add_uint64",
        "in_map",
    }
)


def work_of(function: str, overload: str) -> WorkOf | None:
    """Return the function that computes the work of a call from its arguments, or None if the cost covers it."""
    return None if overload in _NO_WORK else _BY_FUNCTION.get(function)


def work_after(function: str) -> Callable[[Sequence[Any], Any], int] | None:
    """Return the function that computes further work of a call from its result, or None."""
    return _each_found if function == "findAll" else None
