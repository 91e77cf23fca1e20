"""Whether a node has a place for a pod, as far as that can be told from the two of them.

From a pod that waits and a node that was added or changed to yes or no. Without hints (the gate SchedulerQueueingHints)
that is what keeps a node's event from waking everybody.
"""

# upstream: eventhandlers.go, preCheckForNode, AdmissionCheck (v1.36)

from collections.abc import Mapping

from kubesched.cluster.pod_info import PodInfo
from kubesched.cluster.table import NodeTable
from kubesched.framework.cycle import CycleState
from kubesched.framework.nodes import NodeRow
from kubesched.framework.plugin import FilterPlugin
from kubesched.framework.profile import Profile
from kubesched.plugins.node_affinity import NodeAffinity
from kubesched.plugins.node_name import NodeName
from kubesched.plugins.node_ports import NodePorts
from kubesched.plugins.node_resources_fit import NodeResourcesFit
from kubesched.plugins.taint_toleration import TaintToleration

LOOKING_AT_ONE_NODE = (NodeResourcesFit, NodeAffinity, NodeName, NodePorts, TaintToleration)


class NodeAdmission:
    """Asks the filters of a pod's profile that look at one node and nothing else."""

    def __init__(self, table: NodeTable, profiles: Mapping[str, Profile]) -> None:
        self._table = table
        self._filters: dict[str, list[FilterPlugin]] = {
            name: [plugin for plugin in profile.filter if isinstance(plugin, LOOKING_AT_ONE_NODE)]
            for name, profile in profiles.items()
        }

    def admits(self, pod: PodInfo, node_name: str) -> bool:
        """Return whether nothing about a node is in a pod's way."""
        row = self._table.row_of.get(node_name)
        if row is None:
            return False
        node = NodeRow(self._table, row)
        filters = self._filters.get(pod.spec.scheduler_name, ())
        return all(plugin.filter(CycleState(), pod, node) is None for plugin in filters)
