"""Scores: how good is a node for the pod, from 0 to 100? Both are written over columns: all nodes in one go."""

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from kubesched import CycleState, Nodes, PodInfo, Reads, ScorePlugin, score_plugin

GENERATION = "example.com/generation"


class MyCustomPluginA(ScorePlugin):
    """Prefers nodes with much memory left, as a share of what they have."""

    name = "MyCustomPluginA"
    score_reads = Reads.RESOURCES
    # A promise, so that nobody has to look at every score.
    in_range = True

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the part of the pod that matters: none."""
        return ()

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the percentage of memory that is free on each node."""
        offered = nodes.allocatable("memory")
        free = np.clip(nodes.free("memory"), 0, None)
        return free * 100 // np.maximum(offered, 1)


@score_plugin("MyCustomPluginB")
def my_custom_plugin_b(pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
    """Prefer newer hardware: 10 points per generation in the node's label."""
    # Worked out once for each value of the label, however many nodes have it.
    return nodes.by_label(GENERATION, lambda text: min(10 * int(text), 100) if text and text.isdecimal() else 0)
