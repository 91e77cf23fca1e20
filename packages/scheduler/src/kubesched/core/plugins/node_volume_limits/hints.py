"""Queueing hints for a pod that was rejected because of volume limits."""

# upstream: nodevolumelimits/csi.go (v1.36)

from kubesched.api.storage import CSINode, PersistentVolumeClaim, VolumeAttachment
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import (
    TranslationError,
    csi_volume_of_inline,
    in_tree_plugin_of_volume,
)
from kubesched.core.cluster.storage.volume_claims import ephemeral_claim_name
from kubesched.core.cluster.storage.volume_users import EphemeralClaim, NamedClaim, volume_uses
from kubesched.core.framework.values.events import Hint


def after_pod_deleted(pod: PodInfo, old: PodInfo, new: PodInfo | None) -> Hint:
    """Return whether the deleted pod had volumes on a node, or was nominated to one."""
    somewhere = bool(old.spec.node_name or old.status.nominated_node_name)
    return Hint.when(somewhere and bool(old.derive(volume_uses).attachable))


def after_claim_added(pod: PodInfo, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    """Return whether the claim is one of the pod's, including claims of its ephemeral volumes."""
    if new.namespace != pod.namespace:
        return Hint.QUEUE_SKIP
    for attachable in pod.derive(volume_uses).attachable:
        if isinstance(attachable, NamedClaim) and attachable.name == new.name:
            return Hint.QUEUE
        if isinstance(attachable, EphemeralClaim) and ephemeral_claim_name(pod.name, attachable[0]) == new.name:
            return Hint.QUEUE
    return Hint.QUEUE_SKIP


def after_attachment_deleted(pod: PodInfo, old: VolumeAttachment, new: VolumeAttachment | None) -> Hint:
    """Return whether the pod has a claim, or an in-tree volume of the attachment's driver."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            return Hint.QUEUE
        plugin = in_tree_plugin_of_volume(volume)
        if plugin is None:
            continue
        try:
            csi_volume_of_inline(volume)
        except TranslationError as error:
            raise ValueError(f"converting volume({volume.name}) from inline to csi: {error}") from None
        # differs (D-021): the reference crashes here on a vSphere volume with a storage policy
        if plugin.driver == old.spec.attacher:
            return Hint.QUEUE
    return Hint.QUEUE_SKIP


def after_csi_node_updated(pod: PodInfo, old: CSINode, new: CSINode) -> Hint:
    """Return whether the limit of any driver was raised; no limit counts as zero."""
    limits = _limits(old)
    raised = any(limit > limits.get(driver, 0) for driver, limit in _limits(new).items())
    return Hint.when(raised)


def _limits(csi_node: CSINode) -> dict[str, int]:
    drivers = csi_node.spec.drivers
    return {d.name: d.allocatable.count or 0 if d.allocatable is not None else 0 for d in drivers}
