"""NetworkOverhead: place a pod near to the pods that its workload depends on.

From the dependencies in a pod's AppGroup and the costs in the NetworkTopology to verdicts and scores. A pod on a node
that the workload depends on is satisfied if it is on the same node, in the same zone, or within `maxNetworkCost`. A
node with more violated than satisfied dependencies is rejected; among the remaining nodes the lowest sum of costs is
best. Nodes of one region and zone differ only by their own pods.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from logging import Logger
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    SKIP,
    Action,
    ClusterEvent,
    ClusterView,
    CycleState,
    FilterPlugin,
    Hint,
    NodeRow,
    Nodes,
    PodInfo,
    PodMatcher,
    PreFilterPlugin,
    Registration,
    Resource,
    ScorePlugin,
    StateKey,
    Status,
    Verdict,
    unschedulable,
)
from kubesched_contrib.network_aware.app_group import KIND as APP_GROUP
from kubesched_contrib.network_aware.app_group import (
    LABEL,
    WORKLOAD_LABEL,
    WorkloadDependency,
    group_of,
    read_app_group,
    workload_of,
)
from kubesched_contrib.network_aware.network_topology import KIND as NETWORK_TOPOLOGY
from kubesched_contrib.network_aware.network_topology import (
    MAX_COST,
    REGION_KEY,
    SAME_ZONE,
    ZONE_KEY,
    NetworkCosts,
    NetworkLocation,
    read_network_costs,
)
from kubesched_contrib.read_objects import ReadObjects

TOO_FAR = unschedulable("node(s) did not meet several network requirements from Workload dependencies")
NOWHERE = NetworkLocation("", "")
MAX_SCORE = 100
MOST_MATCHERS = 4096
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class NetworkOverheadArgs:
    """The namespaces of AppGroups and the NetworkTopology, and which of its weights apply."""

    namespaces: tuple[str, ...] = field(default=("default",))
    weights_name: str = "UserDefined"
    network_topology_name: str = "nt-default"

    def __post_init__(self) -> None:
        if not self.namespaces:
            raise ValueError("namespaces: the list is empty; name a namespace, or leave the field out")


class PlacedDependencies(NamedTuple):
    """The dependencies of a pod, and the locations of their pods; no hook changes either."""

    group: str
    dependencies: tuple[WorkloadDependency, ...]
    costs: NetworkCosts
    pods: Mapping[NetworkLocation, Counter[str]]

    def with_pod(self, pod: PodInfo, location: NetworkLocation, sign: int) -> "PlacedDependencies":
        """Return a copy with a pod added to (or removed from) a location."""
        selector = workload_of(pod)
        if group_of(pod) != self.group or all(each.selector != selector for each in self.dependencies):
            return self
        changed = Counter(self.pods.get(location, {}))
        changed[selector] += sign
        return self._replace(pods={**self.pods, location: changed})


class Reach(NamedTuple):
    """The state of a pod's dependencies as seen from a location."""

    satisfied: int
    violated: int
    cost: int


PLACED = StateKey[PlacedDependencies]("NetworkOverhead")


class NetworkOverhead(PreFilterPlugin, FilterPlugin, ScorePlugin):
    """Filters and scores nodes by the network between a pod and its dependencies."""

    name = "NetworkOverhead"
    looks_up = (APP_GROUP, NETWORK_TOPOLOGY)
    in_range = True

    def __init__(self, cluster: ClusterView, log: Logger, args: NetworkOverheadArgs | None = None) -> None:
        args = args or NetworkOverheadArgs()
        self._cluster = cluster
        self._topology_name = args.network_topology_name

        def read_costs(obj: Any) -> NetworkCosts:
            return read_network_costs(obj, args.weights_name)

        self._namespaces = args.namespaces
        self._groups = ReadObjects(cluster, APP_GROUP, read_app_group, log)
        self._topologies = ReadObjects(cluster, NETWORK_TOPOLOGY, read_costs, log)
        # counts of pods are updated as long as their matcher exists
        self._matchers: dict[tuple[str, str], PodMatcher] = {}

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that bring dependencies nearer, or remove distant ones."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
        return (
            Registration(ClusterEvent(Resource.POD, pods), after_pod_of_the_group),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL)),
            Registration(ClusterEvent(APP_GROUP, Action.ALL)),
            Registration(ClusterEvent(NETWORK_TOPOLOGY, Action.ALL)),
        )

    # -- PreFilter

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Find the pods that the pod depends on; without such pods every node is possible."""
        group = group_of(pod)
        spec = self._groups.first_of(self._namespaces, group) if group else None
        dependencies = spec.dependencies.get(workload_of(pod), ()) if spec else ()
        costs = self._topologies.first_of(self._namespaces, self._topology_name) if dependencies else None
        if costs is None:
            return SKIP
        nodes = self._cluster.nodes
        locations, which = _locations(nodes)
        pods: dict[NetworkLocation, Counter[str]] = {}
        for selector in {each.selector for each in dependencies}:
            counts = np.bincount(which, nodes.count_pods(self._matcher(group, selector)), len(locations))
            for place in np.flatnonzero(counts).tolist():
                pods.setdefault(locations[place], Counter())[selector] = int(counts[place])
        if not pods:
            return SKIP
        cycle.write(PLACED, PlacedDependencies(group, dependencies, costs, pods))
        return None

    def add_pod(self, cycle: CycleState, pod: PodInfo, added: PodInfo, node: NodeRow) -> Status | None:
        """Count a pod on a node of a what-if world."""
        self._change(cycle, added, node, 1)
        return None

    def remove_pod(self, cycle: CycleState, pod: PodInfo, removed: PodInfo, node: NodeRow) -> Status | None:
        """Remove a pod from the count on a node of a what-if world."""
        self._change(cycle, removed, node, -1)
        return None

    def _change(self, cycle: CycleState, other: PodInfo, node: NodeRow, sign: int) -> None:
        placed = cycle.get(PLACED)
        if placed is not None:
            location = NetworkLocation(node.labels.get(REGION_KEY, ""), node.labels.get(ZONE_KEY, ""))
            cycle.write(PLACED, placed.with_pod(other, location, sign))

    def _matcher(self, group: str, selector: str) -> PodMatcher:
        matcher = self._matchers.get((group, selector))
        if matcher is None:
            if len(self._matchers) >= MOST_MATCHERS:
                self._matchers.clear()
            matcher = PodMatcher({LABEL: group, WORKLOAD_LABEL: selector})
            self._matchers[group, selector] = matcher
        return matcher

    # -- Filter and Score

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject nodes on which more dependencies are violated than satisfied."""
        placed = cycle.get(PLACED)
        if placed is None:
            return Verdict.uniform(len(nodes), None)
        satisfied, violated, _ = self._reach(placed, nodes)
        return Verdict.rejecting(violated > satisfied, TOO_FAR)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Counts:
        """Return the sum of the costs to all pods that the pod depends on."""
        placed = cycle.get(PLACED)
        return np.zeros(len(nodes), np.int64) if placed is None else self._reach(placed, nodes)[2]

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: Counts) -> Counts:
        """Return 100 for the lowest cost, 0 for the highest; without costs 0 for all."""
        lowest, highest = int(scores.min(initial=2**62)), int(scores.max(initial=0))
        if not highest:
            return np.zeros_like(scores)
        return MAX_SCORE - (scores - lowest) * MAX_SCORE // max(highest - lowest, 1)

    def _reach(self, placed: PlacedDependencies, nodes: Nodes) -> tuple[Counts, Counts, Counts]:
        """Return how many dependencies are satisfied and violated on each node, and their costs."""
        locations, which = _locations(nodes)
        by_location = np.array([_reach_from(here, placed) for here in locations], np.int64).reshape(-1, 3)
        satisfied, violated, cost = by_location[which].T.copy()
        unlabelled = np.array([here == NOWHERE for here in locations], np.bool_)[which]
        for dependency in placed.dependencies:
            # pods on the node itself were counted like those of another node of its region and zone
            own = nodes.count_pods(self._matcher(placed.group, dependency.selector))
            lost = np.where(unlabelled, own, 0)
            satisfied += lost
            violated -= lost
            cost -= np.where(unlabelled, MAX_COST, SAME_ZONE) * own
        return satisfied, violated, cost


def _locations(nodes: Nodes) -> tuple[list[NetworkLocation], NDArray[np.intp]]:
    """Return the locations of some nodes, and the index of each node's location."""
    regions, zones = nodes.label_values(REGION_KEY), nodes.label_values(ZONE_KEY)
    codes = nodes.label_codes(REGION_KEY).astype(np.int64) * len(zones) + nodes.label_codes(ZONE_KEY)
    present = np.zeros(len(regions) * len(zones), np.bool_)
    present[codes] = True
    found = [divmod(code, len(zones)) for code in np.flatnonzero(present).tolist()]
    return [NetworkLocation(regions[region], zones[zone]) for region, zone in found], (np.cumsum(present) - 1)[codes]


def _reach_from(here: NetworkLocation, placed: PlacedDependencies) -> Reach:
    """Return the dependencies' state for a node of a location that has none of their pods."""
    satisfied = violated = cost = 0
    for there, pods in placed.pods.items():
        between = None if there == NOWHERE else placed.costs.between(here, there)
        for dependency in placed.dependencies:
            count = pods[dependency.selector]
            cost += count * (MAX_COST if between is None else between)
            if there == NOWHERE or (between is not None and here != there and between > dependency.max_network_cost):
                violated += count
            elif between is not None:
                satisfied += count
    return Reach(satisfied, violated, cost)


def after_pod_of_the_group(pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
    """Return whether a created, deleted or relabelled pod is of the same AppGroup."""
    return Hint.when(any(each is not None and group_of(each) == group_of(pod) for each in (old, new)))
