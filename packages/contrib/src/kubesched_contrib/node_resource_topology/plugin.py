"""NodeResourceTopologyMatch: only nodes that can serve a pod from one NUMA zone, if their kubelet requires it.

From NodeResourceTopology objects and the pods on nodes to verdicts and scores. The available amounts of an object are
as old as the object: pods on the node that it cannot count yet are subtracted from all zones, since the kubelet's
choice of a zone is unknown. Such a pod has not started, or started after the last write of the object. So the plugin
has no state that a restart could lose.
"""

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    Action,
    ClusterEvent,
    ClusterView,
    CycleState,
    FilterPlugin,
    Nodes,
    NodeValues,
    PodInfo,
    PostBindPlugin,
    Reads,
    Registration,
    ReservePlugin,
    Resource,
    ScorePlugin,
    Status,
    Verdict,
    unschedulable,
)
from kubesched_contrib.node_resource_topology.args import NodeResourceTopologyMatchArgs
from kubesched_contrib.node_resource_topology.free_zones import Counts, FreeZones, in_any_zone
from kubesched_contrib.node_resource_topology.least_numa_nodes import least_numa_scores
from kubesched_contrib.node_resource_topology.pod_demand import (
    Amounts,
    ContainerKind,
    PodDemand,
    demand_of,
    exclusive_amounts,
)
from kubesched_contrib.node_resource_topology.topology import KIND, TopologyScope
from kubesched_contrib.node_resource_topology.zone_scores import (
    MAX_SCORE,
    balanced_allocation,
    least_allocated,
    most_allocated,
    node_scores,
)
from kubesched_contrib.node_resource_topology.zone_table import MOST_RESOURCES, ZoneTable

CANNOT_ALIGN = {
    ContainerKind.INIT: unschedulable("cannot align init container"),
    ContainerKind.SIDECAR: unschedulable("cannot align sidecar container"),
    ContainerKind.APP: unschedulable("cannot align container"),
}
CANNOT_ALIGN_POD = unschedulable("cannot align pod")
STALE = unschedulable("invalid node topology data")
STRATEGIES = {
    "LeastAllocated": least_allocated,
    "MostAllocated": most_allocated,
    "BalancedAllocation": balanced_allocation,
}
ANY_RESOURCE = ""


class NodeResourceTopologyMatch(FilterPlugin, ScorePlugin, ReservePlugin, PostBindPlugin):
    """Filters and scores nodes by their NUMA zones; without state for Reserve or PostBind."""

    name = "NodeResourceTopologyMatch"
    looks_up = (KIND,)
    key_of_template = True
    score_key_of_template = True
    in_range = True

    def __init__(self, cluster: ClusterView, args: NodeResourceTopologyMatchArgs | None = None) -> None:
        args = args or NodeResourceTopologyMatchArgs()
        self._cluster = cluster
        self._discard = args.discard_reserved_nodes
        self._weights = args.scoring_strategy.weights()
        self._strategy = args.scoring_strategy.type
        self._zones = ZoneTable(lambda: (obj.name for obj in cluster.all(KIND)))
        self._slots = cluster.object_values(KIND, node_of=lambda obj: str(obj.name), value_of=self._zones.put)
        # by resource: the requests that the objects do not count yet
        self._uncounted: dict[str, NodeValues] = {}
        self.reads = self.score_reads = self._uncounted_of(ANY_RESOURCE).reads

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that free resources in a zone."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN)),
            Registration(ClusterEvent(Resource.NODE, Action.ADD)),
            Registration(ClusterEvent(KIND, Action.ALL)),
        )

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Do nothing: the pod counts as soon as it is on the node."""
        return None

    async def post_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Do nothing: the pod counts until the object counts it."""

    # -- Filter

    def key(self, pod: PodInfo) -> Hashable:
        """Return the pod's demand on zones."""
        return demand_of(pod)

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject nodes without a zone that satisfies a container, or the pod."""
        demand = demand_of(pod)
        verdict = Verdict.uniform(len(nodes), None)
        if not demand.concerned:
            return verdict
        slots = nodes.values_of(self._slots)
        objections = [(self._stale(nodes, slots), STALE)] if self._discard else []
        scopes = np.where(self._zones.single[slots], self._zones.scopes[slots], TopologyScope.NOTHING)
        by_pod = np.flatnonzero(scopes == TopologyScope.POD)
        if len(by_pod):
            zones = self._free(nodes, slots, by_pod)
            fit = zones.fitting(demand.whole, guaranteed=demand.guaranteed)
            objections.append((_among(len(nodes), by_pod, ~in_any_zone(fit)), CANNOT_ALIGN_POD))
        by_container = np.flatnonzero(scopes == TopologyScope.CONTAINER)
        if len(by_container):
            zones = self._free(nodes, slots, by_container)
            for kind, rejected in _unaligned(zones, demand):
                objections.append((_among(len(nodes), by_container, rejected), CANNOT_ALIGN[kind]))
        return Verdict.first_of(len(nodes), *objections) if objections else verdict

    def _stale(self, nodes: Nodes, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (slots > 0) & (nodes.values_of(self._uncounted_of(ANY_RESOURCE)) > 0)

    def _free(self, nodes: Nodes, slots: NDArray[np.int64], places: NDArray[np.intp]) -> FreeZones:
        every = len(places) == len(nodes)

        def taken(resource: str) -> Counts:
            counts: Counts = nodes.values_of(self._uncounted_of(resource))
            return counts if every else counts[places]

        return FreeZones(self._zones, slots if every else slots[places], taken)

    def _uncounted_of(self, resource: str) -> NodeValues:
        column = self._uncounted.get(resource)
        if column is None:
            if len(self._uncounted) > MOST_RESOURCES:
                self._uncounted.clear()
            amount_of = partial(self._uncounted_amount, resource)
            reads = Reads.PODS | Reads.POD_OBJECTS | self._slots.reads
            column = self._uncounted[resource] = self._cluster.pod_sums(amount_of, reads=reads)
        return column

    def _uncounted_amount(self, resource: str, pod: PodInfo) -> int:
        """Return a pod's request for a resource (1 for any) that the node's object does not count yet."""
        amounts = exclusive_amounts(pod)
        amount = amounts.get(resource, 0) if resource else int(bool(amounts))
        started, node_name = pod.status.start_time, pod.spec.node_name
        # a pod in a what-if world has no node name
        if not amount or started is None or not node_name:
            return amount
        written = self._zones.last_write(node_name)
        # times are whole seconds: within one second the pod may be later than the object
        return amount if written is not None and started >= written else 0

    # -- Score

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the pod's demand on zones."""
        return demand_of(pod)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the scores of the strategy; for a pod that is not Guaranteed all nodes are equal."""
        demand = demand_of(pod)
        if not demand.guaranteed:
            return np.full(len(nodes), MAX_SCORE, np.int64)
        slots = nodes.values_of(self._slots)
        scopes = self._zones.scopes[slots]
        if self._strategy != "LeastNUMANodes":
            scopes = np.where(self._zones.single[slots], scopes, TopologyScope.NOTHING)
        if self._discard:
            scopes = np.where(self._stale(nodes, slots), TopologyScope.NOTHING, scopes)
        scores = np.zeros(len(nodes), np.int64)
        for scope, demands in (
            (TopologyScope.POD, [demand.whole]),
            (TopologyScope.CONTAINER, [container.requests for container in demand.containers]),
        ):
            places = np.flatnonzero(scopes == scope)
            if len(places):
                scores[places] = self._scores(self._free(nodes, slots, places), demands)
        return scores

    def _scores(self, zones: FreeZones, demands: list[Amounts]) -> Counts:
        if self._strategy == "LeastNUMANodes":
            return least_numa_scores(zones, demands)
        zone_score = STRATEGIES[self._strategy]
        total = np.zeros(len(zones.slots), np.int64)
        for requests in demands:
            total += node_scores(zones, requests, self._weights, zone_score)
        return total // max(len(demands), 1)


def _unaligned(zones: FreeZones, demand: PodDemand) -> list[tuple[ContainerKind, NDArray[np.bool_]]]:
    """Return, for each container in turn, the nodes without a zone that satisfies it.

    Init containers end before the others begin; requests of sidecars and containers reduce the amounts for later
    ones.
    """
    found = []
    for container in demand.containers:
        fit = zones.fitting(container.requests, guaranteed=demand.guaranteed)
        found.append((container.kind, ~in_any_zone(fit)))
        if container.kind is not ContainerKind.INIT and container is not demand.containers[-1]:
            # the kubelet takes the zone with the lowest number
            zones.subtract(container.requests, fit.argmax(axis=0), guaranteed=demand.guaranteed)
    return found


def _among(count: int, places: NDArray[np.intp], mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask over some places as a mask over all."""
    everywhere = np.zeros(count, np.bool_)
    everywhere[places] = mask
    return everywhere
