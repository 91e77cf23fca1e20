"""Deletion of namespaces: first of their objects, then of the namespace.

From a terminating namespace to deletions of its objects, and to the removal of its finalizer.
"""

# upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go (v1.36)

from collections.abc import Callable

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.lifecycle.namespace_content import NamespaceContent
from kubesched_controlplane.kinds.namespaces import FINALIZER, TERMINATING
from kubesched_controlplane.server.verbs.delete_options import BACKGROUND
from kubesched_controlplane.storage.store import DELETED, Change, Changed

NAMESPACES = "namespaces"
MOST_AT_A_TIME = 200


class NamespaceController(Controller):
    """Deletes the objects of terminating namespaces."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._ending: set[str] = set()
        # stops the watches of objects in namespaces; empty while no namespace is terminating
        self._contents: list[Callable[[], None]] = []

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NAMESPACES: self._changed}

    def stop(self) -> None:
        """Stop watching and drop all queued keys."""
        super().stop()
        self._watch_no_contents()

    def _changed(self, change: Change) -> None:
        name = change.new.name
        if change.type == DELETED:
            self._ending.discard(name)
            self.workqueue.forget(("", name))
            if not self._ending:
                self._watch_no_contents()
        elif change.new.fields.get("status.phase") == TERMINATING:
            self._ending.add(name)
            if not self._contents:
                self._contents = [self.context.store.watch(each.prefix, self._removed) for each in self._kinds()]
            self.workqueue.add(("", name))

    def _watch_no_contents(self) -> None:
        for stop in self._contents:
            stop()
        self._contents = []

    def _removed(self, change: Change) -> None:
        if change.type == DELETED and change.new.namespace in self._ending:
            self.workqueue.add(("", change.new.namespace))

    def _kinds(self) -> list[Resource]:
        """Return the namespaced resources that can be deleted, one for each prefix."""
        resources = self.context.client.server.registry.catalog.resources
        kinds = {each.prefix: each for each in resources if each.namespaced and "delete" in each.verbs}
        return list(kinds.values())

    def reconcile(self, key: Key) -> None:
        """Delete the objects of a namespace and write its conditions; remove its finalizer if no object remains."""
        name = key[1]
        namespace = self.context.find(NAMESPACES, *key)
        if namespace is None or name not in self._ending:
            return
        left = self._empty(name)
        if left is None:
            return
        namespace = self._say(namespace, left)
        finalizers = namespace["spec"].get("finalizers") or []
        if left.waits or FINALIZER not in finalizers:
            return
        namespace["spec"]["finalizers"] = [each for each in finalizers if each != FINALIZER]
        self.context.update(NAMESPACES, namespace, "finalize")

    def _empty(self, name: str) -> NamespaceContent | None:
        """Delete the objects of a namespace, pods first; return what remains, None if the namespace was requeued."""
        kinds = sorted(self._kinds(), key=lambda kind: kind.prefix != PODS)
        left, deleted = NamespaceContent(), 0
        for kind in kinds:
            for stored in self.context.store.set_of(kind.prefix).in_order(name):
                if deleted >= MOST_AT_A_TIME:
                    self.workqueue.add(("", name))
                    return None
                if b'"deletionTimestamp"' not in stored.body:
                    self.context.delete(kind.prefix, stored, propagation=BACKGROUND)
                    deleted += 1
                found = self.context.get(kind.prefix, name, stored.name)
                if found is not None:
                    left.add(kind, found)
            if kind.prefix == PODS and left.waits:
                # pods may need the other objects until they are deleted
                return NamespaceContent(waits=True)
        return left

    def _say(self, namespace: Document, left: NamespaceContent) -> Document:
        """Write the conditions of a namespace; return the updated namespace."""
        before = (namespace.get("status") or {}).get("conditions") or []
        conditions = left.conditions(before, self.context.time())
        if conditions == before:
            return namespace
        status = {**namespace["status"], "conditions": conditions}
        return self.context.update(NAMESPACES, {**namespace, "status": status}, "status")
