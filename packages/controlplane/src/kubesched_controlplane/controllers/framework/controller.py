"""The base class of controllers, which watch resources and reconcile changed objects.

From the store's changes to keys on a workqueue, and from there to requests like any client's.
"""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.controllers.framework.workqueue import Workqueue
from kubesched_controlplane.storage.store import ADDED, Change, Changed, Store, Stored
from kubesched_controlplane.transport.local_client import LocalClient

# namespace and name
Key = tuple[str, str]


class ControllerContext(msgspec.Struct):
    """The client, event loop, options and log of controllers."""

    client: LocalClient
    loop: AbstractEventLoop
    options: Options
    note: Callable[[str], None]

    @property
    def resources(self) -> Mapping[str, Resource]:
        """Return the resources by prefix: the first version of each."""
        return self.catalog.by_prefix

    @property
    def catalog(self) -> Catalog:
        """Return the catalog of resources."""
        return self.client.server.registry.catalog

    @property
    def store(self) -> Store:
        """Return the store of all objects."""
        return self.client.server.registry.store

    def now(self) -> datetime:
        """Return the time of the server's clock."""
        return self.client.server.registry.clock()

    def time(self) -> str:
        """Return the time as a timestamp for objects."""
        return timestamp(self.now())

    def get(self, prefix: str, namespace: str, name: str) -> Stored | None:
        """Return a stored object, None if it does not exist."""
        return self.store.get(prefix, namespace, name)

    def find(self, prefix: str, namespace: str, name: str) -> Document | None:
        """Return an object as a document that the caller may change, None if it does not exist."""
        found = self.store.get(prefix, namespace, name)
        return None if found is None else found.document()

    def create(self, prefix: str, document: Document) -> Document:
        """Create an object."""
        return self.client.create(self.resources[prefix], document)

    def update(self, prefix: str, document: Document, subresource: str = "") -> Document:
        """Replace an object, or its status."""
        return self.client.update(self.resources[prefix], document, subresource)

    def written(self) -> int:
        """Return the resource version of the store, which grows with every write."""
        return self.store.version

    def delete(self, prefix: str, stored: Stored, grace_seconds: int | None = None, propagation: str = "") -> None:
        """Delete an object by UID; `propagation` is the policy for its dependents."""
        options: Document = {"preconditions": {"uid": stored.uid}}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if propagation:
            options["propagationPolicy"] = propagation
        self.client.delete(self.resources[prefix], stored.namespace, stored.name, options)


class Controller:
    """Watches resources, queues keys of objects and reconciles them."""

    def __init__(self, context: ControllerContext) -> None:
        self.context = context
        self.workqueue: Workqueue[Key] = Workqueue(context.loop, self.reconcile, self._note, context.written)
        # functions that stop the watches, by prefix
        self._stops: dict[str, Callable[[], None]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {}

    def reconcile(self, key: Key) -> None:
        """Bring the object of a key to its desired state."""

    def start(self) -> None:
        """Start watching: existing objects first, then changes."""
        self._watch()
        self.context.catalog.watchers.append(self._watch)

    def _watch(self) -> None:
        """Watch the resources that are not watched yet; the catalog calls this for new kinds."""
        for prefix, changed in self.watches().items():
            if prefix in self._stops:
                continue
            for stored in self.context.store.set_of(prefix):
                changed(Change(ADDED, stored, None))
            self._stops[prefix] = self.context.store.watch(prefix, changed)

    def seconds_left(self) -> float:
        """Return the seconds until the next key is due, infinity if no key is queued."""
        return self.workqueue.seconds_left()

    def stop(self) -> None:
        """Stop watching and drop all queued keys."""
        if self._watch in self.context.catalog.watchers:
            self.context.catalog.watchers.remove(self._watch)
        for stop in self._stops.values():
            stop()
        self._stops.clear()
        self.workqueue.stop()

    def _note(self, line: str) -> None:
        self.context.note(f"{type(self).__name__}: {line}")

    def _add(self, change: Change) -> None:
        """Queue the object of a change."""
        self.workqueue.add((change.new.namespace, change.new.name))
