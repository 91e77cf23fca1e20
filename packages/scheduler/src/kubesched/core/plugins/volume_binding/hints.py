"""Queueing hints for a pod that VolumeBinding rejected.

From events about volumes, claims, classes, drivers and nodes to hints.
"""

# upstream: volumebinding/volume_binding.go, EventsToRegister and the hint functions (v1.36)

from collections.abc import Sequence

from kubesched.api.quantity import value_of
from kubesched.api.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import MIGRATED_PLUGINS_ANNOTATION
from kubesched.core.cluster.storage.storage_pools import volume_limit
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.plugins.volume_binding.claims import claim_names
from kubesched.core.plugins.volume_claim_events import CLAIMS_OF_VOLUMES


def registrations() -> Sequence[Registration]:
    """Return the events to register for."""
    changed = Action.ADD | Action.UPDATE
    return (
        Registration(ClusterEvent(Resource.STORAGE_CLASS, changed), after_storage_class_change),
        Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, changed), after_claim_change, CLAIMS_OF_VOLUMES),
        Registration(ClusterEvent(Resource.PERSISTENT_VOLUME, changed)),
        Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
        Registration(ClusterEvent(Resource.CSI_NODE, changed), after_csi_node_change),
        Registration(ClusterEvent(Resource.CSI_DRIVER, Action.UPDATE), after_csi_driver_change),
        Registration(ClusterEvent(Resource.CSI_STORAGE_CAPACITY, changed), after_storage_capacity_change),
    )


def after_storage_class_change(pod: PodInfo, old: StorageClass | None, new: StorageClass) -> Hint:
    """Return Queue for a new class, and for one with other allowedTopologies."""
    return Hint.when(old is None or old.allowed_topologies != new.allowed_topologies)


def after_claim_change(pod: PodInfo, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    """Return Queue for a claim of the pod."""
    return Hint.when(pod.namespace == new.namespace and any(name == new.name for name, _ in claim_names(pod)))


def after_csi_node_change(pod: PodInfo, old: CSINode | None, new: CSINode) -> Hint:
    """Return Queue for a new CSINode, and for one whose migrated plugins changed."""
    return Hint.when(old is None or _migrated(old) != _migrated(new))


def after_csi_driver_change(pod: PodInfo, old: CSIDriver, new: CSIDriver) -> Hint:
    """Return Queue for the driver of an inline volume of the pod that does not report storage capacity any more."""
    concerned = any(volume.csi is not None and volume.csi.driver == new.name for volume in pod.spec.volumes)
    return Hint.when(concerned and bool(old.spec.storage_capacity) and not new.spec.storage_capacity)


def after_storage_capacity_change(pod: PodInfo, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> Hint:
    """Return Queue for a new CSIStorageCapacity, and for a change that allows larger volumes."""
    if old is None:
        return Hint.QUEUE
    before, after = volume_limit(old), volume_limit(new)
    return Hint.when(after is not None and (before is None or value_of(after) > value_of(before)))


def _migrated(csi_node: CSINode) -> str:
    return csi_node.metadata.annotations.get(MIGRATED_PLUGINS_ANNOTATION, "")
