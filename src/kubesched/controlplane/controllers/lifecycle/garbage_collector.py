"""Objects whose owners are gone go, too; and owners that wait for those they own.

    owner gone ─────────────────────────────▶ what it owned goes, unless another owner is left
    owner going, `foregroundDeletion` ──────▶ what it owns goes first; then the finalizer, and with it the owner
    owner going, `orphan` ──────────────────▶ what it owns forgets it; then the finalizer, and with it the owner

From deletions to deletions: whoever names owners is remembered under each of them.
"""

# upstream: pkg/controller/garbagecollector/{garbagecollector,graph_builder}.go (v1.36)

from collections.abc import Callable, Collection

import msgspec

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.controllers.framework.controller import Controller, Tools
from kubesched.controlplane.controllers.framework.workqueue import Agenda
from kubesched.controlplane.server.verbs.delete_options import BACKGROUND, FOREGROUND, ORPHAN
from kubesched.controlplane.server.verbs.deleting import FIRST_DEPENDENTS, ORPHANS
from kubesched.controlplane.storage.store import DELETED, Change, Changed, Stored

_OWNERS = b'"ownerReferences"'
_GOING = b'"deletionTimestamp"'
# set, namespace, name
Place = tuple[str, str, str]


class _Owner(msgspec.Struct, rename="camel", frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    block_owner_deletion: bool | None = None


class _Meta(msgspec.Struct, rename="camel", frozen=True):
    owner_references: tuple[_Owner, ...] = ()
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] = ()

    def waits_under(self, finalizer: str) -> bool:
        """Return whether the object is going and waits under a finalizer."""
        return self.deletion_timestamp is not None and finalizer in self.finalizers


class _Object(msgspec.Struct, frozen=True):
    metadata: _Meta


_decode = msgspec.json.Decoder(_Object).decode


class Garbage(Controller):
    """Deletes what has lost its owners, and sees to owners that wait."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        # who names an owner, by the owner's UID, and whether the owner waits for it
        self._dependents: dict[str, dict[Place, bool]] = {}
        self._owners: dict[Place, tuple[_Owner, ...]] = {}
        # the UIDs of owners that wait, once what they own was told to go
        self._waiting: set[str] = set()
        self._agenda: Agenda[Place] = Agenda(tools.loop, self._judge, self._note, tools.written)

    def watches(self) -> dict[str, Changed]:
        """Return who is told of changes, by set."""
        stores = {each.store for each in self.tools.client.server.services.catalog.resources if "list" in each.verbs}
        return {store: self._watcher(store) for store in sorted(stores)}

    def start(self) -> None:
        """Begin with what is there; those whose owner went last thing before an earlier end are still to be seen to."""
        super().start()
        for store in self.watches():
            for change in self.tools.store.set_of(store).since(0):
                if change.type == DELETED:
                    for dependent in self._dependents.get(change.new.uid, ()):
                        self._agenda.add(dependent)

    def seconds_left(self) -> float:
        """Return after how many seconds there is something to do, infinity for never."""
        return self._agenda.seconds_left()

    def stop(self) -> None:
        """Watch and work no more."""
        super().stop()
        self._agenda.stop()

    # -- who owns whom

    def _watcher(self, store: str) -> Changed:
        def changed(change: Change) -> None:
            new = change.new
            place = (store, new.namespace, new.name)
            if change.type == DELETED:
                self._remember(place, ())
                self._waiting.discard(new.uid)
                for dependent in self._dependents.get(new.uid, ()):
                    self._agenda.add(dependent)
                return
            owned, going = _OWNERS in new.body, _GOING in new.body
            if not owned and not going:
                if place in self._owners:
                    self._remember(place, ())
                return
            meta = _decode(new.body).metadata
            self._remember(place, meta.owner_references)
            if going and (FIRST_DEPENDENTS in meta.finalizers or ORPHANS in meta.finalizers):
                self._agenda.add(place)

        return changed

    def _remember(self, place: Place, owners: tuple[_Owner, ...]) -> None:
        """Note whom an object names; an owner that it does not name any more may have waited for that."""
        before = self._owners.get(place, ())
        if owners == before:
            return
        for owner in before:
            dependents = self._dependents.get(owner.uid, {})
            dependents.pop(place, None)
            if not dependents:
                self._dependents.pop(owner.uid, None)
            if (found := self._place_of(owner, place[1])) is not None:
                self._add_if_waiting(found)
        for owner in owners:
            # differs (objects whose owner was never there): an owner that was never there is no reason to go, or
            # objects that are loaded from another cluster would vanish at once
            self._dependents.setdefault(owner.uid, {})[place] = bool(owner.block_owner_deletion)
            if owner.uid in self._waiting:
                self._agenda.add(place)
        if owners:
            self._owners[place] = owners
        else:
            self._owners.pop(place, None)

    def _add_if_waiting(self, place: Place) -> None:
        stored = self.tools.get(*place)
        if stored is not None and _GOING in stored.body:
            self._agenda.add(place)

    def _place_of(self, owner: _Owner, namespace: str) -> Place | None:
        """Return where an owner is, if its kind is served here."""
        resource = self.tools.client.server.services.catalog.of_kind(owner.api_version, owner.kind)
        if resource is None:
            return None
        return resource.store, namespace if resource.namespaced else "", owner.name

    # -- what is to be done

    def _judge(self, place: Place) -> None:
        """See to an owner that waits; delete an object if none of its owners is left."""
        stored = self.tools.get(*place)
        if stored is None:
            return
        meta = _decode(stored.body).metadata
        if meta.waits_under(ORPHANS):
            self._orphan_dependents(place, stored)
        elif meta.waits_under(FIRST_DEPENDENTS):
            self._await_dependents(place, stored)
        elif meta.deletion_timestamp is None and meta.owner_references:
            self._collect(place, stored, meta)

    def _orphan_dependents(self, place: Place, owner: Stored) -> None:
        for dependent in list(self._dependents.get(owner.uid, ())):
            self._drop_owners(dependent, {owner.uid})
        self._drop_finalizer(place, ORPHANS)

    def _await_dependents(self, place: Place, owner: Stored) -> None:
        dependents = self._dependents.get(owner.uid, {})
        if owner.uid not in self._waiting:
            self._waiting.add(owner.uid)
            for dependent in dependents:
                self._agenda.add(dependent)
        if not any(dependents.values()):
            self._drop_finalizer(place, FIRST_DEPENDENTS)

    def _collect(self, place: Place, stored: Stored, meta: _Meta) -> None:
        """Delete an object without owners that last; with one, let it forget the others."""
        lasting: list[_Owner] = []
        going: set[str] = set()
        waited_for = False
        for owner in meta.owner_references:
            found = self._find(owner, stored.namespace)
            if found is None:
                going.add(owner.uid)
            elif found.waits_under(FIRST_DEPENDENTS):
                going.add(owner.uid)
                waited_for = True
            else:
                lasting.append(owner)
        if lasting:
            if going:
                self._drop_owners(place, going)
            return
        dependents = self._dependents.get(stored.uid, {})
        if waited_for and dependents:
            if any(self._waits(dependent) for dependent in dependents):
                # a circle: each would wait for the other
                self._change(place, _unblock)
            self.tools.delete(place[0], stored, propagation=FOREGROUND)
        elif ORPHANS in meta.finalizers:
            self.tools.delete(place[0], stored, propagation=ORPHAN)
        else:
            policy = FOREGROUND if FIRST_DEPENDENTS in meta.finalizers else BACKGROUND
            self.tools.delete(place[0], stored, propagation=policy)

    def _find(self, owner: _Owner, namespace: str) -> _Meta | None:
        """Return the metadata of an owner if it is there; a kind that is not served is somebody else's business."""
        place = self._place_of(owner, namespace)
        if place is None:
            return _Meta()
        found = self.tools.get(*place)
        return _decode(found.body).metadata if found is not None and found.uid == owner.uid else None

    def _waits(self, place: Place) -> bool:
        stored = self.tools.get(*place)
        return stored is not None and _decode(stored.body).metadata.waits_under(FIRST_DEPENDENTS)

    # -- changes

    def _drop_owners(self, place: Place, uids: Collection[str]) -> None:
        def drop(meta: Document) -> None:
            kept = [each for each in meta.get("ownerReferences") or () if each.get("uid") not in uids]
            meta["ownerReferences"] = kept
            if not kept:
                del meta["ownerReferences"]

        self._change(place, drop)

    def _drop_finalizer(self, place: Place, finalizer: str) -> None:
        def drop(meta: Document) -> None:
            meta["finalizers"] = [each for each in meta.get("finalizers") or () if each != finalizer]

        self._change(place, drop)

    def _change(self, place: Place, change: Callable[[Document], None]) -> None:
        """Change the metadata of an object that is there."""
        document = self.tools.find(*place)
        if document is not None:
            change(document["metadata"])
            self.tools.update(place[0], document)


def _unblock(meta: Document) -> None:
    for owner in meta.get("ownerReferences") or ():
        owner["blockOwnerDeletion"] = False
