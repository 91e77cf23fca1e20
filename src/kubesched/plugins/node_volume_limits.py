"""NodeVolumeLimits (stand-in): how many volumes a node can attach.

From a pod's volumes to Skip where none of them is attached through CSI; other pods are refused as not implemented yet.
"""

# upstream: plugins/nodevolumelimits/csi.go, csi-translation-lib/translate.go (v1.36)

from collections.abc import Sequence

from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.events import Action, ClusterEvent, Registration, Resource
from kubesched.framework.stand_in import StandInFilter, may_help


class NodeVolumeLimits(StandInFilter):
    """Skips pods without volumes that count."""

    name = "NodeVolumeLimits"

    def concern(self, pod: PodInfo) -> str:
        """Return which volumes would have to be counted."""
        return pod.derive(attachable_volumes)

    def events_to_register(self) -> Sequence[Registration]:
        """Return what can raise a limit or free an attachment."""
        return (
            Registration(ClusterEvent(Resource.CSI_NODE, Action.ADD)),
            Registration(ClusterEvent(Resource.CSI_NODE, Action.UPDATE), may_help),
            Registration(ClusterEvent(Resource.POD, Action.DELETE), may_help),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), may_help),
            Registration(ClusterEvent(Resource.VOLUME_ATTACHMENT, Action.DELETE), may_help),
        )


def attachable_volumes(pod: PodInfo) -> str:
    """Return in a word which volumes of a pod are attached to its node."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
            return "pods with persistent volume claims"
        # in-tree volumes that are translated to CSI
        migrated = (
            volume.gce_persistent_disk,
            volume.aws_elastic_block_store,
            volume.cinder,
            volume.azure_disk,
            volume.azure_file,
            volume.vsphere_volume,
            volume.portworx_volume,
        )
        if any(source is not None for source in migrated):
            return "pods with in-tree cloud volumes"
    return ""
