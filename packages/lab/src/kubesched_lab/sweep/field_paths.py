"""Paths to fields of documents, and copies of documents with another value at a path.

    until                                                          a field
    pods[0].arrivals.rate                                          the first item of a list
    profiles[0].plugins.score.enabled[NodeResourcesFit].weight     the item with that name
    nodes[0].labels["example.com/pool"]                            a key with dots

From a path and a value to a changed copy. Missing fields on the way are created. Missing items of lists are created
only if the caller allows it: `set` may add a `pluginConfig` of a plugin to a configuration, but not a group of pods to
a Workload.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from kubesched_lab.sweep.errors import SweepError

_STEP = re.compile(r'(?:^|\.)([A-Za-z_][\w-]*)|\[(\d{1,6})\]|\["([^"\]]+)"\]|\[([^\]"\d][^\]"]*)\]')


class FieldStep(NamedTuple):
    """A step of a path: a field, or an item of a list by its number or name."""

    key: str = ""
    number: int | None = None
    item: str = ""


def steps_of(path: str) -> tuple[FieldStep, ...]:
    """Return the steps of a path; raises SweepError."""
    steps, at = [], 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            break
        key, number, quoted, item = found.groups()
        steps.append(FieldStep(key or quoted or "", None if number is None else int(number), item or ""))
        at = found.end()
    if not steps or at < len(path):
        raise SweepError(f"{path!r} is not a path such as pods[0].arrivals.rate or pluginConfig[NodeResourcesFit].args")
    return tuple(steps)


def with_value(document: Any, path: str, value: Any, *, makes_items: bool) -> Any:
    """Return a document with a value at a path; raises SweepError, which begins with the path."""
    steps = steps_of(path)
    try:
        return _put(document, steps, value, makes_items)
    except _NoWayError as error:
        raise SweepError(f"{path}: {error}") from None


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return a short name for each path: its last name in brackets and its last field, or else all of it."""
    found = {path: _short(path) for path in paths}
    short = list(found.values())
    return {path: name if short.count(name) == 1 else path for path, name in found.items()}


def _short(path: str) -> str:
    steps = steps_of(path)
    keys = [step.key for step in steps if step.key]
    named = [step.item for step in steps if step.item]
    return ".".join([*(named or keys[:-1])[-1:], *keys[-1:]])


class _NoWayError(Exception):
    """A path that does not fit a document."""


def _put(node: Any, steps: Sequence[FieldStep], value: Any, makes: bool) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if step.key:
        if not isinstance(node, dict | None):
            raise _NoWayError(f"there is no field {step.key} in {_shown(node)}")
        fields = node or {}
        return {**fields, step.key: _put(fields.get(step.key), rest, value, makes)}
    if not isinstance(node, list | None):
        raise _NoWayError(f"there is no item [{step.item or step.number}] in {_shown(node)}")
    items = list(node or ())
    number = _number(items, step, makes)
    before = items[number] if number < len(items) else {"name": step.item} if step.item else None
    items[number : number + 1] = [_put(before, rest, value, makes)]
    return items


def _number(items: Sequence[Any], step: FieldStep, makes: bool) -> int:
    """Return the number of an item; for an item to create, the number after the last one."""
    if step.number is not None:
        if step.number < len(items) or (makes and step.number == len(items)):
            return step.number
        raise _NoWayError(f"there is no item [{step.number}], the list has {len(items)}")
    names = [_name(item) for item in items]
    if step.item in names:
        return names.index(step.item)
    if makes:
        return len(items)
    raise _NoWayError(f"there is no item named {step.item}; the items are {', '.join(map(str, names)) or 'none'}")


def _name(item: Any) -> Any:
    return (item.get("name") or item.get("schedulerName")) if isinstance(item, dict) else None


def _shown(node: Any) -> str:
    return "a list" if isinstance(node, list) else "a mapping" if isinstance(node, dict) else repr(node)
