"""TaintToleration: the taints of nodes and the tolerations of a pod.

From nodes' taints and a pod's tolerations to a rejection (NoSchedule, NoExecute) and to a score that falls with the
number of PreferNoSchedule taints that are not tolerated. Each distinct set of taints is evaluated once.
"""

# upstream: tainttoleration/taint_toleration.go (v1.36)

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.api.nodes import Node
from kubesched.api.pods import Taint, Toleration
from kubesched.api.tolerations import (
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    first_untolerated,
    forbids_scheduling,
    tolerated_by_any,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.node_matching import by_distinct, tolerated_rows
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.columns.normalizing import normalize_to_highest
from kubesched.core.framework.plugin import FilterPlugin, PreScorePlugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import Status, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_rows

_UNTOLERATED = unresolvable("node(s) had untolerated taint(s)")


class TaintToleration(FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes whose taints the pod does not tolerate, and prefers those with few such taints."""

    name = "TaintToleration"
    reads = Reads.TAINTS
    key_of_template = True
    score_reads = Reads.TAINTS
    score_key_of_template = True
    in_range = True
    without_pre_score = 'failed to read "PreScoreTaintToleration" from cycleState: not found'

    def __init__(self, gates: FeatureGates) -> None:
        self._comparison = gates.enabled("TaintTolerationComparisonOperators")

    # -- Filter

    def key(self, pod: PodInfo) -> Hashable:
        """Return the tolerations for NoSchedule and NoExecute."""
        return pod.derive(_forbidding_key)

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if the pod does not tolerate a NoSchedule or NoExecute taint."""
        taints = node.taints
        return _UNTOLERATED if taints and self._forbidden(taints, pod) else None

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes with a NoSchedule or NoExecute taint that the pod does not tolerate."""
        table, rows = table_rows(nodes)
        tolerated = tolerated_rows(table, pod.spec.tolerations, rows, comparison=self._comparison)
        return Verdict.rejecting(~tolerated, _UNTOLERATED)

    def _forbidden(self, taints: Iterable[Taint], pod: PodInfo) -> bool:
        return first_untolerated(taints, pod.spec.tolerations, forbids_scheduling, self._comparison) is not None

    # -- Score

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the tolerations for PreferNoSchedule."""
        return pod.derive(_discouraging_key)

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Return None: every pod is scored."""
        return None

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return the number of PreferNoSchedule taints that the pod does not tolerate."""
        taints = node.taints
        return self._discouraging(taints, pod.derive(_of_discouragement)) if taints else 0

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return that number for each node."""
        tolerations = pod.derive(_of_discouragement)

        def count(taints: tuple[Taint, ...]) -> int:
            return self._discouraging(taints, tolerations)

        table, rows = table_rows(nodes)
        return by_distinct(table.taints.codes[rows], table.taints.sets, count, np.int64)

    def _discouraging(self, taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> int:
        return sum(
            taint.effect == PREFER_NO_SCHEDULE and not tolerated_by_any(taint, tolerations, self._comparison)
            for taint in taints
        )

    def normalize_scores(
        self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]
    ) -> NDArray[np.int64] | Status:
        """Return 100 for nodes without such taints, 0 for those with the most."""
        return normalize_to_highest(scores, reverse=True)

    # -- events

    def events_to_register(self) -> Sequence[Registration]:
        """Return new nodes, changed taints, and new tolerations of the pod."""
        return (
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), self.after_node_change),
            Registration(ClusterEvent(Resource.POD, Action.UPDATE_POD_TOLERATION), after_toleration_change),
        )

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> Hint:
        """Return whether the pod tolerates the node's taints and did not before."""
        before = old is None or self._forbidden(old.spec.taints, pod)
        return Hint.when(before and not self._forbidden(new.spec.taints, pod))


def after_toleration_change(pod: PodInfo, old: PodInfo, new: PodInfo) -> Hint:
    """Return whether the pod whose tolerations changed is this one."""
    return Hint.when(new.uid == pod.uid)


def _forbidding_key(pod: PodInfo) -> Hashable:
    return _key_of(_with_effect(pod.spec.tolerations, NO_SCHEDULE, NO_EXECUTE))


def _of_discouragement(pod: PodInfo) -> tuple[Toleration, ...]:
    return _with_effect(pod.spec.tolerations, PREFER_NO_SCHEDULE)


def _discouraging_key(pod: PodInfo) -> Hashable:
    return _key_of(_of_discouragement(pod))


def _with_effect(tolerations: Iterable[Toleration], *effects: str) -> tuple[Toleration, ...]:
    """Return the tolerations of some effects; no effect stands for all of them."""
    return tuple(t for t in tolerations if not t.effect or t.effect in effects)


def _key_of(tolerations: Iterable[Toleration]) -> Hashable:
    # neither their order nor tolerationSeconds matters
    return frozenset((t.key, t.operator or "Equal", t.value, t.effect) for t in tolerations)
