"""Indexes: objects and pods by keys that a plugin chooses, kept up to date by change.

From a plugin's constructor (`ClusterView.index`, `ClusterView.pod_index`) to look-ups in its hooks.
"""

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

_log = logging.getLogger("kubesched.plugins")


class Index(Generic[T]):
    """Things by key; a thing may have several keys, or none."""

    def __init__(self, keys_of: Callable[[T], Iterable[Hashable]], check: Callable[[], None]) -> None:
        self._keys_of = keys_of
        # raises if the plugin that is asked must not look things up
        self._check = check
        self._things: dict[Hashable, dict[str, T]] = {}
        self._keys: dict[str, tuple[Hashable, ...]] = {}

    def __getitem__(self, key: Hashable) -> list[T]:
        """Return the things under a key; none is no error."""
        self._check()
        return list(self._things.get(key, {}).values())

    def __contains__(self, key: object) -> bool:
        self._check()
        return key in self._things

    def __iter__(self) -> Iterator[Hashable]:
        """Yield the keys that have things."""
        self._check()
        return iter(list(self._things))

    def __len__(self) -> int:
        self._check()
        return len(self._things)

    def put(self, identity: str, thing: T) -> None:
        """Add a thing, or replace the one of the same identity."""
        self.drop(identity)
        try:
            keys = tuple(dict.fromkeys(self._keys_of(thing)))
        except Exception as error:
            # no attempt is under way that could fail
            _log.warning("Object not indexed", extra={"object": identity, "err": f"{type(error).__name__}: {error}"})
            return
        for key in keys:
            self._things.setdefault(key, {})[identity] = thing
        if keys:
            self._keys[identity] = keys

    def drop(self, identity: str) -> None:
        """Remove a thing, if it is there."""
        for key in self._keys.pop(identity, ()):
            things = self._things[key]
            del things[identity]
            if not things:
                del self._things[key]
