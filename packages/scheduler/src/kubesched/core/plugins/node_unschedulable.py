"""NodeUnschedulable: no pods for cordoned nodes.

From `spec.unschedulable` of nodes to a rejection, unless the pod tolerates the taint that a cordon stands for.
"""

# upstream: nodeunschedulable/node_unschedulable.go (v1.36)

from collections.abc import Hashable, Sequence
from typing import Final

from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.api.tolerations import NO_SCHEDULE, tolerated_by_any
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import Status, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes

CORDON: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
_UNSCHEDULABLE = unresolvable("node(s) were unschedulable")


class NodeUnschedulable(FilterPlugin):
    """Rejects nodes that are marked unschedulable."""

    name = "NodeUnschedulable"
    reads = Reads.TAINTS
    key_of_template = True

    def key(self, pod: PodInfo) -> Hashable:
        """Return whether the pod tolerates a cordon."""
        return pod.derive(tolerates_cordon)

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if the node is cordoned."""
        if not node.unschedulable or pod.derive(tolerates_cordon):
            return None
        return _UNSCHEDULABLE

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the cordoned nodes."""
        if pod.derive(tolerates_cordon):
            return Verdict.uniform(len(nodes), None)
        return Verdict.rejecting(nodes.unschedulable, _UNSCHEDULABLE)

    def events_to_register(self) -> Sequence[Registration]:
        """Return new and uncordoned nodes, and new tolerations of the pod."""
        return (
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), after_node_change),
            Registration(ClusterEvent(Resource.POD, Action.UPDATE_POD_TOLERATION), after_toleration_change),
        )


def tolerates_cordon(pod: PodInfo) -> bool:
    """Return whether a pod may go to cordoned nodes.

    The numeric operators do not matter here, gate or not: the taint has no value to compare.
    """
    return tolerated_by_any(CORDON, pod.spec.tolerations)


def after_node_change(pod: PodInfo, old: Node | None, new: Node) -> Hint:
    """Return whether a schedulable node appeared or a cordon was lifted."""
    better = not new.spec.unschedulable and (old is None or old.spec.unschedulable)
    return Hint.when(better)


def after_toleration_change(pod: PodInfo, old: PodInfo, new: PodInfo) -> Hint:
    """Return whether the updated pod is this one, and now tolerates cordons."""
    return Hint.when(new.uid == pod.uid and tolerates_cordon(new))
