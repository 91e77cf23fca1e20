"""Preemption by plugins that choose victims by rules of their own: who may preempt, and who has to go.

From a pod that found no node to a refusal, or to those of the pods that may be evicted whose eviction is necessary.
"""

from collections.abc import Callable, Iterable, Sequence

from kubesched import (
    ClusterView,
    NodeRow,
    PodInfo,
    PostFilterPlugin,
    PreEnqueuePlugin,
    RunningPreemptions,
    Status,
    unresolvable,
)


class PreemptingPlugin(PreEnqueuePlugin, PostFilterPlugin):
    """Base of plugins that preempt: a pod is not tried again before its victims are gone."""

    def __init__(self, cluster: ClusterView, preemptions: RunningPreemptions) -> None:
        self._cluster = cluster
        self._preemptions = preemptions

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Hold a pod back while its victims are being evicted."""
        if self._preemptions.holds(pod.uid):
            return unresolvable("waiting for the preemption for this pod to be finished")
        return None

    def refusal(self, pod: PodInfo, potential_victims: Callable[[NodeRow], Iterable[PodInfo]]) -> str:
        """Return why a pod may not preempt, an empty text if it may; `potential_victims` are those on a node."""
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        node = self._cluster.node(pod.status.nominated_node_name)
        if node is not None and any(victim.terminating for victim in potential_victims(node)):
            return "not eligible due to a terminating pod on the nominated node."
        return ""


def importance(pod: PodInfo) -> tuple[int, float]:
    """Return a key by which less important pods come first: lower priority, then the later start."""
    started = pod.status.start_time
    return pod.priority, -started.timestamp() if started is not None else float("-inf")


def necessary_victims(
    removed: Sequence[PodInfo],
    remove: Callable[[PodInfo], None],
    restore: Callable[[PodInfo], None],
    fits: Callable[[], bool],
) -> tuple[PodInfo, ...]:
    """Return who has to go, most important first; `removed` are all who may, least important first."""
    victims = []
    for pod in reversed(removed):
        restore(pod)
        if not fits():
            remove(pod)
            victims.append(pod)
    return tuple(victims)
