"""ControllerRevisions: the templates of stateful sets and daemon sets, kept for rollbacks.

From an owner and its template to the revision of that template, created if it is missing. The data of a revision is a
patch that restores the template when a client applies it.
"""

# upstream: pkg/controller/history/controller_history.go, pkg/controller/daemon/update.go (constructHistory),
# pkg/controller/statefulset/stateful_set_control.go (getStatefulSetRevisions) (v1.36)

import re
from collections.abc import Collection
from typing import Any, Final

from kubesched.api.labels import Selector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import Controller
from kubesched_controlplane.controllers.framework.views import controller_of, metadata_of
from kubesched_controlplane.controllers.workloads.hashing import short_hash
from kubesched_controlplane.storage.store import DELETED, Change, Changed

REVISIONS = "controllerrevisions.apps"
_LONGEST_PREFIX: Final = 223
_LIKE_A_HASH: Final = re.compile("[a-z0-9]{1,20}")


class Revisions(Controller):
    """The ControllerRevisions by owner."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # names by the UID of their owner; names of orphans by namespace
        self._owned: dict[str, dict[str, None]] = {}
        self._orphans: dict[str, dict[str, None]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {REVISIONS: self._changed}

    def _changed(self, change: Change) -> None:
        stored = change.new
        for each in (change.old, stored):
            owner = None if each is None else controller_of(metadata_of(each).owner_references)
            if owner is not None:
                _take(self._owned, owner.uid, stored.name)
        _take(self._orphans, stored.namespace, stored.name)
        if change.type == DELETED:
            return
        owner = controller_of(metadata_of(stored).owner_references)
        holders, key = (self._orphans, stored.namespace) if owner is None else (self._owned, owner.uid)
        holders.setdefault(key, {})[stored.name] = None

    def of(self, owner: Document, selector: Selector, reference: Document) -> list[Document]:
        """Return the revisions of an owner, the oldest first; matching orphans are adopted."""
        meta = owner["metadata"]
        namespace = meta["namespace"]
        found = [
            revision
            for name in self._owned.get(meta["uid"], ())
            if (revision := self.context.find(REVISIONS, namespace, name)) is not None
        ]
        for name in list(self._orphans.get(namespace, ())) if "deletionTimestamp" not in meta else ():
            stored = self.context.get(REVISIONS, namespace, name)
            if stored is not None and selector.matches(stored.labels):
                revision = stored.document()
                owners = revision["metadata"].get("ownerReferences") or ()
                revision["metadata"]["ownerReferences"] = [*owners, reference]
                found.append(self.context.update(REVISIONS, revision))
        return sorted(found, key=lambda each: (each["revision"], *_age(each)))

    def current(
        self, owner: Document, revisions: list[Document], reference: Document, label: str, known_as: str = ""
    ) -> Document:
        """Return the revision of an owner's template, created or made the newest of the owner's `revisions`.

        `known_as` is the hash of the template in an imported owner without revisions, or an empty text.
        """
        data = revision_data(owner)
        newest = revisions[-1]["revision"] if revisions else 0
        equal = [each for each in revisions if each.get("data") == data]
        if not equal:
            known_as = "" if revisions or not _LIKE_A_HASH.fullmatch(known_as) else known_as
            made = self._create(owner, newest + 1, reference, label, known_as)
            revisions.append(made)
            return made
        found = equal[-1]
        if found["revision"] < newest:
            found["revision"] = newest + 1
            number = revisions.index(found)
            found = self.context.update(REVISIONS, found)
            del revisions[number]
            revisions.append(found)
        return found

    def _create(self, owner: Document, number: int, reference: Document, label: str, known_as: str) -> Document:
        meta = owner["metadata"]
        while True:
            revision = revision_of(owner, number, reference, label, known_as)
            try:
                return self.context.create(REVISIONS, revision)
            except ApiError as error:
                found = self.context.find(REVISIONS, meta["namespace"], revision["metadata"]["name"])
                if error.reason != "AlreadyExists" or found is None:
                    raise
                if found.get("data") == revision["data"] and _controller_uid(found) == meta["uid"]:
                    return found
                known_as = ""
                status = owner.setdefault("status", {})
                status["collisionCount"] = (status.get("collisionCount") or 0) + 1

    def truncate(self, old: list[Document], live: Collection[str], limit: int) -> None:
        """Delete the oldest unused revisions beyond the history limit."""
        kept = [each for each in old if each["metadata"]["name"] not in live]
        for revision in kept[: max(0, len(kept) - limit)]:
            meta = revision["metadata"]
            stored = self.context.get(REVISIONS, meta["namespace"], meta["name"])
            if stored is not None:
                self.context.delete(REVISIONS, stored)


def revision_data(owner: Document) -> Document:
    """Return the patch that restores an owner's template."""
    return {"spec": {"template": {"$patch": "replace", **owner["spec"]["template"]}}}


def revision_of(owner: Document, number: int, reference: Document, label: str, known_as: str = "") -> Document:
    """Return the revision of an owner's template, named by `known_as` or by the hash of the template."""
    meta, data = owner["metadata"], _in_order(revision_data(owner))
    described = owner["spec"]["template"].get("metadata") or {}
    collisions = (owner.get("status") or {}).get("collisionCount") or 0
    # the label is hashed too, so that a stateful set and a daemon set of one name do not share a revision
    name_hash = known_as or short_hash([label, data], collisions)
    return {
        "metadata": {
            "name": f"{meta['name'][:_LONGEST_PREFIX]}-{name_hash}",
            "namespace": meta["namespace"],
            "labels": {**(described.get("labels") or {}), label: name_hash},
            "annotations": dict(meta.get("annotations") or {}),
            "ownerReferences": [reference],
        },
        "data": data,
        "revision": number,
    }


def _take(holders: dict[str, dict[str, None]], key: str, name: str) -> None:
    """Remove a name from the names of a key, and the key with its last name."""
    names = holders.get(key)
    if names is not None:
        names.pop(name, None)
        if not names:
            del holders[key]


def template_of(revision: Document, owner: Document) -> Document:
    """Return the template of a revision, or the owner's template if the revision has no valid one."""
    kept: Any = revision
    for field in ("data", "spec", "template"):
        kept = kept.get(field) if isinstance(kept, dict) else None
    if not isinstance(kept, dict) or not all(isinstance(kept.get(field), dict) for field in ("metadata", "spec")):
        template: Document = owner["spec"]["template"]
        return template
    return {field: value for field, value in kept.items() if field != "$patch"}


def is_observed(owner: Document) -> bool:
    """Return whether the status of an owner is of its current generation."""
    observed = (owner.get("status") or {}).get("observedGeneration") or 0
    return bool(observed >= (owner["metadata"].get("generation") or 0))


def _controller_uid(revision: Document) -> str | None:
    references = revision["metadata"].get("ownerReferences") or ()
    return next((each["uid"] for each in references if each.get("controller")), None)


def _age(revision: Document) -> tuple[str, str]:
    return revision["metadata"]["creationTimestamp"], revision["metadata"]["name"]


def _in_order(value: Any) -> Any:
    """Return a value with the fields of its objects sorted, as Go encodes maps."""
    if isinstance(value, dict):
        return {field: _in_order(value[field]) for field in sorted(value)}
    return [_in_order(each) for each in value] if isinstance(value, list) else value
