"""LowRiskOverCommitment: prefer nodes where limits beyond requests are unlikely to be needed at once.

From requests, limits and the measured load of nodes to scores. For CPU and memory two risks are weighted: that limits
exceed the node's capacity (the share of limits beyond requests that the node lacks), and that the load exceeds the
requests (by a beta distribution with the measured average and deviation). A node's score is 100 times one minus the
larger one; 0 for a node without metrics, and for pods without requests and limits.
"""

import logging
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    SKIP,
    Background,
    ClusterView,
    CycleState,
    HttpClient,
    Nodes,
    NodeValues,
    PluginMetrics,
    PodInfo,
    PodSums,
    PreScorePlugin,
    Reads,
    Status,
)
from kubesched_contrib.trimaran.arguments import TrimaranArgs
from kubesched_contrib.trimaran.beta_distribution import Array, at_most_possible, probability_below
from kubesched_contrib.trimaran.collector import LoadCollector, LoadScore, rounded
from kubesched_contrib.trimaran.node_loads import CPU, MEMORY

RESOURCES = (CPU, MEMORY)


@dataclass(frozen=True)
class LowRiskOverCommitmentArgs(TrimaranArgs):
    """Arguments of LowRiskOverCommitment."""

    # number of windows over which metrics are smoothed
    smoothing_window_size: int = 5
    # weight of limits against the load, between 0 and 1
    risk_limit_weights: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RESOURCES, 0.5))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothing_window_size < 1:
            raise ValueError(f"smoothingWindowSize: must be at least 1, got {self.smoothing_window_size}")
        for resource, weight in self.risk_limit_weights.items():
            if resource not in RESOURCES:
                raise ValueError(f"riskLimitWeights.{resource}: only cpu and memory have weights; leave it out")
            if not 0 <= weight <= 1:
                raise ValueError(f"riskLimitWeights.{resource}: must be between 0 and 1, got {weight}")


class LowRiskOverCommitment(LoadScore, PreScorePlugin):
    """Prefers nodes with little risk that pods cannot use their limits."""

    name = "LowRiskOverCommitment"

    def __init__(
        self,
        args: LowRiskOverCommitmentArgs,
        cluster: ClusterView,
        background: Background,
        http: HttpClient,
        log: logging.Logger,
        metrics: PluginMetrics,
    ) -> None:
        self._smoothing = args.smoothing_window_size**0.5
        self._weights = {resource: args.risk_limit_weights.get(resource, 0.5) for resource in RESOURCES}
        self._loads = LoadCollector(args, cluster, background, http, log, metrics)
        self._limits: dict[str, PodSums] = {
            resource: cluster.pod_sums(partial(PodInfo.derive, function=limit), reads=Reads.PODS | Reads.RESOURCES)
            for resource, limit in LIMITS.items()
        }
        self._load_risks: dict[str, NodeValues] = {
            resource: cluster.computed_values(
                partial(self._load_risk, resource=resource),
                reads=self._loads.reads | self._limits[resource].reads | Reads.RESOURCES,
                dtype=np.float64,
            )
            for resource in RESOURCES
        }
        self.score_reads: int = self._load_risks[CPU].reads | self._load_risks[MEMORY].reads

    def score_key(self, pod: PodInfo) -> tuple[int, ...]:
        """Return the pod's requests and limits."""
        return (*map(pod.request_of, RESOURCES), *map(pod.derive, LIMITS.values()))

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Skip pods without requests and limits; all nodes would score 0."""
        return None if any(self.score_key(pod)) else SKIP

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return 100 less the larger risk."""
        if not any(self.score_key(pod)):
            return np.zeros(len(nodes), np.int64)
        risk = np.maximum(self._risk(pod, nodes, CPU), self._risk(pod, nodes, MEMORY))
        measured = ~np.isnan(nodes.values_of(self._loads.averages[CPU]))
        measured |= ~np.isnan(nodes.values_of(self._loads.averages[MEMORY]))
        return rounded(np.where(measured, 100 * (1 - risk), 0.0))

    def _risk(self, pod: PodInfo, nodes: Nodes, resource: str) -> Array:
        """Return the weighted risk of a resource with the pod on the node."""
        capacity = nodes.allocatable(resource)
        request = np.minimum(nodes.requested(resource) + pod.request_of(resource), capacity)
        limit = nodes.values_of(self._limits[resource]) + pod.derive(LIMITS[resource])
        by_limits = np.zeros(len(nodes))
        np.divide(limit - capacity, limit - request, out=by_limits, where=limit > capacity)
        weight = self._weights[resource]
        risk: Array = (weight * by_limits + (1 - weight) * nodes.values_of(self._load_risks[resource])).clip(0, 1)
        return risk

    def _load_risk(self, nodes: Nodes, resource: str) -> Array:
        """Return the probability that the load exceeds the requests of the node's pods; 0 without metrics."""
        capacity = nodes.allocatable(resource)
        average = nodes.values_of(self._loads.averages[resource]) / 100
        mean = np.nan_to_num(average).clip(0, 1)
        spread = np.nan_to_num(nodes.values_of(self._loads.deviations[resource]) / 100).clip(0, 1)
        deviation = at_most_possible(mean, spread * self._smoothing)
        requested = _share(np.minimum(nodes.requested(resource), capacity), capacity)
        limited = nodes.values_of(self._limits[resource])
        below = np.where(mean <= requested, 1.0, 0.0)
        varies = (mean > 0) & (deviation > 0)
        below[varies] = probability_below(requested[varies], mean[varies], deviation[varies])
        # the load cannot exceed limits within the node's capacity
        bounded = limited < capacity
        within = varies & bounded & (limited > 0)
        most = probability_below(_share(limited, capacity)[within], mean[within], deviation[within])
        below[within] = (below[within] / np.where(most > 0, most, 1)).clip(0, 1)
        below[bounded & (limited == 0)] = 1
        below[mean == 0] = 1
        risk: Array = np.where(np.isnan(average), 0.0, 1 - below)
        return risk


def cpu_limit(pod: PodInfo) -> int:
    """Return a pod's limit of CPU, at least its request."""
    return max(pod.limits.get(CPU, 0), pod.request_of(CPU))


def memory_limit(pod: PodInfo) -> int:
    """Return a pod's limit of memory, at least its request."""
    return max(pod.limits.get(MEMORY, 0), pod.request_of(MEMORY))


# each is computed once for the pods of a template
LIMITS = {CPU: cpu_limit, MEMORY: memory_limit}


def _share(amounts: NDArray[np.int64], capacity: NDArray[np.int64]) -> Array:
    share: Array = np.divide(amounts, capacity, out=np.zeros(len(amounts)), where=capacity > 0).clip(0, 1)
    return share
