"""TargetLoadPacking: pack pods by measured CPU up to a target utilization, then spread them over hot nodes.

From the measured CPU of nodes, the predicted usage of the pod and of pods too new for the metrics, to scores. With a
target T and a predicted utilization U in percent: T + (100 - T) * U / T up to the target, T * (100 - U) / (100 - T)
beyond it, and 0 beyond 100; 0 for a node without metrics.
"""

import logging
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    Background,
    ClusterView,
    CycleState,
    HttpClient,
    InvalidObjectError,
    Nodes,
    PluginMetrics,
    PodInfo,
    resource_amounts,
)
from kubesched_contrib.trimaran.arguments import TrimaranArgs
from kubesched_contrib.trimaran.collector import LoadCollector, LoadScore, capacity_of, rounded
from kubesched_contrib.trimaran.node_loads import CPU

# interval of the agents on nodes: a pod that started later is not in the metrics
REPORTING_SECONDS = 60


@dataclass(frozen=True)
class TargetLoadPackingArgs(TrimaranArgs):
    """Arguments of TargetLoadPacking."""

    # predicted usage of a container without CPU requests and limits
    default_requests: dict[str, str | int | float] = field(default_factory=lambda: {CPU: "1000m"})
    # predicted usage of a container without a CPU limit, in multiples of its request
    default_requests_multiplier: str = "1.5"
    target_utilization: int = 40

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            resource_amounts(self.default_requests)
        except InvalidObjectError as error:
            raise ValueError(f"defaultRequests.{error}") from None
        try:
            fine = 0 <= float(self.default_requests_multiplier) < float("inf")
        except ValueError:
            fine = False
        if not fine:
            raise ValueError('defaultRequestsMultiplier: write a number of at least 0 in quotes, such as "1.5"')
        if not 1 <= self.target_utilization <= 100:
            raise ValueError(f"targetUtilization: must be between 1 and 100, got {self.target_utilization}")


class TargetLoadPacking(LoadScore):
    """Prefers nodes whose CPU approaches the target with the pod."""

    name = "TargetLoadPacking"

    def __init__(
        self,
        args: TargetLoadPackingArgs,
        cluster: ClusterView,
        background: Background,
        http: HttpClient,
        log: logging.Logger,
        metrics: PluginMetrics,
    ) -> None:
        self._target = args.target_utilization
        self._without_requests = resource_amounts(args.default_requests).get(CPU, 0)
        self._multiplier = float(args.default_requests_multiplier)
        self._measured_until = float("-inf")
        self._loads = LoadCollector(args, cluster, background, http, log, metrics, self._renewed)
        self._used = self._loads.averages[CPU]
        self._capacity = capacity_of(cluster, CPU)
        self._unmeasured = cluster.pod_sums(self._unmeasured_usage)
        self.score_reads = self._used.reads | self._capacity.reads | self._unmeasured.reads

    def score_key(self, pod: PodInfo) -> int:
        """Return the predicted milli-CPU of the pod."""
        return pod.derive(self._predicted_usage)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return scores by the predicted utilization with the pod."""
        capacity, target = nodes.values_of(self._capacity), self._target
        added = nodes.values_of(self._unmeasured) + self.score_key(pod)
        utilization = nodes.values_of(self._used)
        utilization = utilization + np.divide(100.0 * added, capacity, out=np.zeros(len(nodes)), where=capacity > 0)
        scores = (100 - target) * utilization / target + target
        hot = utilization > target
        scores[hot] = target * (100 - utilization[hot]) / max(100 - target, 1)
        scores[utilization > 100] = 0
        return rounded(scores)

    def _renewed(self, window_end: float) -> None:
        """Drop the predictions for pods that are now in the metrics."""
        self._measured_until = window_end - REPORTING_SECONDS
        self._unmeasured.recount()

    def _unmeasured_usage(self, pod: PodInfo) -> int:
        """Return the predicted milli-CPU of a pod that is not in the metrics yet, 0 for other pods."""
        return pod.derive(self._predicted_usage) if _placed_at(pod) > self._measured_until else 0

    def _predicted_usage(self, pod: PodInfo) -> int:
        """Return the predicted milli-CPU of a pod: limits, or multiplied requests, or the default."""
        total = resource_amounts(pod.spec.overhead).get(CPU, 0)
        for container in pod.spec.containers:
            limit = resource_amounts(container.resources.limits).get(CPU)
            request = resource_amounts(container.resources.requests).get(CPU)
            if limit is not None:
                total += limit
            elif request is not None:
                total += int(request * self._multiplier + 0.5)
            else:
                total += self._without_requests
        return total


def _placed_at(pod: PodInfo) -> float:
    """Return when a pod got its node, as Unix time; infinite if it has not been reported yet."""
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "True" and condition.last_transition_time:
            return condition.last_transition_time.timestamp()
    return pod.status.start_time.timestamp() if pod.status.start_time else float("inf")
