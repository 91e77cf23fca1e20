"""The objects of one kind as they were last reported; each difference is reported to the handler once.

    JSON text of an object ──▶ ObjectCache ──▶ EventHandler: put, drop

An object whose resource version is known already is not reported. An object whose new version cannot be decoded is
dropped, unless it is a pod on a node: the pod still takes up resources.
"""

# upstream: client-go/tools/cache/{store,delta_fifo}.go (v1.36)

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.client.informers.object_reader import ObjectReader, UnreadableObject, identify

T = TypeVar("T", bound=ApiObject)


class EventHandler(Protocol):
    """Handles the objects that a reflector reports."""

    def put(self, obj: ApiObject) -> None:
        """An object is new or has changed."""

    def drop(self, obj: ApiObject) -> None:
        """An object was deleted."""


class ObjectCache(Generic[T]):
    """Keeps the objects of one kind; `path` is the path of their resource."""

    def __init__(self, kind: type[T], path: str, handler: EventHandler, note: Callable[[str], None]) -> None:
        # namespace/name -> the object as it was last reported
        self.objects: dict[str, T] = {}
        self.reader = ObjectReader(kind, path, note, self.objects)
        self._handler = handler

    def put(self, raw: msgspec.Raw | bytes, listed: set[str] | None = None) -> str:
        """Report an object that is new or has changed, and return its resource version.

        The names of objects that exist are added to `listed`.
        """
        obj = self.reader.read(raw)
        if isinstance(obj, UnreadableObject):
            if self._keeps(obj) and listed is not None:
                listed.add(obj.full_name)
            return obj.resource_version
        if listed is not None:
            listed.add(obj.full_name)
        self._put(obj)
        return obj.metadata.resource_version

    def delete(self, raw: msgspec.Raw) -> UnreadableObject:
        """Report an object as deleted, also if only its name can be decoded; return its identity."""
        gone = identify(bytes(raw))
        self.reader.forget(gone.full_name)
        known = self.objects.get(gone.full_name)
        if known is not None:
            self.drop(known)
        return gone

    def missing_from(self, listed: set[str]) -> list[T]:
        """Return the objects that a complete list does not contain."""
        if len(listed) >= len(self.objects):
            return []
        return [obj for name, obj in self.objects.items() if name not in listed]

    def drop(self, obj: T) -> None:
        """Report an object as deleted."""
        known = self.objects.pop(obj.full_name, None)
        if known is not None:
            self._handler.drop(known)

    def _put(self, obj: T) -> None:
        name = obj.full_name
        known = self.objects.get(name)
        if known is not None and known.uid != obj.uid:
            self._handler.drop(known)
        elif known is not None and known.metadata.resource_version == obj.metadata.resource_version:
            return
        self.objects[name] = obj
        self._handler.put(obj)

    def _keeps(self, unreadable: UnreadableObject) -> bool:
        """Drop an object whose new version cannot be decoded; return whether its old version is kept instead."""
        known = self.objects.get(unreadable.full_name)
        if known is None:
            return False
        if isinstance(known, Pod) and known.spec.node_name and known.uid == unreadable.uid:
            # it still takes up resources of its node
            return True
        self.drop(known)
        return False
