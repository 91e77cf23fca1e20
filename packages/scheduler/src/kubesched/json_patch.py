"""JSON patches: a list of operations on a document.

From a document and operations to the patched document; the document is not changed. Pointers follow RFC 6901; as
in Kubernetes' library, negative indexes and replacing missing values are allowed beyond RFC 6902.
"""

# upstream: gopkg.in/evanphx/json-patch.v4 patch.go

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

# bytes that the copy operations of a patch may add
MOST_COPIED_BYTES = 3 * 1024 * 1024

_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_NOTHING: Final = object()

Operation = Mapping[str, Any]


class OperationError(ValueError):
    """An operation that cannot be carried out."""


class FailedTestError(OperationError):
    """A test operation that failed."""


def json_patched(document: Any, operations: list[Operation]) -> Any:
    """Apply operations to a document, one after the other; raises OperationError."""
    patched = _Patched(_copied(document))
    for operation in operations:
        name = operation.get("op")
        carry_out = _OPERATIONS.get(name) if isinstance(name, str) else None
        if carry_out is None:
            raise OperationError(f"Unexpected kind: {name}")
        carry_out(patched, operation)
    return patched.root


class _Patched(msgspec.Struct):
    """A document that is being patched, and the bytes that copy operations have added."""

    root: Any
    copied_bytes: int = 0


def _copied(value: Any) -> Any:
    return msgspec.to_builtins(value)


def _add(patched: _Patched, operation: Operation) -> None:
    container, key = _place(patched, _pointer(operation, "path"))
    _insert(container, key, _copied(operation.get("value")))


def _remove(patched: _Patched, operation: Operation) -> None:
    _take(*_place(patched, _pointer(operation, "path")))


def _replace(patched: _Patched, operation: Operation) -> None:
    pointer, value = _pointer(operation, "path"), _copied(operation.get("value"))
    if pointer == "":
        # differs (D-120): the reference panics if there is no value
        if not isinstance(value, dict | list):
            raise OperationError("replace operation value must be object or array")
        patched.root = value
        return
    container, key = _place(patched, pointer)
    if isinstance(container, list):
        container[_index(key, len(container))] = value
    else:
        container[key] = value


def _move(patched: _Patched, operation: Operation) -> None:
    value = _take(*_place(patched, _pointer(operation, "from")))
    container, key = _place(patched, _pointer(operation, "path"))
    _insert(container, key, value)


def _copy(patched: _Patched, operation: Operation) -> None:
    value = _value(*_place(patched, _pointer(operation, "from")))
    container, key = _place(patched, _pointer(operation, "path"))
    value = None if value is _NOTHING else _copied(value)
    patched.copied_bytes += len(msgspec.json.encode(value))
    if patched.copied_bytes > MOST_COPIED_BYTES:
        raise OperationError(f"Unable to complete the copy, the accumulated size increase is {patched.copied_bytes}")
    _insert(container, key, value)


def _test(patched: _Patched, operation: Operation) -> None:
    pointer = _pointer(operation, "path")
    found = patched.root if pointer == "" else _value(*_place(patched, pointer))
    # a missing value equals null
    if not _equal(None if found is _NOTHING else found, operation.get("value")):
        raise FailedTestError(f"testing value {pointer} failed")


_OPERATIONS: dict[str, Callable[[_Patched, Operation], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _pointer(operation: Operation, field: str) -> str:
    pointer = operation.get(field)
    if not isinstance(pointer, str):
        raise OperationError(f"operation is missing its {field}")
    return pointer


def _place(patched: _Patched, pointer: str) -> tuple[dict[str, Any] | list[Any], str]:
    """Return the container of a pointer's last key, and the key; raises OperationError."""
    _, *steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]
    if not steps:
        raise OperationError(f"doc is missing path: {pointer}")
    found = patched.root
    for step in steps[:-1]:
        found = _value(found, step) if isinstance(found, dict | list) else _NOTHING
    if not isinstance(found, dict | list):
        raise OperationError(f"doc is missing path: {pointer}")
    return found, steps[-1]


def _value(container: dict[str, Any] | list[Any], key: str) -> Any:
    if isinstance(container, list):
        return container[_index(key, len(container))]
    return container.get(key, _NOTHING)


def _insert(container: dict[str, Any] | list[Any], key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        container.insert(_index(key, len(container) + 1), value)


def _take(container: dict[str, Any] | list[Any], key: str) -> Any:
    """Remove a value from a container and return it."""
    if isinstance(container, list):
        return container.pop(_index(key, len(container)))
    if key not in container:
        raise OperationError(f"Unable to remove nonexistent key: {key}")
    return container.pop(key)


def _index(key: str, length: int) -> int:
    """Return the index of a key in a list; negative ones count from the end. Raises OperationError."""
    if not _INDEX.fullmatch(key):
        raise OperationError(f"value was not a proper array index: '{key}'")
    number = int(key)
    if not -length <= number < length:
        raise OperationError(f"Unable to access invalid index: {number}")
    return number + length if number < 0 else number


def _equal(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON; 1, 1.0 and true differ."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(each, other[key]) for key, each in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
