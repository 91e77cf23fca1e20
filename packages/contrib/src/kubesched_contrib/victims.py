"""Preemption by plugins with their own rules for victims: who may preempt, and which pods are evicted.

From a pod that found no node to a refusal, or to the necessary evictions among the possible ones.
"""

from collections.abc import Callable, Iterable, Sequence

from kubesched import (
    Candidate,
    ClusterView,
    NodeRow,
    PodInfo,
    PostFilterPlugin,
    PreEnqueuePlugin,
    RunningPreemptions,
    Status,
    unresolvable,
)

BUDGETS = "PodDisruptionBudget"


class PreemptingPlugin(PreEnqueuePlugin, PostFilterPlugin):
    """Base of preempting plugins: a pod is not retried before its victims have ended."""

    def __init__(self, cluster: ClusterView, preemptions: RunningPreemptions) -> None:
        self._cluster = cluster
        self._preemptions = preemptions

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Hold a pod back while its victims are being evicted."""
        if self._preemptions.holds(pod.uid):
            return unresolvable("waiting for the preemption for this pod to be finished")
        return None

    def refusal(self, pod: PodInfo, potential_victims: Callable[[NodeRow], Iterable[PodInfo]]) -> str:
        """Return why a pod may not preempt, an empty text if it may; `potential_victims` are the possible ones on
        a node.
        """
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        node = self._cluster.node(pod.status.nominated_node_name)
        if node is not None and any(victim.terminating for victim in potential_victims(node)):
            return "not eligible due to a terminating pod on the nominated node."
        return ""


def importance(pod: PodInfo) -> tuple[int, float]:
    """Return a key that sorts less important pods first: lower priority, then the later start."""
    started = pod.status.start_time
    return pod.priority, -started.timestamp() if started is not None else float("-inf")


def eviction_order(cluster: ClusterView) -> Callable[[PodInfo], tuple[bool, int, float]]:
    """Return a key that sorts pods with an exhausted PodDisruptionBudget last, else less important pods first."""

    def key(pod: PodInfo) -> tuple[bool, int, float]:
        return bool(violating_pods(cluster, [pod])), *importance(pod)

    return key


def candidate(
    cluster: ClusterView,
    node_name: str,
    removed: Sequence[PodInfo],
    remove: Callable[[PodInfo], None],
    restore: Callable[[PodInfo], None],
    fits: Callable[[], bool],
) -> Candidate | None:
    """Return a node with the necessary victims, most important first; `removed` are all possible ones, in order.

    Pods whose eviction would violate a PodDisruptionBudget are put back first. None if no eviction is necessary.
    """
    important = list(reversed(removed))
    violating = violating_pods(cluster, important)
    victims = []
    # the sort is stable
    for pod in sorted(important, key=lambda pod: pod.uid not in violating):
        restore(pod)
        if not fits():
            remove(pod)
            victims.append(pod)
    victims.sort(key=importance, reverse=True)
    violations = sum(pod.uid in violating for pod in victims)
    return Candidate(node_name, tuple(victims), violations) if victims else None


def violating_pods(cluster: ClusterView, pods: Iterable[PodInfo]) -> set[str]:
    """Return the UIDs of the pods whose eviction, in this order, violates a PodDisruptionBudget."""
    left: dict[str, int] = {}
    found = set()
    for pod in pods:
        for budget in cluster.budgets_of(pod):
            # a pod that is being disrupted is counted already
            if pod.name not in budget.status.disrupted_pods:
                left[budget.full_name] = left.get(budget.full_name, budget.status.disruptions_allowed) - 1
                if left[budget.full_name] < 0:
                    found.add(pod.uid)
    return found
