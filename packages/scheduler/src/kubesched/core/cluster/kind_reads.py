"""The epoch of the change log for a kind of objects: built-in kinds share a few, any other kind has its own.

From the name of a kind to a group that a plugin's `reads` can name. Groups are assigned on demand.
"""

from typing import Final

from kubesched.core.cluster.changes import FIRST_OF_KINDS, LAST_OF_KINDS, Reads

EPOCH_OF_KIND: Final = {
    "Namespace": Reads.NAMESPACES,
    "Service": Reads.OWNERS,
    "ReplicationController": Reads.OWNERS,
    "ReplicaSet": Reads.OWNERS,
    "StatefulSet": Reads.OWNERS,
    "PersistentVolume": Reads.STORAGE,
    "PersistentVolumeClaim": Reads.STORAGE,
    "StorageClass": Reads.STORAGE,
    "CSINode": Reads.STORAGE,
    "CSIDriver": Reads.STORAGE,
    "CSIStorageCapacity": Reads.STORAGE,
    "VolumeAttachment": Reads.STORAGE,
    "VolumeAttributesClass": Reads.STORAGE,
    "ResourceClaim": Reads.CLAIMS,
    "ResourceClaimTemplate": Reads.CLAIMS,
    "ResourceSlice": Reads.CLAIMS,
    "DeviceClass": Reads.CLAIMS,
    "DeviceTaintRule": Reads.CLAIMS,
}
# the group that is logged if a field changes on which kept answers of in-tree plugins depend, see `kept_fields`
EPOCH_OF_FIELDS: Final = {"Namespace": Reads.NAMESPACE_LABELS}
_OTHERS: dict[str, int] = {}


def kind_reads(kind: str) -> int:
    """Return the group of a kind: `PersistentVolume`, or one of your own as `racks.v1.example.com`."""
    if kind in ("Node", "Pod"):
        raise ValueError(f"{kind}s are in the table; name what is read of them, such as Reads.LABELS or Reads.PODS")
    group = EPOCH_OF_KIND.get(kind) or _OTHERS.get(kind)
    if group is None:
        # after the last number kinds share it: a change of one of them invalidates answers that read another
        group = _OTHERS[kind] = min(FIRST_OF_KINDS << len(_OTHERS), LAST_OF_KINDS)
    return group
