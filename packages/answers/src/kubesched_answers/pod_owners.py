"""The controller of a pod, and the consequences when the pod leaves its node.

From a pod to whether it belongs to its node, may be evicted, and is created again elsewhere.
"""

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.owners import TEMPLATE_HASH, OwnedCluster, Owners

MIRROR = "kubernetes.io/config.mirror"
DO_NOT_EVICT = ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")
OF_DAEMON_SET, STATIC = "runs on every node (DaemonSet)", "a static pod of the node"


def bound_to_node(pod: PodInfo) -> str | None:
    """Return why a pod belongs to its node, so that a drain leaves it there, or None."""
    if MIRROR in pod.metadata.annotations:
        return STATIC
    owner = pod.metadata.controller
    if owner is None:
        return None
    return OF_DAEMON_SET if owner.kind == "DaemonSet" else STATIC if owner.kind == "Node" else None


def may_not_be_evicted(pod: PodInfo) -> bool:
    """Return whether an annotation asks cluster autoscalers not to evict the pod."""
    return pod.metadata.annotations.get(DO_NOT_EVICT[0]) == DO_NOT_EVICT[1]


class OwnerNames:
    """The names of the workloads that pods belong to, with a cache."""

    def __init__(self, model: OwnedCluster) -> None:
        self.owners = Owners(model)
        self._known: dict[tuple[str, ...], str | None] = {}

    def of(self, pod: PodInfo) -> str | None:
        """Return `Kind namespace/name` of a pod's workload, None for a bare pod."""
        controller = pod.metadata.controller
        if controller is None:
            return None
        key = pod.namespace, controller.kind, controller.name, pod.labels.get(TEMPLATE_HASH, "")
        if key not in self._known:
            owner = self.owners.of(pod)
            self._known[key] = str(owner) if owner is not None else None
        return self._known[key]
