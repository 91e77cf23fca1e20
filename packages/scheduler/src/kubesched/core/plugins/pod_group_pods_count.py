"""PodGroupPodsCount: prefers placements that fit more pods of a group.

From the pods that fit in a placement to a score; pods of the group that are scheduled already count, too, so that a
small difference in numbers is a small difference in scores.
"""

# upstream: plugins/podgrouppodscount/podgroup_pods_count.go (v1.36)

from collections.abc import Sequence

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import MAX_NODE_SCORE, PlacementScorePlugin
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import Status, error
from kubesched.core.framework.views.nodes import Nodes


class PodGroupPodsCount(PlacementScorePlugin):
    """Scores placements by the number of pods."""

    name = "PodGroupPodsCount"

    def __init__(self, cluster: ClusterState) -> None:
        self._groups = cluster.pod_groups

    def events_to_register(self) -> Sequence[Registration]:
        """Return nothing: a score rejects no pod."""
        return ()

    def score_placement(self, pods: Sequence[PodInfo], nodes: Nodes) -> int | Status:
        """Return how many scheduled pods the group has with these pods."""
        key = group_of(pods[0]) if pods else None
        return len(pods) + (len(self._groups.state(key).scheduled) if key is not None else 0)

    def normalize_placement_scores(self, scores: Sequence[int]) -> Sequence[int] | Status:
        """Return the counts in per cent of the largest."""
        most = max(scores, default=0)
        if not most:
            return error("no pods from pod group are assigned to any of the candidate placements")
        return [count * MAX_NODE_SCORE // most for count in scores]
