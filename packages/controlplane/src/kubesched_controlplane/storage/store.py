"""The store: every object as the JSON that is sent, one counter for all resource versions, and recent changes.

From verbs to objects and changes. It is synchronous and has one writer; a write calls the watchers before it returns. A
change carries the object's bytes before and after, so it is encoded once. With a journal a change is written there
first; a change that cannot be written is refused.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from sys import intern
from typing import Protocol

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.managed_fields.entries import ManagedFields, as_documents, with_managed_fields

Changed = Callable[["Change"], None]

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
# changes of each resource that are kept for watches to resume
HISTORY = 10_000
# bytes of the objects in these changes; beyond this the oldest changes are dropped, however few there are
HISTORY_BYTES = 64 * 1024 * 1024
_FIRST = ("kind", "apiVersion", "metadata")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Stored(msgspec.Struct, frozen=True, gc=False):
    """An object: the labels and fields for selectors, the bytes without managedFields, and the managedFields.

    In the bytes only kind and apiVersion come before the metadata.
    """

    namespace: str
    name: str
    uid: str
    version: int
    labels: dict[str, str]
    fields: dict[str, str]
    body: bytes
    # stored under the name of older releases
    managed_fields: ManagedFields = msgspec.field(default=(), name="owners")

    @property
    def key(self) -> str:
        """Return the key of the object in its set; lists are sorted by it."""
        return f"{self.namespace}/{self.name}"

    def document(self) -> Document:
        """Return a new copy as dicts and lists, without managedFields."""
        document: Document = _decode(self.body)
        return document

    def with_managed_fields(self) -> bytes:
        """Return the bytes with managedFields, as clients see the object."""
        return with_managed_fields(self.body, self.managed_fields)

    def document_with_managed_fields(self) -> Document:
        """Return a copy as dicts and lists, with managedFields."""
        document = self.document()
        if self.managed_fields:
            document["metadata"]["managedFields"] = as_documents(self.managed_fields)
        return document


class Change(msgspec.Struct, gc=False):
    """A change of an object; for a deletion `new` is the last state with the resource version of the deletion.

    `bodies` caches the encodings for watches of other forms, such as tables.
    """

    type: str
    new: Stored
    old: Stored | None
    bodies: dict[str, bytes] = {}

    @property
    def version(self) -> int:
        """Return the resource version of the change."""
        return self.new.version


class Journal(Protocol):
    """Keeps changes where they outlive the process."""

    def forgotten(self) -> Mapping[str, int]:
        """Return the version up to which each set has dropped its history."""

    def changes(self) -> Iterable[tuple[str, Stored, bool]]:
        """Return the stored changes, oldest first: the set, the object, and whether it was deleted."""

    def write(self, prefix: str, change: Change) -> None:
        """Write a change; raises if it cannot be written."""

    def forget(self, prefix: str, change: Change) -> None:
        """Drop a change that is out of the history."""

    def together(self) -> AbstractContextManager[None]:
        """Write all changes of a block or, if the block fails, none."""


class ObjectSet:
    """The objects of one resource, their recent history, and their watchers."""

    def __init__(self, history: int = HISTORY, forget: Changed | None = None) -> None:
        self._objects: dict[str, Stored] = {}
        self._sorted: list[str] | None = None
        self._history: deque[Change] = deque(maxlen=history)
        self._history_bytes = 0
        # called with each change that is dropped from the history
        self._forget = forget
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
        """Return all objects, or one namespace's objects, in the order of their keys."""
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

    def at(self, version: int) -> list[Stored]:
        """Return all objects at a version that is still in the history, in the order of their keys."""
        changes = self.since(version)
        if not changes:
            return self.in_order()
        # nearly in order, so that sorting is quick
        objects = {key: self._objects[key] for key in self._keys()}
        for change in reversed(changes):
            if change.old is None:
                del objects[change.new.key]
            else:
                objects[change.new.key] = change.old
        return [objects[key] for key in sorted(objects)]

    def forget_history(self) -> None:
        """Drop the history: no watch can resume from an earlier version."""
        while self._history:
            self._forget_first()

    def _forget_first(self) -> None:
        change = self._history.popleft()
        self._history_bytes -= len(change.new.body)
        self.forgotten = change.version
        if self._forget is not None:
            self._forget(change)

    def apply(self, change: Change) -> None:
        """Apply a change, add it to the history, and call the watchers."""
        if len(self._history) == self._history.maxlen:
            self._forget_first()
        # changes from the journal may be older than the history
        if change.version > self.forgotten:
            self._history.append(change)
            self._history_bytes += len(change.new.body)
            while self._history_bytes > HISTORY_BYTES and len(self._history) > 1:
                self._forget_first()
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
    """All objects, in sets by `Resource.prefix`."""

    def __init__(self, history: int = HISTORY, journal: Journal | None = None) -> None:
        self.version = 1
        self._history = history
        self._journal = journal
        self._sets: dict[str, ObjectSet] = {}
        self._watchers = 0
        if journal is not None:
            self._recall(journal)
        # the last version that the journal had; 0 if it was empty
        self.recalled = self.version if self._sets else 0

    def _recall(self, journal: Journal) -> None:
        """Restore the objects and the history from the journal."""
        for prefix, version in journal.forgotten().items():
            self.set_of(prefix).forgotten = version
            self.version = max(self.version, version)
        for prefix, stored, deleted in journal.changes():
            objects = self.set_of(prefix)
            old = objects.get(stored.namespace, stored.name)
            objects.apply(Change(DELETED if deleted else MODIFIED if old is not None else ADDED, stored, old))
            self.version = max(self.version, stored.version)

    def together(self) -> AbstractContextManager[None]:
        """Write all changes of a block or, if the block fails, none; after a failure the store must not be used."""
        return nullcontext() if self._journal is None else self._journal.together()

    def set_of(self, prefix: str) -> ObjectSet:
        """Return the set of objects with this prefix; create it if it does not exist."""
        found = self._sets.get(prefix)
        if found is None:
            forget = None if self._journal is None else partial(self._journal.forget, prefix)
            found = self._sets[prefix] = ObjectSet(self._history, forget)
        return found

    def get(self, prefix: str, namespace: str, name: str) -> Stored | None:
        """Return an object."""
        return self.set_of(prefix).get(namespace, name)

    def put(
        self, prefix: str, document: Document, fields: dict[str, str], managed_fields: ManagedFields | None = None
    ) -> Stored:
        """Create or replace an object; sets the new resource version in the document.

        Without managedFields the object keeps its old ones.
        """
        meta = document["metadata"]
        old = self.get(prefix, meta.get("namespace", ""), meta["name"])
        if managed_fields is None:
            managed_fields = () if old is None else old.managed_fields
        new = self._stored(document, fields, managed_fields, old)
        self._make(prefix, Change(MODIFIED if old is not None else ADDED, new, old))
        return new

    def remove(self, prefix: str, old: Stored, document: Document | None = None) -> Stored:
        """Delete an object; `document` is its last state if that differs from the stored one."""
        last = self._stored(old.document() if document is None else document, old.fields, old.managed_fields, old)
        self._make(prefix, Change(DELETED, last, old))
        return last

    def watch(self, prefix: str, changed: Changed) -> Callable[[], None]:
        """Call `changed` with every change of a set from now on; return the function that ends the watch."""
        self._watchers += 1
        number, watchers = self._watchers, self.set_of(prefix).watchers
        watchers[number] = changed
        return lambda: watchers.pop(number, None) and None

    def _make(self, prefix: str, change: Change) -> None:
        """Write a change to the journal, then apply it."""
        if self._journal is not None:
            self._journal.write(prefix, change)
        self.version = change.version
        self.set_of(prefix).apply(change)

    def _stored(
        self, document: Document, fields: dict[str, str], managed_fields: ManagedFields, old: Stored | None
    ) -> Stored:
        version = self.version + 1
        meta = document["metadata"]
        meta["resourceVersion"] = str(version)
        return Stored(
            namespace=intern(meta.get("namespace", "")),
            name=meta["name"] if old is None else old.name,
            uid=meta.get("uid", ""),
            version=version,
            labels=_shared(meta.get("labels") or {}, None if old is None else old.labels),
            fields=_shared(fields, None if old is None else old.fields),
            body=_encode(in_order(document)),
            managed_fields=managed_fields,
        )


def _shared(texts: dict[str, str], before: dict[str, str] | None) -> dict[str, str]:
    """Return texts that share memory with equal ones, such as labels of pods with the same template."""
    if texts == before:
        return before
    # objects of older releases may hold values that are not strings
    return {intern(name): intern(text) if type(text) is str else text for name, text in texts.items()}


def in_order(document: Document) -> Document:
    """Return a document in which only kind and apiVersion come before the metadata."""
    start = islice(document, 3)
    if all(name in _FIRST for name in start):
        return document
    return {**{name: document[name] for name in _FIRST if name in document}, **document}
