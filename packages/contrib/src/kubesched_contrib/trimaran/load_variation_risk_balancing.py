"""LoadVariationRiskBalancing: balance the variation of the load, not only its average.

From the measured average and standard deviation of CPU and memory to scores. The risk of a resource is the mean of
two values between 0 and 1: its average with the pod's request, and its deviation, `margin * deviation ** (1 /
sensitivity)`. A node's score is 100 times one minus the larger risk, and 0 for a node without metrics.
"""

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    Background,
    ClusterView,
    CycleState,
    HttpClient,
    Nodes,
    PluginMetrics,
    PodInfo,
    Reads,
)
from kubesched_contrib.trimaran.arguments import TrimaranArgs
from kubesched_contrib.trimaran.collector import LoadCollector, LoadScore, rounded
from kubesched_contrib.trimaran.node_loads import CPU, MEMORY


@dataclass(frozen=True)
class LoadVariationRiskBalancingArgs(TrimaranArgs):
    """Arguments of LoadVariationRiskBalancing."""

    # multiplier of the standard deviation
    safe_variance_margin: float = 1.0
    # root power of the standard deviation
    safe_variance_sensitivity: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (
            ("safeVarianceMargin", self.safe_variance_margin),
            ("safeVarianceSensitivity", self.safe_variance_sensitivity),
        ):
            if not 0 <= value < float("inf"):
                raise ValueError(f"{name}: must be a number of at least 0, got {value}")


class LoadVariationRiskBalancing(LoadScore):
    """Prefers nodes with a low and even load."""

    name = "LoadVariationRiskBalancing"

    def __init__(
        self,
        args: LoadVariationRiskBalancingArgs,
        cluster: ClusterView,
        background: Background,
        http: HttpClient,
        log: logging.Logger,
        metrics: PluginMetrics,
    ) -> None:
        self._margin = args.safe_variance_margin
        sensitivity = args.safe_variance_sensitivity
        self._power = 1 / sensitivity if sensitivity else float("inf")
        self._loads = LoadCollector(args, cluster, background, http, log, metrics)
        self.score_reads = self._loads.reads | Reads.RESOURCES

    def score_key(self, pod: PodInfo) -> tuple[int, int]:
        """Return the pod's requests."""
        return pod.request_of(CPU), pod.request_of(MEMORY)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return 100 less the larger risk; a resource without metrics does not count."""
        with np.errstate(invalid="ignore"):
            return rounded(100 * np.fmin(self._safety(pod, nodes, CPU), self._safety(pod, nodes, MEMORY)))

    def _safety(self, pod: PodInfo, nodes: Nodes, resource: str) -> NDArray[np.float64]:
        """Return one minus the risk of a resource, NaN without metrics."""
        capacity = nodes.allocatable(resource)
        request = np.divide(pod.request_of(resource), capacity, out=np.zeros(len(nodes)), where=capacity > 0)
        average = nodes.values_of(self._loads.averages[resource]) / 100
        deviation = np.nan_to_num(nodes.values_of(self._loads.deviations[resource]) / 100).clip(0, 1)
        load = (average.clip(0, 1) + request).clip(0, 1)
        risk = (load + (self._margin * deviation**self._power).clip(0, 1)) / 2
        safety: NDArray[np.float64] = np.where((capacity > 0) | np.isnan(average), 1 - risk, 0.0)
        return safety
