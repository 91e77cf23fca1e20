"""JSON paths of printer columns and selectable fields.

From `.status.conditions[?(@.type=="Ready")].status` to steps, and from a document to the values at the path: names,
`['names']`, indexes, slices, wildcards, `..` and filters that compare values or test whether a field exists.
"""

# upstream: client-go/util/jsonpath (v1.36)

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

Step = Callable[[Any], Iterator[Any]]

_DEEPEST = 200
_NAME = re.compile(r"\.((?:[^.\[\]\\]|\\.)+)")
_QUOTED = re.compile(r"""\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]""")
_INDEX = re.compile(r"\[\s*(-?\d+)\s*\]", re.ASCII)
_SLICE = re.compile(r"\[\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(\d*)\s*)?\]", re.ASCII)
_FILTER = re.compile(r"\[\?\((.*?)\)\]", re.DOTALL)
_COMPARED = re.compile(r"(.*?)\s*(==|!=|<=|>=|<|>)\s*(.*)", re.DOTALL)


class JsonPathError(ValueError):
    """A malformed JSON path."""


def parts_of(path: str) -> tuple[str, ...]:
    """Return the names in a path of names alone."""
    return tuple(part for part in path.removeprefix(".").split(".") if part)


@lru_cache(maxsize=512)
def compile_path(path: str) -> Callable[[Any], list[Any]]:
    """Return the function that finds the values at a path in a document; raises JsonPathError."""
    steps = _steps(path)

    def find(document: Any) -> list[Any]:
        found = [document]
        for step in steps:
            found = [each for value in found for each in step(value)]
        return found

    return find


def _steps(path: str) -> list[Step]:
    steps: list[Step] = []
    at = 1 if path[:1] in ("$", "@") else 0
    while at < len(path):
        if path.startswith("..", at):
            steps.append(_everything_below)
            at += 1 if path[at + 2 : at + 3] != "[" else 2
            continue
        if path.startswith((".*", "[*]"), at):
            steps.append(_each)
            at += 2 if path[at] == "." else 3
            continue
        if path[at:] == ".":
            break
        step, at = _step(path, at)
        steps.append(step)
    return steps


def _step(path: str, at: int) -> tuple[Step, int]:
    if found := _NAME.match(path, at):
        return _entry(re.sub(r"\\(.)", r"\1", found[1])), found.end()
    if found := _QUOTED.match(path, at):
        return _entry(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2])), found.end()
    if found := _INDEX.match(path, at):
        return _element(int(found[1])), found.end()
    if found := _SLICE.match(path, at):
        bounds = [int(each) if each else None for each in found.groups()]
        return _slice(*bounds), found.end()
    if found := _FILTER.match(path, at):
        return _filter(found[1].strip()), found.end()
    raise JsonPathError(f"unrecognized character in {path!r} at {at}")


def _entry(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _element(number: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= number < len(value):
            yield value[number]

    return step


def _slice(start: int | None, end: int | None, by: int | None) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[start : end : by or None]

    return step


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (value[name] for name in sorted(value))
    elif isinstance(value, list):
        yield from value


def _everything_below(value: Any, depth: int = 0) -> Iterator[Any]:
    yield value
    if depth < _DEEPEST:
        for each in _each(value):
            yield from _everything_below(each, depth + 1)


def _filter(text: str) -> Step:
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        asked = _operand(text)
        return lambda value: (each for each in _each(value) if asked(each))
    left, operator, right = _operand(compared[1]), compared[2], _operand(compared[3])

    def step(value: Any) -> Iterator[Any]:
        for each in _each(value):
            found, wanted = left(each), right(each)
            if len(found) == 1 and len(wanted) == 1 and _holds(found[0], operator, wanted[0]):
                yield each

    return step


def _operand(text: str) -> Callable[[Any], list[Any]]:
    text = text.strip()
    if text.startswith(("@", "$", ".")):
        return compile_path(text)
    if len(text) > 1 and text[0] == text[-1] == "'":
        literal: Any = text[1:-1]
    else:
        try:
            literal = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise JsonPathError(f"cannot read {text!r} in a filter") from None
    return lambda value: [literal]


def _holds(left: Any, operator: str, right: Any) -> bool:
    if operator == "==":
        return bool(left == right)
    if operator == "!=":
        return bool(left != right)
    if isinstance(left, str) != isinstance(right, str) or not isinstance(left, str | int | float):
        return False
    if not isinstance(right, str | int | float):
        return False
    order = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}  # type: ignore[operator]
    return order[operator]
