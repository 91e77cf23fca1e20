"""NodeName: a pod that names its node fits on that node only.

From `spec.nodeName` to a rejection of all other nodes.
"""

# upstream: nodename/node_name.go (v1.36)

from collections.abc import Hashable, Sequence

import numpy as np

from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Registration, Resource
from kubesched.core.framework.values.status import Status, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_rows

_ANOTHER_NODE = unresolvable("node(s) didn't match the requested node name")


class NodeName(FilterPlugin):
    """Rejects all nodes but the one the pod names, if it names one."""

    name = "NodeName"
    # A row keeps its name as long as its node exists.
    reads = Reads.PRESENCE
    # Pods of one template differ in just this field.
    key_of_template = False

    def key(self, pod: PodInfo) -> Hashable:
        """Return the pod's spec.nodeName."""
        return pod.spec.node_name

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if the pod names another node."""
        wanted = pod.spec.node_name
        return None if not wanted or wanted == node.name else _ANOTHER_NODE

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes of other names."""
        wanted = pod.spec.node_name
        if not wanted:
            return Verdict.uniform(len(nodes), None)
        table, rows = table_rows(nodes)
        others = np.ones(table.size, np.bool_)
        row = table.row_of.get(wanted)
        if row is not None:
            others[row] = False
        return Verdict.rejecting(others[rows], _ANOTHER_NODE)

    def events_to_register(self) -> Sequence[Registration]:
        """Return new nodes: one of them may be the named node."""
        return (Registration(ClusterEvent(Resource.NODE, Action.ADD)),)
