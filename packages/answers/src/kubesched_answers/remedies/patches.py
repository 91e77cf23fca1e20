"""JSON Patches that turn one document into another.

From two documents of an object to the operations between them. They are applied to the API server's object, which may
have fields that our structs leave out. So nothing unchanged is replaced, whole lists and maps are added only where
there were none, and a `remove` names an existing field. A `test` comes before an operation on an entry of a list, so
that the patch is refused if another entry has moved to its index. Manifests lack fields that the API server fills in:
such fields are written as a whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Operation = Mapping[str, Any]
# Written as a whole: a volume, which has one source, and a limit, which follows its request.
_WHOLE_VOLUME = re.compile(r"/spec/volumes/\d+")
_RESOURCES = re.compile(r".*/resources")
# fields that an API server extends: tolerations of conditions, allocatable from capacity, the name of a namespace
_FILLED_IN = {"Pod": "/spec/tolerations", "Node": "/status/allocatable", "Namespace": "/metadata/labels"}

# the fields that identify entries of lists
_IDENTITY = ("name", "key", "effect", "topologyKey")

# fields that admission derives from the priority class
_ADMITTED = frozenset({"/spec/priority", "/spec/preemptionPolicy"})


def patch_of(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Operation]:
    """Return the JSON Patch from a document to another."""
    whole = _FILLED_IN.get(str(old.get("kind", "")), "")
    return [_set(_widened(whole, new, operation)) for operation in _once(whole, _of_maps("", old, new))]


def _set(operation: Operation) -> Operation:
    """Return an operation that sets a field even if it exists, for fields that an API server fills in."""
    return {**operation, "op": "add"} if operation["op"] == "replace" and operation["path"] in _ADMITTED else operation


def _once(whole: str, operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield operations; among those inside a part that is written as a whole, only the first."""
    seen = False
    for operation in operations:
        inside = bool(whole) and operation["path"].startswith(f"{whole}/")
        if not inside or not seen:
            yield operation
        seen = seen or inside


def _widened(whole: str, new: Mapping[str, Any], operation: Operation) -> Operation:
    """Return an operation on the whole part, if it is inside of a part that is written as a whole."""
    if not whole or not operation["path"].startswith(f"{whole}/"):
        return operation
    value: Any = new
    for key in whole.split("/")[1:]:
        value = value[key]
    return {"op": "add", "path": whole, "value": value}


def pointer(*keys: str | int) -> str:
    """Return a JSON pointer."""
    return "".join(f"/{_escaped(key)}" for key in keys)


def _escaped(key: str | int) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _of_values(path: str, old: Any, new: Any) -> Iterator[Operation]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        if _is_whole(path, old, new):
            yield {"op": "replace", "path": path, "value": new}
        else:
            yield from _of_maps(path, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(path, old, new)
    else:
        yield {"op": "replace", "path": path, "value": new}


def _is_whole(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if _RESOURCES.fullmatch(path):
        return bool(old.get("limits") != new.get("limits"))
    return bool(_WHOLE_VOLUME.fullmatch(path))


def _of_maps(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Operation]:
    for key in old:
        here = path + pointer(key)
        if key in new:
            yield from _of_values(here, old[key], new[key])
        else:
            yield {"op": "remove", "path": here}
    for key in new:
        if key not in old:
            yield {"op": "add", "path": path + pointer(key), "value": new[key]}


def _of_lists(path: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Operation]:
    if len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            operations = list(_of_values(path + pointer(index), before, after))
            if operations:
                yield from _tests(path + pointer(index), before)
                yield from operations
        return
    gone = _left_out(old, new)
    if gone is not None:
        # from the end, so that earlier indices stay valid
        for index in reversed(gone):
            yield from _tests(path + pointer(index), old[index])
            yield {"op": "remove", "path": path + pointer(index)}
    elif list(new[: len(old)]) == list(old):
        for added in new[len(old) :]:
            yield {"op": "add", "path": f"{path}/-", "value": added}
    else:
        yield {"op": "replace", "path": path, "value": list(new)}


def _tests(path: str, entry: Any) -> Iterator[Operation]:
    """Yield the operations that refuse the patch if another entry has the place of an entry."""
    if isinstance(entry, Mapping):
        for field in _IDENTITY:
            if isinstance(entry.get(field), str):
                yield {"op": "test", "path": path + pointer(field), "value": entry[field]}
    elif isinstance(entry, str | int):
        yield {"op": "test", "path": path, "value": entry}


def _left_out(old: Sequence[Any], new: Sequence[Any]) -> list[int] | None:
    """Return the indices of removed entries of a list that is otherwise equal; None if it is not."""
    gone = []
    place = 0
    for index, value in enumerate(old):
        if place < len(new) and new[place] == value:
            place += 1
        else:
            gone.append(index)
    return gone if place == len(new) else None
