"""The controller of definitions: it accepts names, serves kinds, and deletes the objects of terminating definitions.

    definition ──▶ names free? ──▶ NamesAccepted ──▶ Established ──▶ catalog
    definition terminating ──▶ objects deleted ──▶ none left ──▶ finalizer removed, definition deleted

From changes of definitions to their status and to the catalog. It runs between requests: a request that changes a
definition is answered first, and for the next request the kind is served.
"""

# upstream: apiextensions-apiserver/pkg/controller/{status,establish,finalizer}/*.go,
# pkg/apiserver/customresource_{handler,discovery_controller}.go (v1.36)

from collections.abc import Callable
from typing import Any

from kubesched.api.go_text import quote
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.custom.definitions import CLEANUP, DEFINITIONS, ESTABLISHED, NAMES_ACCEPTED, TERMINATING
from kubesched_controlplane.custom.kinds import CustomKind, condition_of, kinds_of, version_rank
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.storage.store import DELETED, Change, Stored

# deletes an object as a client would
Delete = Callable[[Resource, Stored], None]


class Definitions:
    """Reconciles CustomResourceDefinitions, and serves their kinds."""

    def __init__(self, registry: ResourceRegistry, delete: Delete, gone: Callable[[str], None]) -> None:
        self._registry = registry
        self._delete = delete
        # called with the name of a definition whose objects are no longer served as before
        self._gone = gone
        # by the name of a definition: its relevant parts, and its kinds
        self._served: dict[str, tuple[Any, list[CustomKind]]] = {}
        # decoded definitions with their resource version; read-only
        self._read: dict[str, tuple[int, Document]] = {}
        # functions that end the watches of objects of terminating definitions
        self._waiting: dict[str, Callable[[], None]] = {}
        self.is_behind = False
        registry.store.watch(DEFINITIONS, self._changed)
        if len(registry.store.set_of(DEFINITIONS)):
            self.catch_up()

    def _changed(self, change: Change) -> None:
        self.is_behind = True
        if change.type == DELETED:
            self._read.pop(change.new.name, None)

    def _definition(self, stored: Stored) -> Document:
        """Return a decoded definition; it is decoded again only when it changed."""
        version, document = self._read.get(stored.name, (0, {}))
        if version != stored.version:
            document = stored.document()
            self._read[stored.name] = stored.version, document
        return document

    def catch_up(self) -> None:
        """Reconcile all definitions until nothing changes."""
        self.is_behind = True
        while self.is_behind:
            self.is_behind = False
            for stored in self._registry.store.set_of(DEFINITIONS).in_order():
                self._accept_names(stored)
            self._serve()
            for stored in self._registry.store.set_of(DEFINITIONS).in_order():
                self._clean_up(stored)

    # -- names

    def _accept_names(self, stored: Stored) -> None:
        document = self._definition(stored)
        accepted, wanted = document["status"]["acceptedNames"], document["spec"]["names"]
        is_established = condition_of(document, ESTABLISHED).get("status") == "True"
        if wanted == accepted and is_established:
            return
        document = stored.document()
        names, conflict = _names(wanted, accepted, *self._taken(document))
        before = document["status"].get("conditions")
        if conflict is None:
            self._set(document, NAMES_ACCEPTED, "True", "NoConflicts", "no conflicts found")
            if not is_established:
                self._set(document, ESTABLISHED, "True", "InitialNamesAccepted", "the initial names have been accepted")
        else:
            self._set(document, NAMES_ACCEPTED, "False", *conflict)
            if not is_established:
                self._set(document, ESTABLISHED, "False", "NotAccepted", "not all names are accepted")
        if names != accepted or document["status"]["conditions"] != before:
            document["status"]["acceptedNames"] = names
            self._put(document)

    def _taken(self, document: Document) -> tuple[set[str], set[str]]:
        """Return the accepted resource names and kinds of a definition's group."""
        resources: set[str] = set()
        kinds: set[str] = set()
        for stored in self._registry.store.set_of(DEFINITIONS):
            other = self._definition(stored)
            if other["spec"]["group"] == document["spec"]["group"]:
                names = other["status"]["acceptedNames"]
                resources |= {names["plural"], names.get("singular", ""), *(names.get("shortNames") or ())}
                kinds |= {names["kind"], names.get("listKind", "")}
        return resources, kinds

    def _set(self, document: Document, kind: str, status: str, reason: str, message: str) -> None:
        """Set a condition; lastTransitionTime changes only with its status."""
        found = condition_of(document, kind)
        wanted = {"type": kind, "status": status, "reason": reason, "message": message}
        time = found.get("lastTransitionTime") if found.get("status") == status else None
        wanted["lastTransitionTime"] = time or timestamp(self._registry.clock())
        conditions = document["status"].get("conditions") or []
        if found:
            conditions = [wanted if each is found else each for each in conditions]
        else:
            conditions = [*conditions, wanted]
        document["status"]["conditions"] = conditions

    def _put(self, document: Document) -> None:
        self._registry.store.put(DEFINITIONS, document, {})

    # -- serving

    def _serve(self) -> None:
        """Serve the kinds of established definitions; end watches of kinds that changed."""
        before, now = self._served, {}
        for stored in self._registry.store.set_of(DEFINITIONS).in_order():
            document = self._definition(stored)
            if condition_of(document, ESTABLISHED).get("status") != "True":
                continue
            terminating = condition_of(document, TERMINATING).get("status") == "True"
            said = (stored.uid, document["spec"], document["status"]["acceptedNames"], terminating)
            known = before.get(stored.name)
            kinds = known[1] if known is not None and known[0] == said else self._kinds_of(document)
            if kinds:
                now[stored.name] = said, kinds
        if now == before:
            return
        self._served = now
        kinds = [each for _, found in now.values() for each in found]
        self._registry.defined = {each.key: each.defined for each in kinds}
        self._registry.schemas.define({each.key: each.decoder for each in kinds})
        resources = [each.resource for each in kinds]
        self._registry.catalog.define(sorted(resources, key=lambda each: (each.group, version_rank(each.version))))
        for name, (said, _) in before.items():
            # watches end when the kind is no longer served as before
            if name not in now or now[name][0][:3] != said[:3]:
                self._gone(name)

    def _kinds_of(self, document: Document) -> list[CustomKind]:
        """Return the kinds of a definition, without kinds that a built-in kind shadows, as in the reference."""
        is_taken = self._registry.catalog.is_taken
        return [
            each
            for each in kinds_of(document)
            if not is_taken(each.resource.group, each.resource.version, each.resource.plural)
        ]

    # -- deletion

    def _clean_up(self, stored: Stored) -> None:
        """Delete the objects of a terminating definition; remove its finalizer when none is left."""
        meta = self._definition(stored)["metadata"]
        if not meta.get("deletionTimestamp") or CLEANUP not in (meta.get("finalizers") or ()):
            return
        document = stored.document()
        meta = document["metadata"]
        store = self._registry.store
        kinds = self._served.get(stored.name, (None, []))[1]
        if kinds:
            self._watch(stored.name)
            for each in store.set_of(stored.name).in_order():
                if b'"deletionTimestamp"' not in each.body:
                    self._delete(kinds[0].resource, each)
            if len(store.set_of(stored.name)):
                self._set_progress(document)
                return
            self._set(document, TERMINATING, "False", "InstanceDeletionCompleted", "removed all instances")
        else:
            self._set(document, TERMINATING, "False", "NeverEstablished", "resource was never established")
        self._waiting.pop(stored.name, lambda: None)()
        meta["finalizers"] = [each for each in meta["finalizers"] if each != CLEANUP]
        if meta["finalizers"]:
            self._put(document)
        else:
            del meta["finalizers"]
            store.remove(DEFINITIONS, stored, document)

    def _set_progress(self, document: Document) -> None:
        before = condition_of(document, TERMINATING)
        message = "CustomResource deletion is in progress"
        self._set(document, TERMINATING, "True", "InstanceDeletionInProgress", message)
        if condition_of(document, TERMINATING) != before:
            self._put(document)

    def _watch(self, name: str) -> None:
        """Reconcile again when an object of a terminating definition is deleted."""

        def changed(change: Change) -> None:
            self.is_behind = self.is_behind or change.type == DELETED

        if name not in self._waiting:
            self._waiting[name] = self._registry.store.watch(name, changed)


def _names(
    wanted: Document, accepted: Document, resources: set[str], kinds: set[str]
) -> tuple[Document, tuple[str, str] | None]:
    """Return the accepted names of a definition, and the reason and message of a conflict, None without one."""
    names, conflict = dict(accepted), None
    for field, taken, reason in (
        ("plural", resources, "PluralConflict"),
        ("singular", resources, "SingularConflict"),
        ("shortNames", resources, "ShortNamesConflict"),
        ("kind", kinds, "KindConflict"),
        ("listKind", kinds, "ListKindConflict"),
    ):
        value = wanted.get(field)
        asked = list(value or ()) if field == "shortNames" else [value]
        had = set(accepted.get(field) or ()) if field == "shortNames" else {accepted.get(field)}
        used = [f"{quote(str(each))} is already in use" for each in asked if each not in had and each in taken]
        if used:
            conflict = reason, used[0] if len(used) == 1 else f"[{', '.join(used)}]"
        elif value:
            names[field] = value
        else:
            names.pop(field, None)
    if wanted.get("categories"):
        names["categories"] = wanted["categories"]
    else:
        names.pop("categories", None)
    return names, conflict
