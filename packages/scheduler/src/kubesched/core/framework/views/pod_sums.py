"""Columns of plugins that follow from pods: a number of each pod, summed by node.

From a plugin's constructor (`ClusterView.pod_sums`) to `node.value_of(column)` and `nodes.values_of(column)`, which are
true in what-if worlds, too. A row is summed again where its pods changed.
"""

from collections.abc import Callable, Iterable

import numpy as np

from kubesched.core.cluster.changes import UNRESTRICTED, Reads
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.views.node_values import OWN_GROUPS, NodeValues, own_group

# the groups that a function of a pod may read
OF_POD = Reads.PODS | Reads.RESOURCES | Reads.POD_OBJECTS


class PodSums(NodeValues):
    """A whole number of each pod, summed over the pods on a node."""

    def __init__(self, table: NodeTable, value_of: Callable[[PodInfo], int], reads: int) -> None:
        # sums that also depend on another column share its group, so that a plugin can have any number of them
        group = Reads.NOTHING if reads & OWN_GROUPS else own_group(table)
        super().__init__(table, reads | group, np.int64, 0)
        # no restriction: the function may read more than the plugin that reads the sums
        self.restricted_to = UNRESTRICTED
        self._value_of = value_of

    def recount(self) -> None:
        """Sum again where the sum is not zero: for a function whose answer for a pod becomes zero as time passes."""
        self.record(np.flatnonzero(self._values).tolist())

    def over(self, pods: Iterable[PodInfo]) -> int:
        """Return the sum over some pods."""
        return sum(map(self._value_of, pods))

    def _value(self, row: int) -> int:
        return self.over(self.table.pods_on[row].values())
