"""Uniqueness in lists of type set (by element) and map (by key fields).

From values and schemas to problems.
"""

# upstream: apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go (v1.36)

from collections.abc import Iterator
from typing import Any

from kubesched.api.field_errors import as_json, child, duplicate, index, invalid
from kubesched.api.go_text import to_json
from kubesched_controlplane.custom.structure import Schema, below, items_of

LIST_TYPE, MAP_KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


def list_problems(value: Any, schema: Schema | None, path: str = "") -> list[str]:
    """Return the duplicates in lists of type set and map."""
    if schema is None:
        return []
    if isinstance(value, dict):
        problems = []
        for name, each in value.items():
            named = name in schema.get("properties", {})
            problems += list_problems(each, below(schema, name)[1], child(path, name) if named else index(path, name))
        return problems
    if not isinstance(value, list):
        return []
    found = list(_of_list(value, schema, path))
    for number, each in enumerate(value):
        found += list_problems(each, items_of(schema), index(path, number))
    return found


def _of_list(value: list[Any], schema: Schema, path: str) -> Iterator[str]:
    match schema.get(LIST_TYPE):
        case "set":
            for number in _again(value):
                yield duplicate(index(path, number), as_json(value[number]))
        case "map":
            for number, each in enumerate(value):
                if each is not None and not isinstance(each, dict):
                    yield invalid(index(path, number), as_json(each), "must be an object for an array of list-type map")
                    return
            names = schema.get(MAP_KEYS) or ()
            keys = [{name: each[name] for name in names if each is not None and name in each} for each in value]
            for number in _again(keys):
                yield duplicate(index(path, number), as_json(keys[number]))


def _again(values: list[Any]) -> Iterator[int]:
    """Yield the index of the second occurrence of each value."""
    seen: dict[str, int] = {}
    for number, each in enumerate(values):
        key = to_json(each)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 2:
            yield number
