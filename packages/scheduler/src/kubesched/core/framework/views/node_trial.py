"""A trial of one node: would the pod of this cycle fit there if some pods were gone?

From a PostFilter plugin that looks for victims, which has the cycle and a node, to the answer of all filters. Nothing
changes but the trial; nominated pods count.
"""

import numpy as np

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.views.nodes import NodeRow, table_row

_THE_NODE = np.zeros(1, np.intp)


class NodeTrial:
    """A node from which pods on it are removed, and to which they come back."""

    def __init__(self, cycle: CycleState, node: NodeRow) -> None:
        _, row = table_row(node)
        self._world = cycle.what_if(np.array([row], np.intp))

    def remove(self, pod: PodInfo) -> None:
        """Take a pod off the node."""
        self._world.change(_THE_NODE, np.array([pod.slot], np.intp), -1)

    def restore(self, pod: PodInfo) -> None:
        """Put a pod back that was removed."""
        self._world.change(_THE_NODE, np.array([pod.slot], np.intp), 1)

    @property
    def fits(self) -> bool:
        """Return whether all filters accept the node."""
        return int(self._world.judge()[0]) == 0
