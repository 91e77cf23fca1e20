"""The CSI volumes of a pod.

From a pod's volumes through claims, persistent volumes and storage classes, as reported (never as assumed), to drivers
and handles. A volume that is not provisioned yet is identified by its claim. The objects that were looked up can be
recorded, so that a result is known to be stale when one of them changes.
"""

# upstream: nodevolumelimits/csi.go, filterAttachableVolumes (v1.36)

from typing import NamedTuple, TypeVar

from kubesched.api.meta import ApiObject
from kubesched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubesched.core.cluster.objects import Objects, full_name
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import (
    CSIVolume,
    TranslationError,
    csi_volume_of_pv,
    in_tree_plugin_named,
)
from kubesched.core.cluster.storage.volume_claims import (
    CLAIM,
    ephemeral_claim_name,
    not_found,
    ownership_problem,
    storage_class_name,
)
from kubesched.core.cluster.storage.volume_users import EphemeralClaim, InlineVolume, volume_uses

T = TypeVar("T", bound=ApiObject)

# The prefix of a handle that is built from a claim; no handle of a driver has it.
_NOT_PROVIDED = "\0"

# kind and name of an object that a result depends on, whether or not it exists
Dependency = tuple[type[ApiObject], str]


class Problem(NamedTuple):
    """Why the volumes of a pod are unknown; `missing` if a claim does not exist yet."""

    text: str
    missing: bool = False


class PodCSIVolumes(NamedTuple):
    """The CSI volumes of a pod, each once, or why they are unknown."""

    volumes: frozenset[CSIVolume]
    problem: Problem | None = None


NO_NAME = Problem("PersistentVolumeClaim had no name")


class VolumeFinder:
    """Looks volumes up.

    With `migrated` in-tree volumes count as CSI volumes; `seen` collects the objects that were looked up.
    """

    __slots__ = ("_migrated", "_objects", "_seen")

    def __init__(self, objects: Objects, *, migrated: bool = True, seen: set[Dependency] | None = None) -> None:
        self._objects = objects
        self._migrated = migrated
        self._seen = seen

    def volumes_of(self, pod: PodInfo, *, placed: bool) -> PodCSIVolumes:
        """Return a pod's volumes; missing claims of a placed pod do not count."""
        volumes = set()
        for attachable in pod.derive(volume_uses).attachable:
            if isinstance(attachable, InlineVolume):
                if self._migrated and attachable.problem:
                    return PodCSIVolumes(frozenset(), Problem(attachable.problem))
                if self._migrated and attachable.volume is not None:
                    volumes.add(attachable.volume)
                continue
            ephemeral = isinstance(attachable, EphemeralClaim)
            name = ephemeral_claim_name(pod.name, attachable[0]) if ephemeral else attachable[0]
            if not name:
                return PodCSIVolumes(frozenset(), NO_NAME)
            claim = self._get(PersistentVolumeClaim, full_name(pod.namespace, name))
            if claim is None:
                if placed:
                    continue
                text = f"looking up PVC {pod.namespace}/{name}: {not_found(CLAIM, name)}"
                return PodCSIVolumes(frozenset(), Problem(text, missing=True))
            if ephemeral and (problem := ownership_problem(pod, claim)):
                return PodCSIVolumes(frozenset(), Problem(problem))
            volume = self._volume_of(claim)
            if volume is not None:
                volumes.add(volume)
        return PodCSIVolumes(frozenset(volumes))

    def _get(self, kind: type[T], name: str) -> T | None:
        if self._seen is not None:
            self._seen.add((kind, name))
        return self._objects.get(kind, name)

    def _volume_of(self, claim: PersistentVolumeClaim) -> CSIVolume | None:
        """Return the CSI volume of a claim, or None if it is no CSI volume."""
        pv_name = claim.spec.volume_name
        if not pv_name:
            return self._volume_to_provide(claim)
        pv = self._get(PersistentVolume, pv_name)
        if pv is None:
            # It may be deleted, or not be reported yet; the class has at least the driver.
            return self._volume_to_provide(claim)
        if pv.spec.csi is not None:
            volume: CSIVolume | None = CSIVolume(pv.spec.csi.driver, pv.spec.csi.volume_handle)
        elif self._migrated:
            try:
                volume = csi_volume_of_pv(pv)
            except TranslationError:
                volume = None
        else:
            volume = None
        return volume if volume is not None and volume.driver and volume.handle else None

    def _volume_to_provide(self, claim: PersistentVolumeClaim) -> CSIVolume | None:
        """Return the volume that a claim's class will provision; a claim without a class does not count."""
        class_name = storage_class_name(claim)
        if not class_name:
            return None
        storage_class = self._get(StorageClass, class_name)
        if storage_class is None:
            return None
        driver = storage_class.provisioner
        in_tree = in_tree_plugin_named(driver)
        if in_tree is not None:
            if not (self._migrated and in_tree.migrated):
                return None
            driver = in_tree.driver
        return CSIVolume(driver, f"{_NOT_PROVIDED}{claim.full_name}") if driver else None
