"""CapacityScheduling: namespaces share a cluster by ElasticQuotas.

From the quota of a pod's namespace to whether the pod may be tried: never beyond `max`, and beyond `min` only while
other namespaces leave their own `min` unused. From a pod without a node to victims: pods of borrowing namespaces, if
the pod's namespace is within its `min`; else less important pods of the same namespace.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kubesched import (
    SUCCESS,
    Action,
    Background,
    Candidate,
    ClusterEvent,
    ClusterView,
    Code,
    CycleState,
    Hint,
    NodeRow,
    NodeTrial,
    NodeVerdicts,
    ObjectWriter,
    PodInfo,
    PostFilterResult,
    PreFilterPlugin,
    Registration,
    Resource,
    RunningPreemptions,
    Status,
    unschedulable,
)
from kubesched_contrib.capacity_scheduling.quotas import KIND, Amounts, ElasticQuotas, QuotaUsage
from kubesched_contrib.capacity_scheduling.status import ElasticQuotaStatuses
from kubesched_contrib.victims import BUDGETS, PreemptingPlugin, candidate, eviction_order

NOMINATED = "nominated"
NOBODY_TO_EVICT = "no node has pods whose eviction helps within the quotas"


class Demand(NamedTuple):
    """The request of a pod and of nominated pods together: in its own quota, and in all."""

    own: Amounts
    total: Amounts


class CapacityScheduling(PreemptingPlugin, PreFilterPlugin):
    """Keeps namespaces within their quotas, and reclaims borrowed resources."""

    name = "CapacityScheduling"
    looks_up = (KIND, BUDGETS)
    writes = (f"{KIND}/status",)

    def __init__(
        self, cluster: ClusterView, preemptions: RunningPreemptions, background: Background, writer: ObjectWriter
    ) -> None:
        super().__init__(cluster, preemptions)
        self._owned = cluster.index(KIND, lambda quota: [quota.metadata.namespace])
        self._totals = cluster.pod_totals(lambda pod: pod.namespace)
        self._quotas = ElasticQuotas(())
        ElasticQuotaStatuses(cluster, self._totals, background, writer)
        # victim -> preemptor, by UID, while the victim is being evicted; the API server's report comes later
        self._evicted_for: dict[str, str] = {}
        self._nominated = cluster.pod_index(lambda pod: [NOMINATED] if pod.status.nominated_node_name else [])

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that free capacity in a quota."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN), self._after_pod),
            Registration(ClusterEvent(KIND, Action.ALL), after_quota),
        )

    def _after_pod(self, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
        """Return whether a deleted or smaller pod frees capacity in a quota: its namespace must have one."""
        changed = old or new
        return Hint.when(changed is not None and changed.namespace in self._owned)

    # -- PreFilter

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Reject a pod that would take its quota beyond max, or all quotas together beyond the sum of their mins."""
        if pod.namespace not in self._owned:
            return None
        usage = self._usage()
        demand = self._demand(usage, pod)
        if usage.over_max(pod.namespace, demand.own):
            return unschedulable(
                f"Pod {pod.full_name} is rejected in PreFilter because ElasticQuota {pod.namespace} is more than Max"
            )
        if usage.over_total_min(demand.total):
            return unschedulable(
                f"Pod {pod.full_name} is rejected in PreFilter because total ElasticQuota used is more than min"
            )
        return None

    def _usage(self) -> QuotaUsage:
        """Return the current usage of the quotas."""
        objects = self._cluster.all(KIND)
        if not self._quotas.are_of(objects):
            self._quotas = ElasticQuotas(objects)
        return QuotaUsage(self._quotas, self._totals)

    def _demand(self, usage: QuotaUsage, pod: PodInfo) -> Demand:
        """Return the request of a pod and of the nominated pods before it."""
        own, total = Counter(pod.requests), Counter(pod.requests)
        on_nodes = self._cluster.pods
        reported = {other.uid: other for other in self._nominated[NOMINATED]}
        promised = {uid: self._cluster.pending[uid] for uid in self._leaving().values() if uid in self._cluster.pending}
        for other in {**reported, **promised}.values():
            if other.namespace not in usage or other.uid == pod.uid or other.uid in on_nodes:
                continue
            if other.namespace != pod.namespace:
                if not usage.over_min(other.namespace, other.requests):
                    total.update(other.requests)
            elif other.priority >= pod.priority:
                own.update(other.requests)
                total.update(other.requests)
        return Demand(own, total)

    # -- PostFilter

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Return the nodes on which evictions would help, and the best of them."""
        usage = self._usage()
        demand = self._demand(usage, pod)
        refusal = self.refusal(pod, lambda node: _potential_victims(self._cluster, usage, pod, node, demand))
        if refusal:
            return PostFilterResult(unschedulable(f"preemption: {refusal}"))
        leaving = [self._cluster.pods[uid] for uid in self._leaving()]
        for victim in leaving:
            usage.remove(victim)
        candidates = [
            found
            for node in self._cluster.nodes
            if verdicts.of(node).code is Code.UNSCHEDULABLE
            and (found := _candidate(self._cluster, cycle, pod, node, usage.copy(), demand, leaving)) is not None
        ]
        if not candidates:
            return PostFilterResult(unschedulable(f"preemption: {NOBODY_TO_EVICT}"))
        best = self._cluster.best_candidates(candidates)[0]
        victims = next(each.victims for each in candidates if each.node_name == best)
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


def after_quota(pod: PodInfo, old: Any, new: Any) -> Hint:
    """Return whether a quota was created, deleted or changed in more than its status."""
    return Hint.when(old is None or new is None or old.spec != new.spec)


def _candidate(
    cluster: ClusterView,
    cycle: CycleState,
    pod: PodInfo,
    node: NodeRow,
    usage: QuotaUsage,
    demand: Demand,
    leaving: Sequence[PodInfo],
) -> Candidate | None:
    """Return the victims on a node, None if evicting all of them does not help.

    The usage is changed. Victims of other preemptors count as deleted, in the usage and on the node.
    """

    def allowed() -> bool:
        return pod.namespace not in usage or not (
            usage.over_max(pod.namespace, demand.own) or usage.over_total_min(demand.total)
        )

    trial = NodeTrial(cycle, node)
    gone = {victim.uid for victim in leaving}
    for victim in leaving:
        if victim.spec.node_name == node.name:
            trial.remove(victim)
    potential = []
    for victim in _potential_victims(cluster, usage, pod, node, demand):
        if victim.uid in gone:
            continue
        potential.append(victim)
        trial.remove(victim)
        usage.remove(victim)
    if not potential or not trial.fits or not allowed():
        return None

    def remove(victim: PodInfo) -> None:
        trial.remove(victim)
        usage.remove(victim)

    def restore(victim: PodInfo) -> None:
        trial.restore(victim)
        usage.restore(victim)

    return candidate(cluster, node.name, potential, remove, restore, lambda: trial.fits and allowed())


def _potential_victims(
    cluster: ClusterView, usage: QuotaUsage, pod: PodInfo, node: NodeRow, demand: Demand
) -> Iterator[PodInfo]:
    """Yield the pods on a node that may be evicted for a pod, in the order of eviction.

    If the caller removes each pod from its quota, it stops at the quota's min.
    """
    own, names = pod.namespace, pod.requests
    borrowing = own in usage and usage.over_min(own, names, demand.own)
    for other in sorted(node.pods, key=eviction_order(cluster)):
        if own not in usage or other.namespace not in usage:
            # pods without a quota preempt only each other
            if own not in usage and other.namespace not in usage and other.priority < pod.priority:
                yield other
        elif other.namespace == own:
            if borrowing and other.priority < pod.priority:
                yield other
        elif not borrowing and usage.over_min(other.namespace, names):
            yield other
