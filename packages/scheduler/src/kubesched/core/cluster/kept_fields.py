"""The fields of objects that kept answers of in-tree plugins depend on, by kind.

From two versions of an object to whether they differ in such a field. If they do not, the new version is a report.
Answers that a plugin computes in each cycle may depend on any field, and so may kept answers of out-of-tree plugins,
which name the kind (`kind_reads`).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubesched.api.meta import ApiObject
from kubesched.api.policy import PodDisruptionBudget
from kubesched.api.storage import (
    BETA_STORAGE_CLASS_ANNOTATION,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from kubesched.core.cluster.storage.csi_translation import migrated_plugins


def is_report(kind: str, old: ApiObject, new: ApiObject) -> bool:
    """Return whether a new version of an object differs from the old one in no field that a kept answer depends on."""
    fields = _FIELDS.get(kind)
    return fields is not None and bool(fields(old) == fields(new))


def _of_budget(budget: PodDisruptionBudget) -> object:
    return budget.spec, budget.status.disruptions_allowed, budget.status.disrupted_pods.keys()


def _of_volume(volume: PersistentVolume) -> object:
    return volume.spec, volume.metadata.labels


def _of_claim(claim: PersistentVolumeClaim) -> object:
    meta = claim.metadata
    return claim.spec, meta.annotations.get(BETA_STORAGE_CLASS_ANNOTATION), meta.controller


def _of_storage_class(storage_class: StorageClass) -> object:
    return storage_class.provisioner


def _of_csi_node(csi_node: CSINode) -> object:
    return csi_node.spec, migrated_plugins(csi_node)


def _labels(obj: ApiObject) -> object:
    return obj.metadata.labels


def _selector(obj: Any) -> object:
    return obj.spec.selector


def _spec(obj: Any) -> object:
    return obj.spec


_FIELDS: Final[Mapping[str, Callable[[Any], object]]] = {
    "Namespace": _labels,
    "Service": _selector,
    "ReplicationController": _selector,
    "ReplicaSet": _selector,
    "StatefulSet": _selector,
    "PodDisruptionBudget": _of_budget,
    "PersistentVolume": _of_volume,
    "PersistentVolumeClaim": _of_claim,
    "StorageClass": _of_storage_class,
    "CSINode": _of_csi_node,
    "VolumeAttachment": _spec,
    "ResourceSlice": _spec,
    "DeviceClass": _spec,
    "DeviceTaintRule": _spec,
}
