"""Advice for operators where no change of an object helps: nodes to repair.

From the rejections of a pod to sentences. A node counts if only its own state keeps the pod away. No remedy names it,
since a controller restores the taints of that state.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from kubesched.api.nodes import Node
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.rejections import Rejections
from kubesched_answers.node_health import is_of_lifecycle, trouble_of
from kubesched_answers.remedies.proposers.taints import keeping_off

MOST_NODES: Final = 3


def nodes_to_bring_back(model: ClusterModel, pod: PodInfo, rejections: Rejections) -> tuple[str, ...]:
    """Return advice about nodes that would take a pod if they were healthy."""
    found = sorted(_troubled(model, pod, rejections))
    more = len(found) - MOST_NODES
    said = [f"bring {name} back: {trouble}; it lacks nothing else" for name, trouble in found[:MOST_NODES]]
    return (*said, *([f"bring {more:,} more nodes back that are not well"] if more > 0 else []))


def _troubled(model: ClusterModel, pod: PodInfo, rejections: Rejections) -> Iterator[tuple[str, str]]:
    if rejections.pre_filter:
        return
    tainted = next((column for column in rejections.columns if column.plugin == "TaintToleration"), None)
    rows = np.flatnonzero(rejections.present & (rejections.counts == 1) & (tainted.ids != 0)) if tainted else ()
    for row in map(int, rows):
        node = rejections.table.nodes[row]
        trouble = trouble_of(node) if node is not None else None
        if node is not None and trouble is not None and _has_no_other_taint(model, pod, node):
            yield node.name, trouble


def _has_no_other_taint(model: ClusterModel, pod: PodInfo, node: Node) -> bool:
    return all(is_of_lifecycle(taint) for taint in keeping_off(model, pod, node.spec.taints))
