"""The base of controllers that own pods: adoption and release, creation and deletion, retries.

    owner ──selector──▶ orphan pods ──adopt──▶ own pods ──labels no longer match──▶ released

From changes of owners and pods to keys on the workqueue.
"""

# upstream: pkg/controller/{controller_ref_manager,controller_utils}.go (v1.36)

from collections.abc import Callable
from typing import ClassVar, Final

import msgspec

from kubesched.api.labels import NOTHING, InvalidSelectorError, Selector, from_label_selector
from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.prefixes import PODS
from kubesched.controlplane.api.statuses import ApiError
from kubesched.controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched.controlplane.controllers.framework.recorder import ControllerEventRecorder
from kubesched.controlplane.controllers.framework.retrying import Retries
from kubesched.controlplane.controllers.framework.views import metadata_of
from kubesched.controlplane.controllers.workloads.pods import PodsByOwner, PodView
from kubesched.controlplane.kinds.checks import as_selector
from kubesched.controlplane.storage.store import DELETED, Change, Changed

# so many pods are made or deleted in one go, so that others get their turn
BURST: Final = 25
_DELETION_TIMESTAMP = b'"deletionTimestamp"'


class _Known(msgspec.Struct):
    """What is remembered of an owner."""

    uid: str
    generation: int
    deleting: bool
    selector: Selector
    # orphan pods that it may adopt
    candidates: dict[str, None]
    # pods of its own that may not fit: they are new, or have new labels, or it has a new selector
    unchecked: dict[str, None]


class PodOwners(Controller):
    """A controller of objects that own pods."""

    prefix: ClassVar[str]
    api_version: ClassVar[str]
    kind: ClassVar[str]
    component: ClassVar[str]
    # a status that the controller itself has written is no reason to look
    knows_its_status: ClassVar[bool] = False
    # changes of pods wait for others, so that many are seen to at once
    batch_seconds: ClassVar[float] = 0.0
    # pods that are over may be adopted, too
    adopts_terminal: ClassVar[bool] = True

    def __init__(self, context: ControllerContext, pods: PodsByOwner) -> None:
        super().__init__(context)
        self.pods = pods
        self.recorder = ControllerEventRecorder(context, self.component)
        self._known: dict[str, dict[str, _Known]] = {}
        self.retries = Retries(self.workqueue)
        # whose status is being written
        self._writing: Key | None = None
        pods.listen(self.kind, self)

    # -- what changes

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
        """Write the status of an owner; the change does not queue the owner again."""
        self._writing = key
        try:
            self.context.update(self.prefix, owner, "status")
        finally:
            self._writing = None

    def pod_changed(self, before: PodView | None, after: PodView | None) -> None:
        """Queue the owners of a pod, the former one as well."""
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
        """Forget what is remembered about an owner that is gone."""

    def lost(self, pod: PodView) -> None:
        """See to a pod whose owner is not there."""

    def selector_of(self, owner: Document) -> Selector:
        """Return which pods an owner selects; none if its selector makes no sense."""
        try:
            return from_label_selector(as_selector(owner["spec"].get("selector")))
        except InvalidSelectorError:
            return NOTHING

    # -- whose pods are whose

    def claim(self, owner: Document) -> list[PodView]:
        """Return the pods of an owner, after it was sorted out which they are."""
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
        """Return whether a pod that is selected can be an owner's."""
        return True

    def adopted(self, meta: Document) -> None:
        """Add to a pod's metadata what the owner's pods have besides their owner."""

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
        """Change the metadata of just this pod."""
        document = self.context.find(PODS, pod.namespace, pod.name)
        if document is not None and document["metadata"]["uid"] == pod.uid:
            change(document["metadata"])
            self.context.update(PODS, document)

    def reference(self, owner: Document) -> Document:
        """Return how a pod names its owner."""
        return controller_reference(self.api_version, self.kind, owner)

    # -- making and deleting pods

    def create_pod(self, owner: Document, pod: Document) -> bool:
        """Create a pod; return whether it was created: a terminating namespace refuses it. Raises ApiError."""
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
        """Delete a pod; that it is gone already is no error."""
        stored = self.context.get(PODS, pod.namespace, pod.name)
        if stored is not None and stored.uid == pod.uid:
            self.context.delete(PODS, stored)
            self.recorder.normal(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def pod_of(self, owner: Document, template: Document, generate_name: str = "") -> Document:
        """Return a pod made from a template, with its owner."""
        meta, described = owner["metadata"], template.get("metadata") or {}
        pod_meta: Document = {"namespace": meta["namespace"], "generateName": generate_name or f"{meta['name']}-"}
        for field in ("labels", "annotations"):
            if described.get(field):
                pod_meta[field] = dict(described[field])
        if described.get("finalizers"):
            pod_meta["finalizers"] = list(described["finalizers"])
        pod_meta["ownerReferences"] = [self.reference(owner)]
        return {"metadata": pod_meta, "spec": template["spec"]}


def _is_own(owner: Document, pod: PodView) -> bool:
    return pod.owner is not None and pod.owner.uid == owner["metadata"]["uid"]


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
    """Return numbers of a status as they are written: without zeros."""
    return {name: number for name, number in numbers.items() if number}
