"""Objects whose owners are gone go, too.

From deletions to deletions: whoever names owners is remembered under each of them, and is deleted when the last one is
gone.
"""

# upstream: pkg/controller/garbagecollector (background propagation) (v1.36)

import msgspec

from kubesched.controlplane.simulation.agenda import Agenda
from kubesched.controlplane.simulation.controller import Controller, Tools
from kubesched.controlplane.store import DELETED, Change, Changed, Stored

_OWNERS = b'"ownerReferences"'
# set, namespace, name
Dependent = tuple[str, str, str]


class _Owner(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""


class _Meta(msgspec.Struct, rename="camel"):
    owner_references: tuple[_Owner, ...] = ()
    deletion_timestamp: str | None = None


class _Object(msgspec.Struct):
    metadata: _Meta


_decode = msgspec.json.Decoder(_Object).decode


class Garbage(Controller):
    """Deletes what has lost its owners."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self._dependents: dict[str, dict[Dependent, None]] = {}
        self._agenda: Agenda[Dependent] = Agenda(tools.loop, self._judge, self._note)

    def watches(self) -> dict[str, Changed]:
        """Return who is told of changes, by set."""
        stores = {each.store for each in self.tools.client.server.services.catalog.resources if "list" in each.verbs}
        return {store: self._watcher(store) for store in sorted(stores)}

    def seconds_left(self) -> float:
        """Return after how many seconds there is something to do, infinity for never."""
        return self._agenda.seconds_left()

    def stop(self) -> None:
        """Watch and work no more."""
        super().stop()
        self._agenda.stop()

    def _watcher(self, store: str) -> Changed:
        def changed(change: Change) -> None:
            if change.old is not None and _OWNERS in change.old.body:
                self._forget(store, change.old)
            if change.type == DELETED:
                for dependent in self._dependents.get(change.new.uid, ()):
                    self._agenda.add(dependent)
            elif _OWNERS in change.new.body:
                self._remember(store, change.new)

        return changed

    def _remember(self, store: str, stored: Stored) -> None:
        dependent = (store, stored.namespace, stored.name)
        for owner in _decode(stored.body).metadata.owner_references:
            # differs: an owner that was never there is no reason to go, or objects that are loaded from another cluster
            # would vanish at once
            self._dependents.setdefault(owner.uid, {})[dependent] = None

    def _forget(self, store: str, stored: Stored) -> None:
        dependent = (store, stored.namespace, stored.name)
        for owner in _decode(stored.body).metadata.owner_references:
            dependents = self._dependents.get(owner.uid)
            if dependents is not None:
                dependents.pop(dependent, None)
                if not dependents:
                    del self._dependents[owner.uid]

    def _judge(self, dependent: Dependent) -> None:
        """Delete an object if none of its owners is left."""
        store, namespace, name = dependent
        stored = self.tools.get(store, namespace, name)
        if stored is None:
            return
        meta = _decode(stored.body).metadata
        if meta.deletion_timestamp or not meta.owner_references:
            return
        if not any(self._exists(owner, namespace) for owner in meta.owner_references):
            self.tools.delete(store, stored)

    def _exists(self, owner: _Owner, namespace: str) -> bool:
        """Return whether an owner is there; a kind that is not served here is somebody else's business."""
        resource = self.tools.client.server.services.catalog.of_kind(owner.api_version, owner.kind)
        if resource is None:
            return True
        found = self.tools.get(resource.store, namespace if resource.namespaced else "", owner.name)
        return found is not None and found.uid == owner.uid
