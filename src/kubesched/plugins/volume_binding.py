"""VolumeBinding (stand-in): finding and binding volumes for claims.

From a pod's volumes to Skip where there is nothing to bind; other pods are refused as not implemented yet.
"""

# upstream: plugins/volumebinding/volume_binding.go (v1.36)

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.cluster.changes import Group
from kubesched.cluster.pod_info import PodInfo
from kubesched.config.feature_gates import FeatureGates
from kubesched.framework.cycle import PRE_FILTERED, CycleState
from kubesched.framework.events import Action, ClusterEvent, Registration, Resource
from kubesched.framework.nodes import NodeRow, Nodes
from kubesched.framework.plugin import PreBindPlugin, PreScorePlugin, ReservePlugin, ScorePlugin
from kubesched.framework.stand_in import StandInFilter, may_help
from kubesched.framework.status import SKIP, Status, error

# What a hook says that does not find what PreFilter would have written.
NOT_FOUND = "not found"


class VolumeBinding(StandInFilter, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Skips pods without claims; their score is 0 where storage capacity counts at all."""

    name = "VolumeBinding"
    without_pre_filter = NOT_FOUND
    score_reads = Group.NOTHING
    score_key_of_template = True
    in_range = True
    parallel = True

    def __init__(self, gates: FeatureGates | None = None) -> None:
        self._scores = (gates or FeatureGates({})).enabled("StorageCapacityScoring")

    def concern(self, pod: PodInfo) -> str:
        """Return which volumes would have to be bound."""
        return pod.derive(bindable_volumes)

    def events_to_register(self) -> Sequence[Registration]:
        """Return what can make volumes available."""
        changed = Action.ADD | Action.UPDATE
        return (
            Registration(ClusterEvent(Resource.STORAGE_CLASS, changed), may_help),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, changed), may_help),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME, changed)),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            Registration(ClusterEvent(Resource.CSI_NODE, changed), may_help),
            Registration(ClusterEvent(Resource.CSI_DRIVER, Action.UPDATE), may_help),
            Registration(ClusterEvent(Resource.CSI_STORAGE_CAPACITY, changed), may_help),
        )

    # -- scoring

    def score_key(self, pod: PodInfo) -> str:
        """Return the same for all pods without claims."""
        return self.concern(pod)

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Skip scoring unless storage capacity is scored."""
        return None if self._scores else SKIP

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return 0: without claims every node is as good."""
        return self.refusal(pod) or 0

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return 0 for all nodes."""
        return self.refusal(pod) or np.zeros(len(nodes), np.int64)

    # -- binding

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Set nothing aside."""
        return self._unprepared(cycle) or self.refusal(pod)

    def pre_bind_pre_flight(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Return Skip: there is nothing to bind."""
        return self._unprepared(cycle) or self.refusal(pod) or SKIP

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Bind nothing."""
        return self._unprepared(cycle) or self.refusal(pod)

    def _unprepared(self, cycle: CycleState) -> Status | None:
        """Return the error of a cycle in which PreFilter did not run."""
        return None if self.name in cycle.read(PRE_FILTERED) else error(NOT_FOUND)


def bindable_volumes(pod: PodInfo) -> str:
    """Return in a word whether a pod has volumes that are bound through claims."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
            return "pods with persistent volume claims"
    return ""
