"""Who controls a pod, and what that means when the pod leaves its node.

From a pod to whether it belongs to its node, may be evicted, and is created again elsewhere.
"""

from kubesched.api.meta import OwnerReference
from kubesched.core.cluster.pod_info import PodInfo

MIRROR = "kubernetes.io/config.mirror"
DO_NOT_EVICT = ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")
OF_DAEMON_SET, STATIC = "runs on every node (DaemonSet)", "a static pod of the node"


def controller_of(pod: PodInfo) -> OwnerReference | None:
    """Return the controller of a pod, None for a bare pod."""
    return next((owner for owner in pod.metadata.owner_references if owner.controller), None)


def bound_to_node(pod: PodInfo) -> str | None:
    """Return why a pod belongs to its node and is left there by a drain, or None."""
    if MIRROR in pod.metadata.annotations:
        return STATIC
    owner = controller_of(pod)
    if owner is None:
        return None
    return OF_DAEMON_SET if owner.kind == "DaemonSet" else STATIC if owner.kind == "Node" else None


def may_not_be_evicted(pod: PodInfo) -> bool:
    """Return whether an annotation asks cluster autoscalers not to evict the pod."""
    return pod.metadata.annotations.get(DO_NOT_EVICT[0]) == DO_NOT_EVICT[1]
