"""Custom objects as they were last read: each version of an object is read once.

From the name of an object to what it says, None if there is none, or if it cannot be read; then the log tells why.
"""

from collections.abc import Callable
from logging import Logger
from typing import Any, Generic, TypeVar

from kubesched import ClusterView, InvalidObjectError

T = TypeVar("T")
# so many objects are remembered
MOST_READ = 1024


class ReadObjects(Generic[T]):
    """The objects of a kind, as a function reads them."""

    def __init__(self, cluster: ClusterView, kind: str, read: Callable[[Any], T], log: Logger) -> None:
        self._cluster = cluster
        self._kind = kind
        self._read = read
        self._log = log
        self._known: dict[str, tuple[Any, T | None]] = {}

    def get(self, full_name: str) -> T | None:
        """Return what an object says."""
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
        """Return what the object of a name says, that in the first namespace which has one."""
        for namespace in namespaces:
            if self._cluster.get(self._kind, f"{namespace}/{name}") is not None:
                return self.get(f"{namespace}/{name}")
        return None
