"""VolumeZone (stand-in): bound volumes and nodes in the same zone.

From a pod's volumes to Skip where none of them is claimed; other pods are refused as not implemented yet.
"""

# upstream: plugins/volumezone/volume_zone.go (v1.36)

from collections.abc import Sequence

from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.events import Action, ClusterEvent, Registration, Resource
from kubesched.framework.stand_in import StandInFilter, may_help


class VolumeZone(StandInFilter):
    """Skips pods without claims; ephemeral volumes are bound where the pod goes."""

    name = "VolumeZone"

    def concern(self, pod: PodInfo) -> str:
        """Return which volumes may have a zone."""
        return pod.derive(claimed_volumes)

    def events_to_register(self) -> Sequence[Registration]:
        """Return what can bring a volume and a node together."""
        changed = Action.ADD | Action.UPDATE
        return (
            Registration(ClusterEvent(Resource.STORAGE_CLASS, Action.ADD), may_help),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, changed), may_help),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME, changed), may_help),
        )


def claimed_volumes(pod: PodInfo) -> str:
    """Return in a word whether a pod names claims."""
    named = any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)
    return "pods with persistent volume claims" if named else ""
