"""The store: every object as the JSON that is sent, one counter for all versions, and what happened lately.

From verbs to objects and changes. It is synchronous and has one writer; whoever watches is told of a change in the call
that makes it. A change carries the object's bytes before and after, so nobody encodes it again.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

Document = dict[str, Any]
Changed = Callable[["Change"], None]

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
# what a client may have missed and still resume from, for each resource
HISTORY = 10_000

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Stored(msgspec.Struct, frozen=True, gc=False):
    """An object: what selectors ask about, and the bytes."""

    namespace: str
    name: str
    uid: str
    version: int
    labels: dict[str, str]
    fields: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        """Return what tells it apart in its set; lists are sorted by it."""
        return f"{self.namespace}/{self.name}"

    def document(self) -> Document:
        """Return a copy as dicts and lists, the caller's own."""
        document: Document = _decode(self.body)
        return document


class Change(msgspec.Struct, gc=False):
    """Something that happened to an object; for a deletion `new` is its last state under the deletion's version.

    `bodies` keeps what was encoded for watchers in other forms.
    """

    type: str
    new: Stored
    old: Stored | None
    bodies: dict[str, bytes] = {}

    @property
    def version(self) -> int:
        """Return the resource version of the change."""
        return self.new.version


class ObjectSet:
    """The objects of one resource, their recent history, and those who watch."""

    def __init__(self, history: int = HISTORY) -> None:
        self._objects: dict[str, Stored] = {}
        self._sorted: list[str] | None = None
        self._history: deque[Change] = deque(maxlen=history)
        # a watch may start after this version
        self.forgotten = 0
        self.watchers: dict[int, Changed] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[Stored]:
        objects = self._objects
        return (objects[key] for key in self._keys())

    def get(self, namespace: str, name: str) -> Stored | None:
        """Return an object."""
        return self._objects.get(f"{namespace}/{name}")

    def in_order(self, namespace: str = "") -> list[Stored]:
        """Return all objects, or those of a namespace, in the order of their keys."""
        if not namespace:
            return list(self)
        keys = self._keys()
        start = bisect_right(keys, f"{namespace}/")
        found = []
        for key in keys[start:]:
            if not key.startswith(f"{namespace}/"):
                break
            found.append(self._objects[key])
        return found

    def _keys(self) -> list[str]:
        if self._sorted is None:
            self._sorted = sorted(self._objects)
        return self._sorted

    def since(self, version: int) -> list[Change]:
        """Return the changes after a version, oldest first."""
        found = []
        for change in reversed(self._history):
            if change.version <= version:
                break
            found.append(change)
        found.reverse()
        return found

    def forget_history(self) -> None:
        """Forget what happened, so that nobody can resume from an earlier version."""
        if self._history:
            self.forgotten = self._history[-1].version
            self._history.clear()

    def apply(self, change: Change) -> None:
        """Make a change and tell those who watch."""
        if len(self._history) == self._history.maxlen:
            self.forgotten = self._history[0].version
        self._history.append(change)
        key = change.new.key
        if change.type == DELETED:
            del self._objects[key]
            self._sorted = None
        else:
            if key not in self._objects:
                self._sorted = None
            self._objects[key] = change.new
        for changed in list(self.watchers.values()):
            changed(change)


class Store:
    """All objects, by the name of their set (`Resource.store`)."""

    def __init__(self, history: int = HISTORY) -> None:
        self.version = 1
        self._history = history
        self._sets: dict[str, ObjectSet] = {}
        self._watchers = 0

    def set_of(self, store: str) -> ObjectSet:
        """Return a set of objects, made when first asked for."""
        found = self._sets.get(store)
        if found is None:
            found = self._sets[store] = ObjectSet(self._history)
        return found

    def get(self, store: str, namespace: str, name: str) -> Stored | None:
        """Return an object."""
        return self.set_of(store).get(namespace, name)

    def put(self, store: str, document: Document, fields: dict[str, str]) -> Stored:
        """Create or replace the object under a document's name; the document gets its new resource version."""
        objects = self.set_of(store)
        meta = document["metadata"]
        old = objects.get(meta.get("namespace", ""), meta["name"])
        new = self._stored(document, fields)
        objects.apply(Change(MODIFIED if old is not None else ADDED, new, old))
        return new

    def remove(self, store: str, old: Stored, document: Document | None = None) -> Stored:
        """Delete an object; `document` is its last state if that differs from what is kept."""
        last = self._stored(old.document() if document is None else document, old.fields)
        self.set_of(store).apply(Change(DELETED, last, old))
        return last

    def watch(self, store: str, changed: Changed) -> Callable[[], None]:
        """Have somebody told of every change of a set from now on; return how to end it."""
        self._watchers += 1
        number, watchers = self._watchers, self.set_of(store).watchers
        watchers[number] = changed
        return lambda: watchers.pop(number, None) and None

    def _stored(self, document: Document, fields: dict[str, str]) -> Stored:
        self.version += 1
        meta = document["metadata"]
        meta["resourceVersion"] = str(self.version)
        return Stored(
            namespace=meta.get("namespace", ""),
            name=meta["name"],
            uid=meta.get("uid", ""),
            version=self.version,
            labels=meta.get("labels") or {},
            fields=fields,
            body=_encode(document),
        )
