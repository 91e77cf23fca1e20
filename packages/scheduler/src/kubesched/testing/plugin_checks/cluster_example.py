"""An example: a cluster, the pods in question, and changes; also in words.

From strategies to checks, and from a failing example to a text for the plugin's author.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.custom import CustomObject
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.testing.builders import a_node, a_pod


@dataclass(frozen=True, slots=True)
class ExampleChange:
    """An object that is added or changed (`old` is what it was), or deleted (`new` is None)."""

    old: ApiObject | None
    new: ApiObject | None

    @property
    def text(self) -> str:
        """Return the change in words."""
        if self.new is None:
            assert self.old is not None
            return f"{_title(self.old)} is deleted"
        if self.old is None:
            return f"{described(self.new)} is added"
        return f"{_title(self.new)} changes: {difference(to_builtins(self.old), to_builtins(self.new)) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class ClusterExample:
    """Nodes, pods on them and other objects; the pods in question; and later changes."""

    objects: tuple[ApiObject, ...]
    asked: tuple[Pod, ...]
    changes: tuple[ExampleChange, ...] = ()

    def words(self, changes: Sequence[ExampleChange] = (), asked: int = 1) -> list[str]:
        """Return the example in lines, with some of the pods in question and some of the changes."""
        lines = [described(obj) for obj in self.objects]
        lines += [f"asked about {described(pod)}" for pod in self.asked[:asked]]
        return [*lines, *(f"then {change.text}" for change in changes)]

    def states(self) -> Iterator[tuple[list[ExampleChange], list[ApiObject]]]:
        """Yield after each change all changes so far, and the existing objects."""
        there = list(self.objects)
        for count, change in enumerate(self.changes, 1):
            there = changed(there, change)
            yield list(self.changes[:count]), there


def changed(objects: Iterable[ApiObject], change: ExampleChange) -> list[ApiObject]:
    """Return the objects after a change."""
    gone = None if change.old is None else (type(change.old).__name__, change.old.full_name)
    kept = [obj for obj in objects if (type(obj).__name__, obj.full_name) != gone]
    return kept if change.new is None else [*kept, change.new]


def described(obj: ApiObject) -> str:
    """Return an object in words: the differences from the simplest object of its kind."""
    title = _title(obj)
    if isinstance(obj, Node):
        plain: ApiObject = a_node(obj.name)
    elif isinstance(obj, Pod):
        plain = a_pod(obj.name, namespace=obj.metadata.namespace)
        if obj.spec.node_name:
            title += f" on {obj.spec.node_name}"
    else:
        return f"{title}: {_text(_without_metadata(obj))}"
    found = difference(to_builtins(plain), to_builtins(obj), shown_old=False)
    return f"{title}: {found}" if found else title


def _title(obj: ApiObject) -> str:
    return f"{type(obj).__name__.lower()} {obj.metadata.name}"


def _without_metadata(obj: ApiObject) -> dict[str, Any]:
    if isinstance(obj, CustomObject):
        return obj.fields
    return {key: value for key, value in to_builtins(obj).items() if key not in ("metadata", "apiVersion", "kind")}


# fields that repeat others, or are of no interest to a plugin
_IGNORED = ("status.capacity", "metadata.uid", "metadata.name", "spec.nodeName")
_SHORT = (("metadata.", ""), ("spec.", ""), ("status.", ""))


def difference(old: Any, new: Any, *, shown_old: bool = True) -> str:
    """Return the fields that differ between two documents, in words."""
    before, after = dict(_leaves("", old)), dict(_leaves("", new))
    parts = []
    for path in [*after, *(path for path in before if path not in after)]:
        if before.get(path) != after.get(path) and not path.startswith(_IGNORED):
            name = path
            for prefix, short in _SHORT:
                name = name.replace(prefix, short, 1) if name.startswith(prefix) else name
            was = f" (was {_text(before[path])})" if shown_old and path in before else ""
            parts.append(f"{name} {_text(after[path]) if path in after else 'removed'}{was}")
    return ", ".join(parts)


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the path and value of every leaf."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _leaves(f"{path}.{key}" if path else str(key), each)
    elif path == "spec.containers":
        for container in value:
            yield from _leaves("spec.requests", container.get("resources", {}).get("requests"))
    elif value not in (None, {}, [], ""):
        yield path, value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
