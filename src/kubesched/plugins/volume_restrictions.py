"""VolumeRestrictions (stand-in): volumes that only one pod may use.

From a pod's volumes to Skip where none of them can conflict; other pods are refused as not implemented yet.
"""

# upstream: plugins/volumerestrictions/volume_restrictions.go (v1.36)

from collections.abc import Sequence

from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.events import Action, ClusterEvent, Registration, Resource
from kubesched.framework.stand_in import StandInFilter, may_help


class VolumeRestrictions(StandInFilter):
    """Skips pods without claims and without disks that conflict."""

    name = "VolumeRestrictions"
    without_pre_filter = 'cannot read "PreFilterVolumeRestrictions" from cycleState'

    def concern(self, pod: PodInfo) -> str:
        """Return which volumes could conflict with those of other pods."""
        return pod.derive(restricted_volumes)

    def events_to_register(self) -> Sequence[Registration]:
        """Return what can end a conflict."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE), may_help),
            Registration(ClusterEvent(Resource.NODE, Action.ADD)),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), may_help),
        )


def restricted_volumes(pod: PodInfo) -> str:
    """Return in a word which volumes of a pod are restricted."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            return "pods with persistent volume claims"
        disks = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.rbd, volume.iscsi)
        if any(disk is not None for disk in disks):
            return "pods with GCE, AWS, RBD or iSCSI disks"
    return ""
