"""The garbage collector: deletes objects without owners, and ends foreground deletions and orphaning.

    deleted owner ───────────────────▶ dependents are deleted, unless another owner exists
    terminating `foregroundDeletion` ▶ dependents are deleted, then the finalizer is removed and the owner is deleted
    terminating `orphan` ────────────▶ owner references are removed, then the finalizer, and the owner is deleted

From deletions to deletions: dependents are indexed by each of their owners.
"""

# upstream: pkg/controller/garbagecollector/{garbagecollector,graph_builder}.go (v1.36)

from collections.abc import Callable, Collection

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import FIRST_DEPENDENTS, ORPHANS
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext
from kubesched_controlplane.controllers.framework.views import ObjectMeta, OwnerReference, metadata_of
from kubesched_controlplane.controllers.framework.workqueue import Workqueue
from kubesched_controlplane.server.verbs.delete_options import BACKGROUND, FOREGROUND, ORPHAN
from kubesched_controlplane.storage.store import DELETED, Change, Changed, Stored

_OWNERS = b'"ownerReferences"'
_DELETION_TIMESTAMP = b'"deletionTimestamp"'
# prefix, namespace, name
Place = tuple[str, str, str]


class GarbageCollector(Controller):
    """Deletes dependents without owners, and removes the finalizers of owners that wait for their dependents."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        # the dependents by the UID of their owner, and whether each blocks the owner's deletion
        self._dependents: dict[str, dict[Place, bool]] = {}
        self._owners: dict[Place, tuple[OwnerReference, ...]] = {}
        # the UIDs of waiting owners whose dependents are being deleted
        self._waiting: set[str] = set()
        self._queue: Workqueue[Place] = Workqueue(context.loop, self._judge, self._note, context.written)

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        resources = self.context.client.server.registry.catalog.resources
        prefixes = {each.prefix for each in resources if "list" in each.verbs}
        return {prefix: self._watcher(prefix) for prefix in sorted(prefixes)}

    def start(self) -> None:
        """Start watching; queue dependents whose owner was deleted before a restart, as far as the history goes."""
        super().start()
        for prefix in self.watches():
            for change in self.context.store.set_of(prefix).since(0):
                if change.type == DELETED:
                    for dependent in self._dependents.get(change.new.uid, ()):
                        self._queue.add(dependent)

    def seconds_left(self) -> float:
        """Return the seconds until the next object is due, infinity if none is queued."""
        return self._queue.seconds_left()

    def stop(self) -> None:
        """Stop watching and drop all queued keys."""
        super().stop()
        self._queue.stop()

    # -- the index of dependents

    def _watcher(self, prefix: str) -> Changed:
        def changed(change: Change) -> None:
            new = change.new
            place = (prefix, new.namespace, new.name)
            if change.type == DELETED:
                self._remember(place, ())
                self._waiting.discard(new.uid)
                for dependent in self._dependents.get(new.uid, ()):
                    self._queue.add(dependent)
                return
            owned, terminating = _OWNERS in new.body, _DELETION_TIMESTAMP in new.body
            if not owned and not terminating:
                if place in self._owners:
                    self._remember(place, ())
                return
            meta = metadata_of(new)
            self._remember(place, meta.owner_references)
            if terminating and (FIRST_DEPENDENTS in meta.finalizers or ORPHANS in meta.finalizers):
                self._queue.add(place)

        return changed

    def _remember(self, place: Place, owners: tuple[OwnerReference, ...]) -> None:
        """Index the owners of an object; queue terminating former owners, which may have waited for it."""
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
            # differs (D-202): the reference deletes objects whose owner never existed; here they stay, because imported
            # objects may come without their owners
            self._dependents.setdefault(owner.uid, {})[place] = bool(owner.block_owner_deletion)
            if owner.uid in self._waiting:
                self._queue.add(place)
        if owners:
            self._owners[place] = owners
        else:
            self._owners.pop(place, None)

    def _add_if_waiting(self, place: Place) -> None:
        stored = self.context.get(*place)
        if stored is not None and _DELETION_TIMESTAMP in stored.body:
            self._queue.add(place)

    def _place_of(self, owner: OwnerReference, namespace: str) -> Place | None:
        """Return the place of an owner, None if its kind is not served."""
        resource = self.context.client.server.registry.catalog.of_kind(owner.api_version, owner.kind)
        if resource is None:
            return None
        return resource.prefix, namespace if resource.namespaced else "", owner.name

    # -- reconciling

    def _judge(self, place: Place) -> None:
        """Orphan or await the dependents of a terminating owner; delete an object if none of its owners exists."""
        stored = self.context.get(*place)
        if stored is None:
            return
        meta = metadata_of(stored)
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
                self._queue.add(dependent)
        if not any(dependents.values()):
            self._drop_finalizer(place, FIRST_DEPENDENTS)

    def _collect(self, place: Place, stored: Stored, meta: ObjectMeta) -> None:
        """Delete an object without lasting owners; otherwise remove its references to deleted and waiting owners."""
        lasting: list[OwnerReference] = []
        terminating: set[str] = set()
        waited_for = False
        for owner in meta.owner_references:
            found = self._find(owner, stored.namespace)
            if found is None:
                terminating.add(owner.uid)
            elif found.waits_under(FIRST_DEPENDENTS):
                terminating.add(owner.uid)
                waited_for = True
            else:
                lasting.append(owner)
        if lasting:
            if terminating:
                self._drop_owners(place, terminating)
            return
        dependents = self._dependents.get(stored.uid, {})
        if waited_for and dependents:
            if any(self._waits(dependent) for dependent in dependents):
                # a cycle of owners: each would wait for the other
                self._change(place, _unblock)
            self.context.delete(place[0], stored, propagation=FOREGROUND)
        elif ORPHANS in meta.finalizers:
            self.context.delete(place[0], stored, propagation=ORPHAN)
        else:
            policy = FOREGROUND if FIRST_DEPENDENTS in meta.finalizers else BACKGROUND
            self.context.delete(place[0], stored, propagation=policy)

    def _find(self, owner: OwnerReference, namespace: str) -> ObjectMeta | None:
        """Return the metadata of an owner if it exists; owners of kinds that are not served count as existing."""
        place = self._place_of(owner, namespace)
        if place is None:
            return ObjectMeta()
        found = self.context.get(*place)
        return metadata_of(found) if found is not None and found.uid == owner.uid else None

    def _waits(self, place: Place) -> bool:
        stored = self.context.get(*place)
        return stored is not None and metadata_of(stored).waits_under(FIRST_DEPENDENTS)

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
        """Change the metadata of an object if it exists."""
        document = self.context.find(*place)
        if document is not None:
            change(document["metadata"])
            self.context.update(place[0], document)


def _unblock(meta: Document) -> None:
    for owner in meta.get("ownerReferences") or ():
        owner["blockOwnerDeletion"] = False
