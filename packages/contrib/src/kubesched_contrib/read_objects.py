"""Parsed custom objects: each version of an object is parsed once.

From the name of an object to its parsed value, None if there is none, or if it is invalid; the log then has the
reason.
"""

from collections.abc import Callable
from logging import Logger
from typing import Any, Generic, TypeVar

from kubesched import ClusterView, InvalidObjectError

T = TypeVar("T")
# limit on the remembered objects
MOST_READ = 1024


class ReadObjects(Generic[T]):
    """The objects of a kind, as parsed by a function."""

    def __init__(self, cluster: ClusterView, kind: str, read: Callable[[Any], T], log: Logger) -> None:
        self._cluster = cluster
        self._kind = kind
        self._read = read
        self._log = log
        self._known: dict[str, tuple[Any, T | None]] = {}

    def get(self, full_name: str) -> T | None:
        """Return the parsed object."""
        obj = self._cluster.get(self._kind, full_name)
        if obj is None:
            self._known.pop(full_name, None)
            return None
        known = self._known.get(full_name)
        if known is not None and known[0] is obj:
            return known[1]
        try:
            said = self._read(obj)
        except InvalidObjectError as error:
            said = None
            self._log.warning("Object ignored", extra={"kind": self._kind, "object": full_name, "err": str(error)})
        if len(self._known) >= MOST_READ:
            self._known.clear()
        self._known[full_name] = (obj, said)
        return said

    def first_of(self, namespaces: tuple[str, ...], name: str) -> T | None:
        """Return the parsed object of a name, from the first namespace that has one."""
        for namespace in namespaces:
            if self._cluster.get(self._kind, f"{namespace}/{name}") is not None:
                return self.get(f"{namespace}/{name}")
        return None
