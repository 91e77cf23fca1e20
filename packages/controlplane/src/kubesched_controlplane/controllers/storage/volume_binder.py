"""Binding of volumes and claims, and provisioning of missing volumes.

    claim ──names a volume──▶ bind          volume ──names a claim──▶ bind
      │ no name: a volume that fits, unless its class waits for a consumer
      └─ no volume fits: provision, unless the class waits for a consumer and no node is selected yet
    claim deleted ──▶ volume released ──▶ retained or deleted, by its reclaim policy

From volumes and claims to bound volumes and claims.
"""

# upstream: pkg/controller/volume/persistentvolume/{pv_controller.go,index.go}, component-helpers/storage/volume (v1.36)

import msgspec

from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched.api.meta import LabelSelector
from kubesched.api.quantity import quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.storage.provisioning import (
    NO_PROVISIONER,
    PROVISIONED_BY,
    SELECTED_NODE,
    Provisioner,
)
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.volume.claims import BOUND, CLASS_ANNOTATION, STORAGE_CLASSES, default_class
from kubesched_controlplane.kinds.volume.classes import IMMEDIATE, WAIT_FOR_FIRST_CONSUMER
from kubesched_controlplane.storage.store import ADDED, DELETED, Change, Changed

VOLUMES = "persistentvolumes"
CLAIMS = "persistentvolumeclaims"
AVAILABLE, RELEASED, LOST, PENDING = "Available", "Released", "Lost", "Pending"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


class PersistentVolumeController(Controller):
    """Binds claims and volumes; keys of volumes have no namespace."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._provisioner = Provisioner(context)
        # by class: claims that wait for a volume of the class, or for the class
        self._waiting: dict[str, dict[Key, None]] = {}
        # volumes without a claim reference, by class and name; and names of volumes by the claim that they reference
        self._free: dict[str, dict[str, Document]] = {}
        self._promised: dict[Key, dict[str, None]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {VOLUMES: self._volume_changed, CLAIMS: self._claim_changed, STORAGE_CLASSES: self._class_changed}

    def _volume_changed(self, change: Change) -> None:
        volume, name = change.new.document(), change.new.name
        if change.old is not None:
            self._forget_volume(change.old.document())
        claim = _claim_key(volume)
        if claim is not None:
            self.workqueue.add(claim)
        if change.type == DELETED:
            return
        self.workqueue.add(("", name))
        if claim is not None:
            self._promised.setdefault(claim, {})[name] = None
        else:
            self._free.setdefault(class_of_volume(volume), {})[name] = volume
            for key in self._waiting.get(class_of_volume(volume), ()):
                self.workqueue.add(key)

    def _forget_volume(self, volume: Document) -> None:
        claim, name, class_name = _claim_key(volume), volume["metadata"]["name"], class_of_volume(volume)
        if claim is not None:
            self._promised.get(claim, {}).pop(name, None)
            if not self._promised.get(claim):
                self._promised.pop(claim, None)
        else:
            self._free.get(class_name, {}).pop(name, None)

    def _claim_changed(self, change: Change) -> None:
        claim = change.new.document()
        key = (change.new.namespace, change.new.name)
        if change.type != DELETED:
            self.workqueue.add(key)
        else:
            self._wait_no_more(key)
        if name := claim["spec"].get("volumeName"):
            self.workqueue.add(("", name))

    def _class_changed(self, change: Change) -> None:
        if change.type == ADDED:
            for key in (*self._waiting.get(change.new.name, ()), *self._waiting.get("", ())):
                self.workqueue.add(key)

    def reconcile(self, key: Key) -> None:
        """Reconcile a claim, or a volume if the key has no namespace."""
        if key[0]:
            claim = self.context.find(CLAIMS, *key)
            if claim is not None:
                self._see_to_claim(key, claim)
        else:
            volume = self.context.find(VOLUMES, *key)
            if volume is not None:
                self._see_to_volume(volume)

    # -- claims

    def _see_to_claim(self, key: Key, claim: Document) -> None:
        name = claim["spec"].get("volumeName")
        if BIND_COMPLETED in (claim["metadata"].get("annotations") or {}):
            self._see_to_bound(claim, name)
            return
        self._wait_no_more(key)
        if "deletionTimestamp" in claim["metadata"]:
            return
        if not name:
            self._find_volume(key, claim)
            return
        volume = self.context.find(VOLUMES, "", name)
        if volume is None:
            return
        if volume["spec"].get("claimRef"):
            fits = is_for(volume, claim)
        else:
            fits = not mismatch(volume, claim)
        if fits:
            self._bind(volume, claim)

    def _see_to_bound(self, claim: Document, name: str | None) -> None:
        """Complete the binding of a bound claim; a claim without its volume is lost."""
        volume = self.context.find(VOLUMES, "", name) if name else None
        reference = volume["spec"].get("claimRef") if volume is not None else None
        if volume is not None and (not reference or reference.get("uid") == claim["metadata"]["uid"]):
            self._bind(volume, claim)
        elif claim["status"].get("phase") != LOST:
            claim["status"] = {"phase": LOST}
            self.context.update(CLAIMS, claim, "status")

    def _find_volume(self, key: Key, claim: Document) -> None:
        """Bind a claim to an existing volume, or provision one."""
        class_name = class_of_claim(claim)
        storage_class = self.context.find(STORAGE_CLASSES, "", class_name) if class_name else None
        waits = (storage_class or {}).get("volumeBindingMode", IMMEDIATE) == WAIT_FOR_FIRST_CONSUMER
        volume = self._best_volume(claim, waits)
        if volume is not None:
            self._bind(volume, claim)
            return
        self._waiting.setdefault(class_name, {})[key] = None
        unsaid = claim["spec"].get("storageClassName") is None and not class_name
        if unsaid and (name := default_class(self.context.store)):
            claim["spec"]["storageClassName"] = name
            self.context.update(CLAIMS, claim)
            return
        node = (claim["metadata"].get("annotations") or {}).get(SELECTED_NODE)
        if storage_class is None or (waits and not node):
            return
        if storage_class.get("provisioner") != NO_PROVISIONER:
            delay = self._provisioner.provide(claim, storage_class)
            if delay is not None:
                self.workqueue.add_after(key, delay)

    def _best_volume(self, claim: Document, waits: bool) -> Document | None:
        """Return the volume that references a claim, or else the smallest available volume that fits the claim."""
        key = (claim["metadata"]["namespace"], claim["metadata"]["name"])
        for name in self._promised.get(key, ()):
            volume = self.context.find(VOLUMES, "", name)
            if volume is not None and is_for(volume, claim) and not mismatch(volume, claim):
                return volume
        if waits:
            return None
        fitting = [
            (quantity_of(volume["spec"]["capacity"]["storage"]), name)
            for name, volume in self._free.get(class_of_claim(claim), {}).items()
            if volume["status"].get("phase") == AVAILABLE and not mismatch(volume, claim) and _selected(volume, claim)
        ]
        return self.context.find(VOLUMES, "", min(fitting)[1]) if fitting else None

    def _bind(self, volume: Document, claim: Document) -> None:
        """Bind a volume and a claim to each other; skip the writes that were already made."""
        reference = volume["spec"].get("claimRef") or {}
        meta = claim["metadata"]
        if reference.get("uid") != meta["uid"]:
            volume["spec"]["claimRef"] = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": meta["namespace"],
                "name": meta["name"],
                "uid": meta["uid"],
                "resourceVersion": meta["resourceVersion"],
            }
            if not reference:
                part(volume["metadata"], "annotations")[BOUND_BY_CONTROLLER] = "yes"
            volume = self.context.update(VOLUMES, volume)
        if volume["status"].get("phase") != BOUND:
            volume["status"] = {"phase": BOUND}
            volume = self.context.update(VOLUMES, volume, "status")
        annotations = part(meta, "annotations")
        if claim["spec"].get("volumeName") != volume["metadata"]["name"] or BIND_COMPLETED not in annotations:
            if not claim["spec"].get("volumeName"):
                annotations[BOUND_BY_CONTROLLER] = "yes"
            annotations[BIND_COMPLETED] = "yes"
            claim["spec"]["volumeName"] = volume["metadata"]["name"]
            claim = self.context.update(CLAIMS, claim)
        status = claim["status"]
        if status.get("phase") != BOUND or not status.get("capacity"):
            spec = volume["spec"]
            given = {"phase": BOUND, "accessModes": spec["accessModes"], "capacity": spec["capacity"]}
            # later changes of the class are up to the volume's driver
            if status.get("phase") != BOUND and spec.get("volumeAttributesClassName"):
                given["currentVolumeAttributesClassName"] = spec["volumeAttributesClassName"]
            claim["status"] = {**status, **given}
            self.context.update(CLAIMS, claim, "status")

    def _wait_no_more(self, key: Key) -> None:
        for name in [name for name, keys in self._waiting.items() if key in keys]:
            del self._waiting[name][key]
            if not self._waiting[name]:
                del self._waiting[name]

    # -- volumes

    def _see_to_volume(self, volume: Document) -> None:
        """Bring the phase of a volume up to date; delete a released volume if its reclaim policy is Delete."""
        reference = volume["spec"].get("claimRef") or {}
        phase = volume["status"].get("phase")
        if not reference.get("uid"):
            self._set_phase(volume, AVAILABLE)
            return
        claim = self.context.find(CLAIMS, reference.get("namespace") or "", reference.get("name") or "")
        if claim is not None and claim["metadata"]["uid"] == reference["uid"]:
            name = claim["spec"].get("volumeName")
            if name == volume["metadata"]["name"]:
                self._set_phase(volume, BOUND)
                return
            if not name:
                self.workqueue.add((reference["namespace"], reference["name"]))
                return
            if PROVISIONED_BY not in (volume["metadata"].get("annotations") or {}):
                self._unbind(volume)
                return
        if phase != RELEASED:
            volume = self._set_phase(volume, RELEASED)
        if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            self._delete(volume)

    def _set_phase(self, volume: Document, phase: str) -> Document:
        if volume["status"].get("phase") == phase:
            return volume
        volume["status"] = {"phase": phase}
        return self.context.update(VOLUMES, volume, "status")

    def _unbind(self, volume: Document) -> None:
        """Remove the reference of a volume to a claim that is bound to another; a user's reference loses its UID."""
        annotations = volume["metadata"].get("annotations") or {}
        if annotations.pop(BOUND_BY_CONTROLLER, None):
            volume["spec"].pop("claimRef")
        else:
            volume["spec"]["claimRef"].pop("uid", None)
        self.context.update(VOLUMES, volume)

    def _delete(self, volume: Document) -> None:
        stored = self.context.get(VOLUMES, "", volume["metadata"]["name"])
        if stored is not None and "deletionTimestamp" not in volume["metadata"]:
            self.context.delete(VOLUMES, stored)


def _claim_key(volume: Document) -> Key | None:
    """Return the key of the claim that a volume references, None without one."""
    reference = volume["spec"].get("claimRef")
    return (reference.get("namespace") or "", reference.get("name") or "") if reference else None


def class_of_claim(claim: Document) -> str:
    """Return the storage class of a claim, an empty text for none."""
    annotations = claim["metadata"].get("annotations") or {}
    name: str = annotations.get(CLASS_ANNOTATION) or claim["spec"].get("storageClassName") or ""
    return name


def class_of_volume(volume: Document) -> str:
    """Return the storage class of a volume, an empty text for none."""
    annotations = volume["metadata"].get("annotations") or {}
    name: str = annotations.get(CLASS_ANNOTATION) or volume["spec"].get("storageClassName") or ""
    return name


def is_for(volume: Document, claim: Document) -> bool:
    """Return whether a volume references a claim."""
    reference, meta = volume["spec"].get("claimRef") or {}, claim["metadata"]
    if (reference.get("namespace"), reference.get("name")) != (meta["namespace"], meta["name"]):
        return False
    return reference.get("uid") in (None, "", meta["uid"])


def mismatch(volume: Document, claim: Document) -> str:
    """Return why a volume does not fit a claim, an empty text if it fits."""
    wanted, spec = claim["spec"], volume["spec"]
    if "deletionTimestamp" in volume["metadata"]:
        return "the volume is marked for deletion"
    size = ((wanted.get("resources") or {}).get("requests") or {}).get("storage", 0)
    if quantity_of((spec.get("capacity") or {}).get("storage", 0)) < quantity_of(size):
        return "requested PV is too small"
    if class_of_volume(volume) != class_of_claim(claim):
        return "storageClassName does not match"
    if (wanted.get("volumeAttributesClassName") or "") != (spec.get("volumeAttributesClassName") or ""):
        return "volumeAttributesClassName does not match"
    if (wanted.get("volumeMode") or "Filesystem") != (spec.get("volumeMode") or "Filesystem"):
        return "incompatible volumeMode"
    if not set(wanted.get("accessModes") or ()) <= set(spec.get("accessModes") or ()):
        return "incompatible accessMode"
    return ""


def _selected(volume: Document, claim: Document) -> bool:
    """Return whether a volume matches the claim's selector; a claim without a selector matches every volume."""
    selector = claim["spec"].get("selector")
    if selector is None:
        return True
    try:
        compiled = from_label_selector(msgspec.convert(selector, LabelSelector))
    except InvalidSelectorError:
        return False
    return compiled.matches(volume["metadata"].get("labels") or {})
