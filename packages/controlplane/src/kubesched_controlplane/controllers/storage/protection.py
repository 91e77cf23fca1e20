"""Finalizers that protect storage in use from deletion; and claims for ephemeral volumes.

From pods, claims and volumes to terminating claims, volumes and classes without their protection finalizer.
"""

# upstream: pkg/controller/volume/{pvcprotection,pvprotection,vacprotection,ephemeral} (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.storage.volume_binder import CLAIMS, VOLUMES
from kubesched_controlplane.kinds.pod.phases import TERMINAL
from kubesched_controlplane.kinds.volume.claims import BOUND, CLAIM_PROTECTION
from kubesched_controlplane.kinds.volume.volumes import VOLUME_PROTECTION
from kubesched_controlplane.storage.store import DELETED, Change, Changed

ATTRIBUTES_CLASSES = "volumeattributesclasses.storage.k8s.io"
_CLASS_PROTECTION = "kubernetes.io/vac-protection"
_DELETION_TIMESTAMP = b'"deletionTimestamp"'


class StorageProtectionController(Controller):
    """Removes the finalizers of terminating claims, volumes and VolumeAttributesClasses that are not in use."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        # the pods that use a claim
        self._users: dict[Key, set[str]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {
            PODS: self._pod_changed,
            CLAIMS: self._claim_changed,
            VOLUMES: self._volume_changed,
            ATTRIBUTES_CLASSES: self._class_changed,
        }

    def _pod_changed(self, change: Change) -> None:
        pod = change.new
        if b'"persistentVolumeClaim"' not in pod.body and b'"ephemeral"' not in pod.body:
            return
        # a pod without a node does not run, and would not be started with a claim that is being deleted
        terminal = (
            change.type == DELETED or pod.fields.get("status.phase") in TERMINAL or not pod.fields.get("spec.nodeName")
        )
        for name in claims_of(pod.document()):
            users = self._users.setdefault((pod.namespace, name), set())
            if not terminal:
                users.add(pod.name)
                continue
            users.discard(pod.name)
            if not users:
                del self._users[pod.namespace, name]
                self.workqueue.add((pod.namespace, name))

    def _claim_changed(self, change: Change) -> None:
        if change.type != DELETED and _DELETION_TIMESTAMP in change.new.body:
            self._add(change)
        self._add_classes()

    def _volume_changed(self, change: Change) -> None:
        if change.type != DELETED and _DELETION_TIMESTAMP in change.new.body:
            self.workqueue.add(("", change.new.name))
        self._add_classes()

    def _class_changed(self, change: Change) -> None:
        self._add_classes()

    def _add_classes(self) -> None:
        """Queue the terminating VolumeAttributesClasses."""
        for stored in self.context.store.set_of(ATTRIBUTES_CLASSES):
            if _DELETION_TIMESTAMP in stored.body:
                self.workqueue.add(("", f"{ATTRIBUTES_CLASSES}/{stored.name}"))

    def reconcile(self, key: Key) -> None:
        """Remove the finalizer of a terminating claim, volume or class that is not in use."""
        namespace, name = key
        if namespace:
            claim = self.context.find(CLAIMS, namespace, name)
            if claim is not None and key not in self._users:
                self._release(CLAIMS, claim, CLAIM_PROTECTION)
        elif name.startswith(f"{ATTRIBUTES_CLASSES}/"):
            self._see_to_class(name.partition("/")[2])
        else:
            volume = self.context.find(VOLUMES, "", name)
            if volume is not None and volume["status"].get("phase") != BOUND:
                self._release(VOLUMES, volume, VOLUME_PROTECTION)

    def _see_to_class(self, name: str) -> None:
        document = self.context.find(ATTRIBUTES_CLASSES, "", name)
        field = f'"volumeAttributesClassName":"{name}"'.encode()
        current = f'"currentVolumeAttributesClassName":"{name}"'.encode()
        used = any(
            field in stored.body or current in stored.body
            for prefix in (CLAIMS, VOLUMES)
            for stored in self.context.store.set_of(prefix)
        )
        if document is not None and not used:
            self._release(ATTRIBUTES_CLASSES, document, _CLASS_PROTECTION)

    def _release(self, prefix: str, document: Document, finalizer: str) -> None:
        finalizers = document["metadata"].get("finalizers") or []
        if "deletionTimestamp" in document["metadata"] and finalizer in finalizers:
            document["metadata"]["finalizers"] = [each for each in finalizers if each != finalizer]
            self.context.update(prefix, document)


class EphemeralVolumeController(Controller):
    """Creates the claims of pods' ephemeral volumes."""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {PODS: self._pod_changed}

    def _pod_changed(self, change: Change) -> None:
        if change.type != DELETED and b'"volumeClaimTemplate"' in change.new.body:
            self._add(change)

    def reconcile(self, key: Key) -> None:
        """Create the missing claims of a pod's ephemeral volumes."""
        pod = self.context.find(PODS, *key)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        meta = pod["metadata"]
        for volume in pod["spec"].get("volumes") or ():
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
            name = f"{meta['name']}-{volume['name']}"
            if template is None or self.context.get(CLAIMS, key[0], name) is not None:
                continue
            described = template.get("metadata") or {}
            owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
            made: Document = {
                "name": name,
                "namespace": key[0],
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            }
            for field in ("labels", "annotations"):
                if described.get(field):
                    made[field] = described[field]
            self.context.create(CLAIMS, {"metadata": made, "spec": template["spec"]})


def claims_of(pod: Document) -> list[str]:
    """Return the names of the volume claims that a pod uses."""
    names = []
    for volume in pod["spec"].get("volumes") or ():
        if volume.get("persistentVolumeClaim"):
            names.append(volume["persistentVolumeClaim"].get("claimName") or "")
        elif volume.get("ephemeral"):
            names.append(f"{pod['metadata']['name']}-{volume['name']}")
    return names
