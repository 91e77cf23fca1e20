"""The base class of controllers whose objects own pods: adoption and release, creation and deletion, retries.

    owner ──selector──▶ orphan pods ──adopt──▶ own pods ──labels no longer match──▶ released

From events of owners and pods to keys on the workqueue.
"""

# upstream: pkg/controller/{controller_ref_manager,controller_utils}.go (v1.36)

from collections.abc import Callable
from typing import ClassVar, Final

import msgspec

from kubesched.api.labels import NOTHING, InvalidSelectorError, Selector, from_label_selector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.recorder import ControllerEventRecorder
from kubesched_controlplane.controllers.framework.retrying import Retries
from kubesched_controlplane.controllers.framework.views import metadata_of
from kubesched_controlplane.controllers.workloads.pods import PodsByOwner, PodView
from kubesched_controlplane.kinds.checks import as_selector
from kubesched_controlplane.storage.store import DELETED, Change, Changed

# the most pods that are created or deleted in one reconcile, so that other owners get their turn
BURST: Final = 25
_DELETION_TIMESTAMP = b'"deletionTimestamp"'


class _Known(msgspec.Struct):
    """The state of an owner: its selector, and the pods to adopt or to check."""

    uid: str
    generation: int
    deleting: bool
    selector: Selector
    # orphan pods that the owner may adopt
    candidates: dict[str, None]
    # own pods that may no longer match: the pod is new or has new labels, or the selector has changed
    unchecked: dict[str, None]


class PodOwners(Controller):
    """A controller of objects that own pods."""

    prefix: ClassVar[str]
    api_version: ClassVar[str]
    kind: ClassVar[str]
    component: ClassVar[str]
    # whether an owner is not queued by the controller's own write of its status
    knows_its_status: ClassVar[bool] = False
    # how long an owner is queued after a change of a pod, so that several changes are reconciled at once
    batch_seconds: ClassVar[float] = 0.0
    # whether terminal pods are adopted
    adopts_terminal: ClassVar[bool] = True

    def __init__(self, context: ControllerContext, pods: PodsByOwner) -> None:
        super().__init__(context)
        self.pods = pods
        self.recorder = ControllerEventRecorder(context, self.component)
        self._known: dict[str, dict[str, _Known]] = {}
        self.retries = Retries(self.workqueue)
        # the owner whose status is being written
        self._writing: Key | None = None
        pods.listen(self.kind, self)

    # -- events

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {self.prefix: self._owner_changed}

    def _owner_changed(self, change: Change) -> None:
        stored = change.new
        key = (stored.namespace, stored.name)
        owners = self._known.setdefault(stored.namespace, {})
        if change.type == DELETED:
            owners.pop(stored.name, None)
            if not owners:
                del self._known[stored.namespace]
            self.workqueue.forget(key)
            self.retries.forget(key)
            self.forget(key, stored.uid)
            return
        known = owners.get(stored.name)
        generation, deleting = metadata_of(stored).generation, _DELETION_TIMESTAMP in stored.body
        same = known is not None and (known.uid, known.generation, known.deleting) == (stored.uid, generation, deleting)
        if not same:
            selector = self.selector_of(stored.document())
            candidates = {pod.name: None for pod in self.pods.orphans(stored.namespace) if selector.matches(pod.labels)}
            if known is not None and known.uid == stored.uid and known.selector == selector:
                unchecked = known.unchecked
            else:
                unchecked = {pod.name: None for pod in self.pods.of(stored.uid)}
            owners[stored.name] = _Known(stored.uid, generation, deleting, selector, candidates, unchecked)
        if not (same and self.knows_its_status and self._writing == key):
            self.workqueue.add(key)

    def write_status(self, key: Key, owner: Document) -> None:
        """Write the status of an owner; if `knows_its_status`, the write does not queue the owner again."""
        self._writing = key
        try:
            self.context.update(self.prefix, owner, "status")
        finally:
            self._writing = None

    def pod_changed(self, before: PodView | None, after: PodView | None) -> None:
        """Queue the current and the former owner of a pod."""
        for pod in (before, after):
            if pod is not None and pod.owner is not None and pod.owner.kind == self.kind:
                known = self._known.get(pod.namespace, {}).get(pod.owner.name)
                if known is not None and known.uid == pod.owner.uid:
                    if pod is after and (before is None or before.labels != pod.labels or before.owner != pod.owner):
                        known.unchecked[pod.name] = None
                    self.workqueue.add_after((pod.namespace, pod.owner.name), self.batch_seconds)
                else:
                    self.lost(pod)

    def orphan_changed(self, pod: PodView) -> None:
        """Queue the owners that may adopt a pod."""
        for name, known in self._known.get(pod.namespace, {}).items():
            if known.selector.matches(pod.labels):
                known.candidates[pod.name] = None
                self.workqueue.add((pod.namespace, name))

    def forget(self, key: Key, uid: str) -> None:
        """Forget a deleted owner; subclasses drop their own state."""

    def lost(self, pod: PodView) -> None:
        """Handle a pod whose owner does not exist; subclasses override this."""

    def selector_of(self, owner: Document) -> Selector:
        """Return the pod selector of an owner; an invalid selector selects nothing."""
        try:
            return from_label_selector(as_selector(owner["spec"].get("selector")))
        except InvalidSelectorError:
            return NOTHING

    # -- adoption and release

    def claim(self, owner: Document) -> list[PodView]:
        """Adopt and release pods of an owner, and return the pods that it has then."""
        self.adopt_and_release(owner)
        return [pod for pod in self.pods.of(owner["metadata"]["uid"]) if self._fits(owner, pod)]

    def adopt_and_release(self, owner: Document) -> None:
        """Release pods that no longer match and adopt orphans that do; only changed pods are checked."""
        meta = owner["metadata"]
        if "deletionTimestamp" in meta:
            return
        known = self._known[meta["namespace"]][meta["name"]]
        for name in list(known.unchecked):
            pod = self.pods.get(meta["namespace"], name)
            if pod is not None and _is_own(owner, pod) and not pod.deleting and not self._fits(owner, pod):
                self._release(owner, pod)
            known.unchecked.pop(name, None)
        candidates, known.candidates = known.candidates, {}
        for name in candidates:
            candidate = self.pods.get(meta["namespace"], name)
            if candidate is None or candidate.owner is not None or candidate.deleting:
                continue
            if candidate.terminal and not self.adopts_terminal:
                continue
            if self._fits(owner, candidate):
                self._adopt(owner, candidate)

    def _fits(self, owner: Document, pod: PodView) -> bool:
        known = self._known[owner["metadata"]["namespace"]][owner["metadata"]["name"]]
        return known.selector.matches(pod.labels) and self.may_own(owner, pod)

    def may_own(self, owner: Document, pod: PodView) -> bool:
        """Return whether an owner may own a pod that it selects."""
        return True

    def adopted(self, meta: Document) -> None:
        """Change the metadata of an adopted pod, besides its owner reference; subclasses override this."""

    def _adopt(self, owner: Document, pod: PodView) -> None:
        def add(meta: Document) -> None:
            meta["ownerReferences"] = [*(meta.get("ownerReferences") or ()), self.reference(owner)]
            self.adopted(meta)

        self.change_pod(pod, add)

    def _release(self, owner: Document, pod: PodView) -> None:
        def drop(meta: Document) -> None:
            kept = [each for each in meta.get("ownerReferences") or () if each["uid"] != owner["metadata"]["uid"]]
            meta["ownerReferences"] = kept
            if not kept:
                del meta["ownerReferences"]

        self.change_pod(pod, drop)

    def change_pod(self, pod: PodView, change: Callable[[Document], None]) -> None:
        """Change the metadata of a pod, unless it was deleted or replaced by another of its name."""
        document = self.context.find(PODS, pod.namespace, pod.name)
        if document is not None and document["metadata"]["uid"] == pod.uid:
            change(document["metadata"])
            self.context.update(PODS, document)

    def reference(self, owner: Document) -> Document:
        """Return the controller reference to an owner."""
        return controller_reference(self.api_version, self.kind, owner)

    # -- creating and deleting pods

    def create_pod(self, owner: Document, pod: Document) -> bool:
        """Create a pod; return False if the namespace is terminating. Raises ApiError for other errors."""
        try:
            made = self.context.create(PODS, pod)
        except ApiError as error:
            if is_namespace_terminating(error):
                return False
            self.recorder.warning(owner, "FailedCreate", f"Error creating: {error.message}")
            raise
        self.recorder.normal(owner, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}")
        return True

    def delete_pod(self, owner: Document, pod: PodView) -> None:
        """Delete a pod if it still exists."""
        stored = self.context.get(PODS, pod.namespace, pod.name)
        if stored is not None and stored.uid == pod.uid:
            self.context.delete(PODS, stored)
            self.recorder.normal(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def pod_of(self, owner: Document, template: Document, generate_name: str = "") -> Document:
        """Return a pod for a template, with a controller reference to its owner."""
        return pod_for(owner, template, self.reference(owner), generate_name)


def _is_own(owner: Document, pod: PodView) -> bool:
    return pod.owner is not None and pod.owner.uid == owner["metadata"]["uid"]


def pod_for(owner: Document, template: Document, reference: Document, generate_name: str = "") -> Document:
    """Return a pod for a template, with a reference to its owner."""
    meta, described = owner["metadata"], template.get("metadata") or {}
    pod_meta: Document = {"namespace": meta["namespace"], "generateName": generate_name or f"{meta['name']}-"}
    for field in ("labels", "annotations"):
        if described.get(field):
            pod_meta[field] = dict(described[field])
    if described.get("finalizers"):
        pod_meta["finalizers"] = list(described["finalizers"])
    pod_meta["ownerReferences"] = [reference]
    return {"metadata": pod_meta, "spec": template["spec"]}


def controller_reference(api_version: str, kind: str, owner: Document) -> Document:
    """Return the controller reference to an object."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_namespace_terminating(error: ApiError) -> bool:
    """Return whether a request was refused because its namespace is terminating."""
    return any(cause.get("reason") == "NamespaceTerminating" for cause in (error.details or {}).get("causes") or ())


def counts(**numbers: int) -> Document:
    """Return counts of a status, without zeros."""
    return {name: number for name, number in numbers.items() if number}
