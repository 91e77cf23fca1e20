"""Indexes: objects and pods by keys that a plugin chooses, kept up to date by change.

From a plugin's constructor (`ClusterView.index`, `ClusterView.pod_index`) to look-ups in its hooks.
"""

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

_log = logging.getLogger("kubesched.plugins")


class Index(Generic[T]):
    """Objects or pods by key; one may have several keys, or none."""

    def __init__(self, keys_of: Callable[[T], Iterable[Hashable]], check: Callable[[], None]) -> None:
        self._keys_of = keys_of
        # raises PluginError if the running plugin may not read these objects
        self._check = check
        self._objects: dict[Hashable, dict[str, T]] = {}
        self._keys: dict[str, tuple[Hashable, ...]] = {}

    def __getitem__(self, key: Hashable) -> list[T]:
        """Return the objects under a key, an empty list if there are none."""
        self._check()
        return list(self._objects.get(key, {}).values())

    def __contains__(self, key: object) -> bool:
        self._check()
        return key in self._objects

    def __iter__(self) -> Iterator[Hashable]:
        """Yield the keys that have objects."""
        self._check()
        return iter(list(self._objects))

    def __len__(self) -> int:
        self._check()
        return len(self._objects)

    def put(self, identity: str, obj: T) -> None:
        """Add an object, or replace the one of the same name or UID."""
        self.drop(identity)
        try:
            keys = tuple(dict.fromkeys(self._keys_of(obj)))
        except Exception as error:
            # no attempt is under way that could fail
            _log.warning("Object not indexed", extra={"object": identity, "err": f"{type(error).__name__}: {error}"})
            return
        for key in keys:
            self._objects.setdefault(key, {})[identity] = obj
        if keys:
            self._keys[identity] = keys

    def drop(self, identity: str) -> None:
        """Remove an object if it exists."""
        for key in self._keys.pop(identity, ()):
            objects = self._objects[key]
            del objects[identity]
            if not objects:
                del self._objects[key]
