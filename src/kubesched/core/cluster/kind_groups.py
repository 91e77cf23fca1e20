"""Which epoch of the change log a kind of objects belongs to: built-in kinds share a few, any other has its own.

From the name of a kind to a group that a plugin's `reads` can name. Numbers are handed out as kinds are first named.
"""

from typing import Final

from kubesched.core.cluster.changes import FIRST_OF_KINDS, LAST_OF_KINDS, Group

EPOCH_OF_KIND: Final = {
    "Namespace": Group.NAMESPACES,
    "Service": Group.OWNERS,
    "ReplicationController": Group.OWNERS,
    "ReplicaSet": Group.OWNERS,
    "StatefulSet": Group.OWNERS,
    "PersistentVolume": Group.STORAGE,
    "PersistentVolumeClaim": Group.STORAGE,
    "StorageClass": Group.STORAGE,
    "CSINode": Group.STORAGE,
    "CSIDriver": Group.STORAGE,
    "CSIStorageCapacity": Group.STORAGE,
    "VolumeAttachment": Group.STORAGE,
    "VolumeAttributesClass": Group.STORAGE,
    "ResourceClaim": Group.CLAIMS,
    "ResourceClaimTemplate": Group.CLAIMS,
    "ResourceSlice": Group.CLAIMS,
    "DeviceClass": Group.CLAIMS,
    "DeviceTaintRule": Group.CLAIMS,
}
_OTHERS: dict[str, int] = {}


def kind_group(kind: str) -> int:
    """Return the group of a kind: `PersistentVolume`, or one of your own as `racks.v1.example.com`."""
    if kind in ("Node", "Pod"):
        raise ValueError(f"{kind}s are in the table; name what is read of them, such as Group.LABELS or Group.PODS")
    group = EPOCH_OF_KIND.get(kind) or _OTHERS.get(kind)
    if group is None:
        # past the last number kinds share it: what one of them says is then asked anew for the others, too
        group = _OTHERS[kind] = min(FIRST_OF_KINDS << len(_OTHERS), LAST_OF_KINDS)
    return group
