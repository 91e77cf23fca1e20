"""The rows that use claims and disks, and the pods with attachable volumes.

From the volumes of placed pods to sparse indices: by claim name, by disk, and by row the pods whose volumes count
against the limits of a node. Pods without such volumes cost one look-up per template.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api.storage import PersistentVolumeClaim
from kubesched.api.volumes import Volume
from kubesched.core.cluster.objects import full_name
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import (
    CSIVolume,
    TranslationError,
    csi_volume_of_inline,
    in_tree_plugin_of_volume,
)
from kubesched.core.cluster.storage.volume_claims import ephemeral_claim_name

K = TypeVar("K")
L = TypeVar("L")

# the kind of a disk, and its identity
Disk = tuple[str, ...]
# For disks without monitors.
_ONE_DOOR = frozenset(("",))


class DiskMount(NamedTuple):
    """A mount of a disk that pods on a node cannot share freely."""

    disk: Disk
    read_only: bool
    # Ceph's monitors: images of one name behind different monitors are different disks
    doors: frozenset[str] = _ONE_DOOR

    # upstream: volumerestrictions/volume_restrictions.go, isVolumeConflict (v1.36)
    def conflicts(self, other: "DiskMount") -> bool:
        """Return whether two pods on one node cannot both have these mounts."""
        both_read_only = self.read_only and other.read_only
        return not both_read_only and self.disk == other.disk and not self.doors.isdisjoint(other.doors)


class NamedClaim(NamedTuple):
    """A volume with a claim by name."""

    name: str


class EphemeralClaim(NamedTuple):
    """A generic ephemeral volume, whose claim is named after pod and volume."""

    volume_name: str


class InlineVolume(NamedTuple):
    """A volume of an in-tree plugin that has a CSI driver.

    `volume` is None if the plugin is not migrated, or if it cannot be translated: then `problem` is the reason.
    """

    volume: CSIVolume | None
    problem: str = ""


Attachable = NamedClaim | EphemeralClaim | InlineVolume


class VolumeUses(NamedTuple):
    """The volumes of a template that matter to other pods."""

    # the names of its claims, with repetitions
    claims: tuple[str, ...] = ()
    mounts: tuple[DiskMount, ...] = ()
    # the attachable volumes, in order
    attachable: tuple[Attachable, ...] = ()


NO_VOLUMES = VolumeUses()


def volume_uses(pod: PodInfo) -> VolumeUses:
    """Return the volumes of a pod that matter to other pods; to be derived once per template."""
    volumes = pod.spec.volumes
    claims = [volume.persistent_volume_claim for volume in volumes]
    uses = VolumeUses(
        tuple(claim.claim_name for claim in claims if claim is not None),
        tuple(mount for volume in volumes for mount in _mounts(volume)),
        tuple(attachable for volume in volumes if (attachable := _attachable(volume)) is not None),
    )
    return uses if any(uses) else NO_VOLUMES


def used_claims(pod: PodInfo) -> list[str]:
    """Return the claims of a pod's volumes by namespace and name, whether or not they exist."""
    uses = pod.derive(volume_uses)
    names = list(uses.claims)
    for use in uses.attachable:
        if isinstance(use, EphemeralClaim):
            names.append(ephemeral_claim_name(pod.name, use.volume_name))
    return [full_name(pod.namespace, name) for name in names]


def names_claim(pod: PodInfo, claim: PersistentVolumeClaim) -> bool:
    """Return whether a pod names a claim; claims of its ephemeral volumes do not count."""
    return claim.namespace == pod.namespace and claim.name in pod.derive(volume_uses).claims


def _mounts(volume: Volume) -> list[DiskMount]:
    mounts = []
    if volume.gce_persistent_disk is not None:
        mounts.append(DiskMount(("gce", volume.gce_persistent_disk.pd_name), volume.gce_persistent_disk.read_only))
    if volume.aws_elastic_block_store is not None:
        # two pods cannot share it even if both are read-only
        mounts.append(DiskMount(("aws", volume.aws_elastic_block_store.volume_id), read_only=False))
    if volume.iscsi is not None:
        mounts.append(DiskMount(("iscsi", volume.iscsi.iqn), volume.iscsi.read_only))
    if volume.rbd is not None:
        rbd = volume.rbd
        mounts.append(DiskMount(("rbd", rbd.pool, rbd.image), rbd.read_only, frozenset(rbd.monitors)))
    return mounts


def _attachable(volume: Volume) -> Attachable | None:
    if volume.persistent_volume_claim is not None:
        return NamedClaim(volume.persistent_volume_claim.claim_name)
    if volume.ephemeral is not None:
        return EphemeralClaim(volume.name)
    if in_tree_plugin_of_volume(volume) is None:
        return None
    try:
        return InlineVolume(csi_volume_of_inline(volume))
    except TranslationError as error:
        return InlineVolume(None, f"converting volume({volume.name}) from inline to csi: {error}")


class VolumeUsers:
    """The users of claims and disks among placed pods."""

    __slots__ = ("_claims", "_disks", "_touched", "slots_on")

    def __init__(self) -> None:
        # claim name -> (namespace, row) -> references
        self._claims: dict[str, dict[tuple[str, int], int]] = {}
        # disk -> row -> mount -> how often
        self._disks: dict[Disk, dict[int, dict[DiskMount, int]]] = {}
        # row -> slots of the pods with attachable volumes, in the order in which they were added
        self.slots_on: dict[int, dict[int, None]] = {}
        self._touched: set[int] = set()

    def take_touched(self) -> set[int]:
        """Return the rows for which `slots_on` changed since the last call."""
        touched, self._touched = self._touched, set()
        return touched

    def count(self, pod: PodInfo, row: int, sign: int) -> bool:
        """Add a placed pod's volumes, or remove them with sign -1; return whether there are any."""
        uses = pod.derive(volume_uses)
        if uses is NO_VOLUMES:
            return False
        for name in uses.claims:
            _bump(self._claims, name, (pod.namespace, row), sign)
        for mount in uses.mounts:
            rows = self._disks.setdefault(mount.disk, {})
            _bump(rows, row, mount, sign)
            if not rows:
                del self._disks[mount.disk]
        if uses.attachable:
            self._touched.add(row)
            slots = self.slots_on.setdefault(row, {})
            if sign > 0:
                slots[pod.slot] = None
            else:
                del slots[pod.slot]
                if not slots:
                    del self.slots_on[row]
        return True

    def is_used(self, namespace: str, claim_name: str, present: NDArray[np.bool_]) -> bool:
        """Return whether a pod on a row that is present uses a claim."""
        users = self._claims.get(claim_name)
        return users is not None and any(owner == namespace and present[row] for owner, row in users)

    def rows_naming(self, claim_name: str) -> set[int]:
        """Return the rows with pods that use a claim of this name in any namespace."""
        return {row for _, row in self._claims.get(claim_name, ())}

    def rows_mounting(self, disk: Disk) -> dict[int, dict[DiskMount, int]]:
        """Return the rows on which a disk is mounted, and how."""
        return self._disks.get(disk, {})

    def content(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the counts by the names of rows, for comparison."""
        return {
            "claims": {
                f"{namespace}/{claim} on {names[row]}": count
                for claim, users in self._claims.items()
                for (namespace, row), count in users.items()
            },
            "disks": {
                f"{disk} on {names[row]}": mounts for disk, rows in self._disks.items() for row, mounts in rows.items()
            },
            "pods with something attachable": {names[row]: len(slots) for row, slots in self.slots_on.items()},
        }


def _bump(index: dict[K, dict[L, int]], key: K, subkey: L, sign: int) -> None:
    """Add to a count under two keys, dropping zeros."""
    counts = index.setdefault(key, {})
    count = counts.get(subkey, 0) + sign
    if count:
        counts[subkey] = count
        return
    del counts[subkey]
    if not counts:
        del index[key]
