"""What a pod asks of the nodes' limits.

From a pod's volumes to a `VolumeLimitRequest`, which is all that the verdict depends on: pods that want as many volumes
of the same drivers share it, unless some pod uses one of the volumes already.
"""

# upstream: nodevolumelimits/csi.go, Filter (v1.36)

from typing import NamedTuple

from kubesched.api.storage import CSIDriver
from kubesched.core.cluster.cluster import Cluster
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import CSIVolume
from kubesched.core.cluster.storage.csi_volumes import Problem, VolumeFinder
from kubesched.core.cluster.storage.volume_users import volume_uses
from kubesched.core.framework.status import Status, error, unresolvable


class WantedVolumes(NamedTuple):
    """What a pod wants on one kind of node: volumes by driver, or why they are not known."""

    # driver -> number of volumes
    counts: tuple[tuple[str, int], ...] = ()
    problem: Status | None = None
    # drivers without which the pod must not go to a node, in order
    required: tuple[str, ...] = ()


class VolumeLimitRequest(NamedTuple):
    """What a pod wants on nodes with a CSINode, and on the others, where nothing in-tree counts as CSI."""

    wanted: WantedVolumes
    without_csi_node: WantedVolumes
    # those of its volumes that a pod uses, placed or nominated before it; the others are on no row in any world
    known: tuple[CSIVolume, ...]


NOTHING = WantedVolumes()
NOTHING_WANTED = VolumeLimitRequest(NOTHING, NOTHING, ())


class Requests:
    """Finds out what pods want."""

    def __init__(self, cluster: Cluster, *, scaling: bool) -> None:
        self._cluster = cluster
        self._objects = cluster.objects
        self._attached = cluster.attached_volumes
        self._scaling = scaling

    def of(self, pod: PodInfo) -> VolumeLimitRequest:
        """Return what a pod wants; the attached volumes must be up to date."""
        if not pod.derive(volume_uses).attachable:
            return NOTHING_WANTED
        volumes, wanted = self._wanted(pod, migrated=True)
        without_csi_node = NOTHING
        if wanted.problem is not None or self._scaling:
            # otherwise there is nothing to say to a node without limits
            _, without_csi_node = self._wanted(pod, migrated=False)
        known = tuple(sorted(volume for volume in volumes if self._is_known(volume, pod)))
        return VolumeLimitRequest(wanted, without_csi_node, known)

    def _wanted(self, pod: PodInfo, *, migrated: bool) -> tuple[frozenset[CSIVolume], WantedVolumes]:
        found = VolumeFinder(self._objects, migrated=migrated).volumes_of(pod, placed=False)
        if found.problem is not None:
            return found.volumes, WantedVolumes(problem=_status(found.problem))
        counts: dict[str, int] = {}
        for volume in found.volumes:
            counts[volume.driver] = counts.get(volume.driver, 0) + 1
        required = tuple(driver for driver in sorted(counts) if self._scaling and self._is_required(driver))
        return found.volumes, WantedVolumes(tuple(sorted(counts.items())), required=required)

    def _is_required(self, driver: str) -> bool:
        """Return whether a driver wants to be on a node before pods with its volumes are."""
        csi_driver = self._objects.get(CSIDriver, driver)
        return csi_driver is not None and bool(csi_driver.spec.prevent_pod_scheduling_if_missing)

    def _is_known(self, volume: CSIVolume, pod: PodInfo) -> bool:
        if self._attached.rows_using(volume):
            return True
        ahead = self._cluster.nominations.qualifying(pod)
        finder = VolumeFinder(self._objects)
        return any(volume in finder.volumes_of(other, placed=True).volumes for pods in ahead.values() for other in pods)


def _status(problem: Problem) -> Status:
    return unresolvable(problem.text) if problem.missing else error(problem.text)
