"""CapacityScheduling: namespaces share a cluster by ElasticQuotas.

From the quota of a pod's namespace to whether it may be tried: never beyond `max`, and beyond `min` only as far as
others leave their own `min` unused. From a pod that found no room to victims: those who borrowed, if the pod's
namespace is within its `min`; else less important pods of the same namespace.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kubesched import (
    SUCCESS,
    Action,
    Candidate,
    ClusterEvent,
    ClusterView,
    Code,
    CycleState,
    Hint,
    NodeRow,
    NodeTrial,
    NodeVerdicts,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    PreFilterPlugin,
    Registration,
    Resource,
    RunningPreemptions,
    Status,
    unresolvable,
    unschedulable,
)
from kubesched_contrib.capacity_scheduling.quotas import KIND, Amounts, Quotas, quotas_of, requests_of
from kubesched_contrib.victims import importance, necessary_victims

NOMINATED = "nominated"
NOBODY_TO_EVICT = "no node has pods whose eviction helps within the quotas"


class Demand(NamedTuple):
    """A pod's request together with those of pods that are nominated: in its own quota, and in all."""

    own: Amounts
    total: Amounts


class CapacityScheduling(PreEnqueuePlugin, PreFilterPlugin, PostFilterPlugin):
    """Keeps namespaces within their quotas, and takes back what others borrowed."""

    name = "CapacityScheduling"
    looks_up = (KIND,)

    def __init__(self, cluster: ClusterView, preemptions: RunningPreemptions) -> None:
        self._cluster = cluster
        self._preemptions = preemptions
        # victim -> preemptor, by UID, as long as the victim is being evicted; what the API server reports comes later
        self._evicted_for: dict[str, str] = {}
        self._nominated = cluster.pod_index(lambda pod: [NOMINATED] if pod.status.nominated_node_name else [])

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that make room in a quota."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN), self._after_pod),
            Registration(ClusterEvent(KIND, Action.ALL)),
        )

    def _after_pod(self, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
        """Return whether a pod that went, or takes less, makes room in a quota: its namespace must have one."""
        changed = old or new
        return Hint.when(
            changed is not None
            and any(quota.metadata.namespace == changed.namespace for quota in self._cluster.all(KIND))
        )

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Hold a pod back while its victims are being evicted."""
        if self._preemptions.holds(pod.uid):
            return unresolvable("waiting for the preemption for this pod to be finished")
        return None

    # -- PreFilter

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Reject a pod with which its quota would exceed its max, or all quotas together the sum of their mins."""
        if all(quota.metadata.namespace != pod.namespace for quota in self._cluster.all(KIND)):
            return None
        quotas = self._quotas()
        quota = quotas.get(pod.namespace)
        assert quota is not None, "the namespace has one"
        demand = self._demand(quotas, pod)
        if quota.over_max(demand.own):
            return unschedulable(
                f"Pod {pod.full_name} is rejected in PreFilter because ElasticQuota {pod.namespace} is more than Max"
            )
        if quotas.over_total_min(demand.total):
            return unschedulable(
                f"Pod {pod.full_name} is rejected in PreFilter because total ElasticQuota used is more than min"
            )
        return None

    def _quotas(self) -> Quotas:
        return quotas_of(self._cluster.all(KIND), self._cluster.pods.values())

    def _demand(self, quotas: Quotas, pod: PodInfo) -> Demand:
        """Return a pod's request with those of nominated pods that come before it."""
        own, total = Counter(requests_of(pod)), Counter(requests_of(pod))
        on_nodes = self._cluster.pods
        reported = {other.uid: other for other in self._nominated[NOMINATED]}
        promised = {uid: self._cluster.pending[uid] for uid in self._leaving().values() if uid in self._cluster.pending}
        for other in {**reported, **promised}.values():
            quota = quotas.get(other.namespace)
            if quota is None or other.uid == pod.uid or other.uid in on_nodes:
                continue
            if other.namespace != pod.namespace:
                if not quota.over_min(requests_of(other)):
                    total.update(requests_of(other))
            elif other.priority >= pod.priority:
                own.update(requests_of(other))
                total.update(requests_of(other))
        return Demand(own, total)

    # -- PostFilter

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Return the nodes on which evictions would help, and the best of them."""
        quotas = self._quotas()
        demand = self._demand(quotas, pod)
        refusal = self._refusal(quotas, pod, demand)
        if refusal:
            return PostFilterResult(unschedulable(f"preemption: {refusal}"))
        leaving = [self._cluster.pods[uid] for uid in self._leaving()]
        for victim in leaving:
            quotas.remove(victim)
        candidates = [
            candidate
            for node in self._cluster.nodes
            if verdicts.of(node).code is Code.UNSCHEDULABLE
            and (candidate := _candidate(cycle, pod, node, quotas.copy(), demand, leaving)) is not None
        ]
        if not candidates:
            return PostFilterResult(unschedulable(f"preemption: {NOBODY_TO_EVICT}"))
        best = self._cluster.best_candidates(candidates)[0]
        victims = next(candidate.victims for candidate in candidates if candidate.node_name == best)
        self._evicted_for.update({victim.uid: pod.uid for victim in victims})
        return PostFilterResult(SUCCESS, best, candidates)

    def _leaving(self) -> dict[str, str]:
        """Return the victims that are still being evicted, each with its preemptor."""
        on_nodes, holds = self._cluster.pods, self._preemptions.holds
        self._evicted_for = {
            victim: preemptor
            for victim, preemptor in self._evicted_for.items()
            if victim in on_nodes and (holds(preemptor) or on_nodes[victim].terminating)
        }
        return self._evicted_for

    def _refusal(self, quotas: Quotas, pod: PodInfo, demand: Demand) -> str:
        """Return why a pod may not preempt, or an empty text."""
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        node = self._cluster.node(pod.status.nominated_node_name)
        if node is not None:
            leaving = [other for other in _potential_victims(quotas, pod, node, demand) if other.terminating]
            if leaving:
                return "not eligible due to a terminating pod on the nominated node."
        return ""


def _candidate(
    cycle: CycleState, pod: PodInfo, node: NodeRow, quotas: Quotas, demand: Demand, leaving: Sequence[PodInfo]
) -> Candidate | None:
    """Return the victims on a node, None if evicting all of them does not help.

    The quotas are changed. Pods that are leaving for others are gone, there and on the node.
    """
    own = quotas.get(pod.namespace)

    def allowed() -> bool:
        return own is None or not (own.over_max(demand.own) or quotas.over_total_min(demand.total))

    trial = NodeTrial(cycle, node)
    gone = {victim.uid for victim in leaving}
    for victim in leaving:
        if victim.spec.node_name == node.name:
            trial.remove(victim)
    potential = []
    for victim in _potential_victims(quotas, pod, node, demand):
        if victim.uid in gone:
            continue
        potential.append(victim)
        trial.remove(victim)
        quotas.remove(victim)
    if not potential or not trial.fits or not allowed():
        return None

    def remove(victim: PodInfo) -> None:
        trial.remove(victim)
        quotas.remove(victim)

    def restore(victim: PodInfo) -> None:
        trial.restore(victim)
        quotas.restore(victim)

    victims = necessary_victims(potential, remove, restore, lambda: trial.fits and allowed())
    return Candidate(node.name, victims, 0) if victims else None


def _potential_victims(quotas: Quotas, pod: PodInfo, node: NodeRow, demand: Demand) -> Iterator[PodInfo]:
    """Yield the pods on a node that may be evicted for a pod, the least important first.

    Whoever takes a pod off its quota meanwhile stops at the quota's min.
    """
    own = quotas.get(pod.namespace)
    names = requests_of(pod)
    borrowing = own is not None and own.over_min(names, demand.own)
    for other in sorted(node.pods, key=importance):
        quota = quotas.get(other.namespace)
        if own is None or quota is None:
            # pods without a quota are among themselves
            if own is quota and other.priority < pod.priority:
                yield other
        elif other.namespace == pod.namespace:
            if borrowing and other.priority < pod.priority:
                yield other
        elif not borrowing and quota.over_min(names):
            yield other
