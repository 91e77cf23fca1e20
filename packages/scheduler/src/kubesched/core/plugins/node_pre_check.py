"""The pre-check of a node event: whether a pod fits the node, by filters that read only these two.

From a waiting pod and a node that was added or changed to yes or no. Without queueing hints (the gate
SchedulerQueueingHints) the event moves only the pods for which the answer is yes.
"""

# upstream: eventhandlers.go, preCheckForNode, AdmissionCheck (v1.36)

from kubesched.config.args import NodeResourcesFitArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.plugins.node_affinity import NodeAffinity
from kubesched.core.plugins.node_name import NodeName
from kubesched.core.plugins.node_ports import NodePorts
from kubesched.core.plugins.node_resources import NodeResourcesFit
from kubesched.core.plugins.taint_toleration import TaintToleration


class NodePreCheck:
    """Runs the filters that read one node and nothing else, whether or not a profile enables them."""

    def __init__(self, cluster: ClusterState, gates: FeatureGates) -> None:
        self._table = cluster.table
        self._filters: tuple[FilterPlugin, ...] = (
            NodeResourcesFit(NodeResourcesFitArgs(), cluster, gates),
            NodeAffinity(),
            NodeName(),
            NodePorts(cluster),
            TaintToleration(gates),
        )

    def admits(self, pod: PodInfo, node_name: str) -> bool:
        """Return whether all of these filters let a pod onto a node."""
        row = self._table.row_of.get(node_name)
        if row is None:
            return False
        node = NodeRow(self._table, row)
        return all(plugin.filter(CycleState(), pod, node) is None for plugin in self._filters)
