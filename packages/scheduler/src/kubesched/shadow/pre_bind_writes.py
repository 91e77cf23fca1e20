"""Writes of PreBind, which show a decision about a pod before the pod is bound.

From a change of a volume, a volume claim or a device claim to the waiting pods that it serves, with their nodes. In
most cases a nomination has shown the decision before, but not for a pod that preemption nominated to the same node.
"""

from collections.abc import Iterator

from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubesched.core.cluster.storage.volume_claims import ephemeral_claim_name
from kubesched.core.plugins.volume_binding.search import SELECTED_NODE
from kubesched.model.cluster_model import ClusterModel


def decided_by(model: ClusterModel, before: ApiObject | None, after: ApiObject | None) -> Iterator[tuple[Pod, str]]:
    """Yield the waiting pods that a write serves, with the node of each, if it is known."""
    if isinstance(after, ResourceClaim):
        known = _reserved(before)
        for uid in _reserved(after) - known:
            pod = model.cluster.pending.get(uid)
            if pod is not None and pod.status.nominated_node_name:
                yield pod.pod, pod.status.nominated_node_name
        return
    claim, node = _claim_of(before, after)
    if not claim:
        return
    for pod in list(model.cluster.pending.values()):
        chosen = node or pod.status.nominated_node_name
        if chosen and claim in _claims(pod.pod):
            yield pod.pod, chosen


def _reserved(claim: ApiObject | None) -> set[str]:
    return {user.uid for user in claim.status.reserved_for} if isinstance(claim, ResourceClaim) else set()


def _claim_of(before: ApiObject | None, after: ApiObject | None) -> tuple[str, str]:
    """Return the claim, `namespace/name`, and the node of a write, if it names one; empty texts for other writes."""
    if isinstance(after, PersistentVolume) and after.spec.claim_ref is not None:
        had = before.spec.claim_ref if isinstance(before, PersistentVolume) else None
        if had is None:
            return f"{after.spec.claim_ref.namespace}/{after.spec.claim_ref.name}", ""
    if isinstance(after, PersistentVolumeClaim):
        node = after.metadata.annotations.get(SELECTED_NODE, "")
        if node and (before is None or before.metadata.annotations.get(SELECTED_NODE) != node):
            return after.full_name, node
    return "", ""


def _claims(pod: Pod) -> Iterator[str]:
    """Yield the claims of a pod's volumes, `namespace/name`."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield f"{pod.namespace}/{volume.persistent_volume_claim.claim_name}"
        elif volume.ephemeral is not None:
            yield f"{pod.namespace}/{ephemeral_claim_name(pod.name, volume.name)}"
