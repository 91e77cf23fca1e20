"""What controllers share: they watch sets of objects and look at what changed.

From the store's changes to keys on an agenda, and from there to requests like any client's.
"""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.resources import Catalog, Resource
from kubesched.controlplane.api.times import timestamp
from kubesched.controlplane.controllers.framework.options import Options
from kubesched.controlplane.controllers.framework.workqueue import Agenda
from kubesched.controlplane.storage.store import ADDED, Change, Changed, Store, Stored
from kubesched.controlplane.transport.local_client import LocalClient

# namespace and name
Key = tuple[str, str]


class Tools(msgspec.Struct):
    """What controllers work with."""

    client: LocalClient
    loop: AbstractEventLoop
    options: Options
    note: Callable[[str], None]

    @property
    def resources(self) -> Mapping[str, Resource]:
        """Return what is served, by set; the first version of those that have several."""
        return self.catalog.by_store

    @property
    def catalog(self) -> Catalog:
        """Return what is served."""
        return self.client.server.services.catalog

    @property
    def store(self) -> Store:
        """Return all objects."""
        return self.client.server.services.store

    def now(self) -> datetime:
        """Return the time."""
        return self.client.server.services.clock()

    def time(self) -> str:
        """Return the time as objects carry it."""
        return timestamp(self.now())

    def get(self, store: str, namespace: str, name: str) -> Stored | None:
        """Return an object as it is kept."""
        return self.store.get(store, namespace, name)

    def find(self, store: str, namespace: str, name: str) -> Document | None:
        """Return an object as a document, the caller's own."""
        found = self.store.get(store, namespace, name)
        return None if found is None else found.document()

    def create(self, store: str, document: Document) -> Document:
        """Create an object."""
        return self.client.create(self.resources[store], document)

    def update(self, store: str, document: Document, subresource: str = "") -> Document:
        """Replace an object, or its status."""
        return self.client.update(self.resources[store], document, subresource)

    def written(self) -> int:
        """Return how much was written ever."""
        return self.store.version

    def delete(self, store: str, stored: Stored, grace_seconds: int | None = None, propagation: str = "") -> None:
        """Delete just this object; `propagation` says what becomes of those it owns."""
        options: Document = {"preconditions": {"uid": stored.uid}}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if propagation:
            options["propagationPolicy"] = propagation
        self.client.delete(self.resources[store], stored.namespace, stored.name, options)


def tools_for(client: LocalClient, loop: AbstractEventLoop, options: Options, note: Callable[[str], None]) -> Tools:
    """Return what controllers of a server work with."""
    return Tools(client, loop, options, note)


class Controller:
    """Watches and works; what it looks at are keys."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.agenda: Agenda[Key] = Agenda(tools.loop, self.look_at, self._note, tools.written)
        # how to end watching, by set
        self._stops: dict[str, Callable[[], None]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return who is told of changes, by set."""
        return {}

    def look_at(self, key: Key) -> None:
        """See to whatever a key stands for."""

    def start(self) -> None:
        """Begin with what is there, and go on with what changes."""
        self._watch()
        self.tools.catalog.watchers.append(self._watch)

    def _watch(self) -> None:
        """Watch what is not watched yet: there may be kinds that were not there before."""
        for store, changed in self.watches().items():
            if store in self._stops:
                continue
            for stored in self.tools.store.set_of(store):
                changed(Change(ADDED, stored, None))
            self._stops[store] = self.tools.store.watch(store, changed)

    def seconds_left(self) -> float:
        """Return after how many seconds there is something to do, infinity for never."""
        return self.agenda.seconds_left()

    def stop(self) -> None:
        """Watch and work no more."""
        if self._watch in self.tools.catalog.watchers:
            self.tools.catalog.watchers.remove(self._watch)
        for stop in self._stops.values():
            stop()
        self._stops.clear()
        self.agenda.stop()

    def _note(self, line: str) -> None:
        self.tools.note(f"{type(self).__name__}: {line}")

    def _add(self, change: Change) -> None:
        """Have the object of a change looked at."""
        self.agenda.add((change.new.namespace, change.new.name))
