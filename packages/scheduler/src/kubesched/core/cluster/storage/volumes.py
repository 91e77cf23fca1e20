"""Persistent volumes and claims, as reported or as assumed.

From reported objects, and from objects that a scheduling cycle assumes until the API server confirms them, to look-ups
by name, the volumes of each storage class, and the storage pools of each class. An assumed object is based on a
version of the reported one and lasts until another version is reported, or it is restored. Only `ClusterState` changes
anything here; assuming is not logged, since no cached column may depend on it.
"""

# upstream: volumebinding/passive_assume_cache.go, assume_cache.go (v1.36)

from typing import Any, TypeVar

from kubesched.api.meta import ObjectMeta
from kubesched.api.storage import (
    BETA_STORAGE_CLASS_ANNOTATION,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
)
from kubesched.core.cluster.objects import Objects, full_name
from kubesched.core.cluster.storage.free_volumes import FreeVolumes, is_free
from kubesched.core.cluster.storage.storage_pools import StoragePools
from kubesched.core.cluster.table import NodeTable
from kubesched.errors import KubeschedError

VolumeOrClaim = PersistentVolume | PersistentVolumeClaim
StorageObject = VolumeOrClaim | CSIStorageCapacity
S = TypeVar("S", PersistentVolume, PersistentVolumeClaim)


class OutOfSyncError(KubeschedError):
    """An object to assume is deleted, or based on another version than the known one."""


def class_of_volume(volume: PersistentVolume) -> str:
    """Return the name of a volume's storage class, or the empty text."""
    return volume.metadata.annotations.get(BETA_STORAGE_CLASS_ANNOTATION, volume.spec.storage_class_name)


class ClassVolumes:
    """The volumes of one storage class: free volumes, and volumes that refer to a claim."""

    def __init__(self, table: NodeTable) -> None:
        self.free = FreeVolumes(table)
        # the claim's namespace and name -> the volume's name -> the volume
        self._claimed: dict[str, dict[str, PersistentVolume]] = {}

    def show(self, volume: PersistentVolume) -> None:
        """Add a volume."""
        claim = volume.spec.claim_ref
        if claim is not None:
            self._claimed.setdefault(full_name(claim.namespace, claim.name), {})[volume.name] = volume
        elif is_free(volume):
            self.free.add(volume)

    def hide(self, volume: PersistentVolume) -> None:
        """Remove a volume."""
        claim = volume.spec.claim_ref
        if claim is not None:
            key = full_name(claim.namespace, claim.name)
            volumes = self._claimed[key]
            del volumes[volume.name]
            if not volumes:
                del self._claimed[key]
        else:
            self.free.discard(volume.name)

    def referring_to(self, claim: PersistentVolumeClaim) -> list[PersistentVolume]:
        """Return the volumes that refer to a claim, bound or not, by name."""
        volumes = self._claimed.get(claim.full_name, {})
        return [volume for _, volume in sorted(volumes.items()) if is_bound_to(volume, claim)]

    def content(self) -> dict[str, Any]:
        """Return the contents, for comparison."""
        return {"free": sorted(volume.name for volume in self.free), "claimed": self._claimed}

    @property
    def empty(self) -> bool:
        """Return whether there are no volumes."""
        return not len(self.free) and not self._claimed


# upstream: component-helpers/storage/volume/pv_helpers.go, IsVolumeBoundToClaim (v1.36)
def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Return whether a volume refers to a claim; a reference without a UID is to any claim of that name."""
    reference = volume.spec.claim_ref
    return (
        reference is not None
        and (reference.name, reference.namespace) == (claim.name, claim.namespace)
        and reference.uid in ("", claim.uid)
    )


class Volumes:
    """All volumes, claims and storage pools."""

    def __init__(self, objects: Objects, table: NodeTable) -> None:
        self._objects = objects
        self._table = table
        self._assumed_volumes: dict[str, PersistentVolume] = {}
        self._assumed_claims: dict[str, PersistentVolumeClaim] = {}
        self._classes: dict[str, ClassVolumes] = {}
        self._pools: dict[str, StoragePools] = {}

    # -- reading

    def volume(self, name: str) -> PersistentVolume | None:
        """Return a volume as assumed, or else as reported."""
        return self._assumed_volumes.get(name) or self._objects.get(PersistentVolume, name)

    def claim(self, name: str) -> PersistentVolumeClaim | None:
        """Return the claim `namespace/name` as assumed, or else as reported."""
        return self._assumed_claims.get(name) or self._objects.get(PersistentVolumeClaim, name)

    def of_class(self, class_name: str) -> ClassVolumes:
        """Return the volumes of a storage class."""
        return self._classes.get(class_name) or ClassVolumes(self._table)

    def pools(self, class_name: str) -> StoragePools:
        """Return the storage pools of a storage class."""
        return self._pools.get(class_name) or StoragePools(self._table)

    def assumed(self) -> tuple[list[PersistentVolume], list[PersistentVolumeClaim]]:
        """Return the assumed volumes and claims."""
        return list(self._assumed_volumes.values()), list(self._assumed_claims.values())

    def content(self) -> dict[str, Any]:
        """Return all derived and assumed contents, for comparison."""
        return {
            "assumed volumes": dict(self._assumed_volumes),
            "assumed claims": dict(self._assumed_claims),
            "classes": {name: volumes.content() for name, volumes in self._classes.items() if not volumes.empty},
            "pools": {name: sorted(p.full_name for p in pools) for name, pools in self._pools.items() if len(pools)},
        }

    # -- reported objects

    def report(self, obj: StorageObject) -> None:
        """Add an object, or replace the one under its name; a new version drops the assumed one."""
        if isinstance(obj, CSIStorageCapacity):
            self._drop_pool(obj.full_name)
            if obj.storage_class_name not in self._pools:
                self._pools[obj.storage_class_name] = StoragePools(self._table)
            self._pools[obj.storage_class_name].add(obj)
        elif isinstance(obj, PersistentVolume):
            self._hide(obj.name)
            _expire(self._assumed_volumes, obj.name, obj.metadata)
        else:
            _expire(self._assumed_claims, obj.full_name, obj.metadata)
        self._objects.put(type(obj).__name__, obj)
        if isinstance(obj, PersistentVolume):
            self._show(obj.name)

    def forget(self, obj: StorageObject) -> None:
        """Remove an object, and the assumed one."""
        name = obj.full_name
        if isinstance(obj, CSIStorageCapacity):
            self._drop_pool(name)
        elif isinstance(obj, PersistentVolume):
            self._hide(name)
            self._assumed_volumes.pop(name, None)
        else:
            self._assumed_claims.pop(name, None)
        self._objects.remove(type(obj).__name__, name)

    # -- assumed objects

    def assume(self, obj: VolumeOrClaim) -> None:
        """Assume a volume or claim; raises OutOfSyncError if it is based on another version than the known one."""
        name = obj.full_name
        if isinstance(obj, PersistentVolume):
            _check_version("persistentvolumes", self._objects.get(PersistentVolume, name), obj)
            self._hide(name)
            self._assumed_volumes[name] = obj
            self._show(name)
        else:
            _check_version("persistentvolumeclaims", self._objects.get(PersistentVolumeClaim, name), obj)
            self._assumed_claims[name] = obj

    def restore(self, obj: VolumeOrClaim) -> None:
        """Drop an assumed volume or claim, unless another version of it is assumed."""
        name = obj.full_name
        if isinstance(obj, PersistentVolumeClaim):
            if _is_version(self._assumed_claims.get(name), obj):
                del self._assumed_claims[name]
        elif _is_version(self._assumed_volumes.get(name), obj):
            self._hide(name)
            del self._assumed_volumes[name]
            self._show(name)

    # -- the volumes of each class

    def _show(self, name: str) -> None:
        volume = self.volume(name)
        if volume is not None:
            class_name = class_of_volume(volume)
            if class_name not in self._classes:
                self._classes[class_name] = ClassVolumes(self._table)
            self._classes[class_name].show(volume)

    def _hide(self, name: str) -> None:
        volume = self.volume(name)
        if volume is not None:
            self._classes[class_of_volume(volume)].hide(volume)

    def _drop_pool(self, name: str) -> None:
        old = self._objects.get(CSIStorageCapacity, name)
        if old is not None:
            self._pools[old.storage_class_name].discard(name)


def _expire(assumed: dict[str, S], name: str, reported: ObjectMeta) -> None:
    """Drop an assumed object that is based on another version than the reported one."""
    known = assumed.get(name)
    if known is not None and known.metadata.resource_version != reported.resource_version:
        del assumed[name]


def _is_version(assumed: S | None, obj: S) -> bool:
    return assumed is not None and assumed.metadata.resource_version == obj.metadata.resource_version


def _check_version(resource: str, stored: VolumeOrClaim | None, obj: VolumeOrClaim) -> None:
    if stored is None:
        raise OutOfSyncError(f'{resource} "{obj.full_name}" not found')
    have, want = stored.metadata.resource_version, obj.metadata.resource_version
    if have != want:
        raise OutOfSyncError(f'"{obj.full_name}" is out of sync (stored: {have}, assume: {want})')
