"""The volumes of a pod that count against the nodes' limits.

From a pod's volumes to a `VolumeLimitRequest`, which is all that the verdict depends on: pods with the same number of
volumes per driver share it, unless a pod uses one of the volumes already.
"""

# upstream: nodevolumelimits/csi.go, Filter (v1.36)

from typing import NamedTuple

from kubesched.api.storage import CSIDriver
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import CSIVolume
from kubesched.core.cluster.storage.csi_volumes import Problem, VolumeFinder
from kubesched.core.cluster.storage.volume_users import volume_uses
from kubesched.core.framework.values.status import Status, error, unresolvable


class WantedVolumes(NamedTuple):
    """The volumes of a pod on one kind of node: their number by driver, or the problem if they are unknown."""

    # driver -> number of volumes
    counts: tuple[tuple[str, int], ...] = ()
    problem: Status | None = None
    # drivers that must be installed on the node, in order
    required: tuple[str, ...] = ()


class VolumeLimitRequest(NamedTuple):
    """The volumes of a pod on nodes with a CSINode, and on other nodes, where in-tree volumes do not count as CSI."""

    wanted: WantedVolumes
    without_csi_node: WantedVolumes
    # the volumes that a placed or nominated pod uses already; the others are on no row in any world
    known: tuple[CSIVolume, ...]


NOTHING = WantedVolumes()
NOTHING_WANTED = VolumeLimitRequest(NOTHING, NOTHING, ())


class Requests:
    """Makes the requests of pods."""

    def __init__(self, cluster: ClusterState, *, scaling: bool) -> None:
        self._cluster = cluster
        self._objects = cluster.objects
        self._attached = cluster.attached_volumes
        self._scaling = scaling

    def of(self, pod: PodInfo) -> VolumeLimitRequest:
        """Return the request of a pod; the attached volumes must be up to date."""
        if not pod.derive(volume_uses).attachable:
            return NOTHING_WANTED
        volumes, wanted = self._wanted(pod, migrated=True)
        without_csi_node = NOTHING
        if wanted.problem is not None or self._scaling:
            # otherwise a node without limits is not rejected
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
        """Return whether pods with volumes of a driver need it to be installed on the node."""
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
