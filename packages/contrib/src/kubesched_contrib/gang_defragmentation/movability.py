"""Which pods may be evicted to make space for a gang: pods that a controller recreates, unless they opt out.

From a pod on a node to whether it may be evicted and is recreated, and to the disruption budget that selects it.
"""

from typing import NamedTuple

from kubesched import ClusterView, PlacementTrials, PodInfo
from kubesched_contrib.coscheduling.pod_group import group_name

BUDGETS = "PodDisruptionBudget"
# "false": the pod stays where it is
MOVABLE = "kubesched.io/movable"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
MIRROR = "kubernetes.io/config.mirror"
BOUND_TO_NODE = frozenset({"DaemonSet", "Node"})


class EvictionBudget(NamedTuple):
    """A PodDisruptionBudget, and the number of pods that it currently allows to evict."""

    name: str
    allowed: int


class Movability:
    """Decides about pods."""

    def __init__(self, cluster: ClusterView, trials: PlacementTrials, excluded_namespaces: tuple[str, ...]) -> None:
        self._cluster = cluster
        self._trials = trials
        self._excluded = frozenset(excluded_namespaces)

    def allows(self, pod: PodInfo, priority: int) -> bool:
        """Return whether a pod may be moved for a gang of a priority.

        It returns False for more important pods; for pods without a controller, of DaemonSets, or of the node; for
        pods that terminate, do not run yet, belong to a gang, hold devices, or are for another scheduler; and for
        pods that opted out.
        """
        controller = pod.metadata.controller
        if controller is None or controller.kind in BOUND_TO_NODE or pod.priority > priority:
            return False
        if pod.terminating or pod.status.phase != "Running" or pod.namespace in self._excluded:
            return False
        annotations = pod.metadata.annotations
        if MIRROR in annotations or "false" in (annotations.get(MOVABLE), annotations.get(SAFE_TO_EVICT)):
            return False
        if group_name(pod) or pod.spec.scheduling_group is not None or pod.spec.resource_claims:
            return False
        # a pod with several budgets cannot be evicted
        budgets = self._budgets_of(pod)
        return self._trials.has_profile(pod) and len(budgets) < 2 and all(budget.allowed > 0 for budget in budgets)

    def budget_of(self, pod: PodInfo) -> EvictionBudget | None:
        """Return the budget that selects a movable pod, None if none does."""
        return next(iter(self._budgets_of(pod)), None)

    def _budgets_of(self, pod: PodInfo) -> list[EvictionBudget]:
        budgets = self._cluster.budgets_of(pod)
        return [EvictionBudget(budget.full_name, budget.status.disruptions_allowed) for budget in budgets]
