"""Peaks: prefer nodes whose power increases least with the pod.

From the measured CPU of nodes and a power model of each, `k0 + k1 * exp(k2 * utilization)`, to scores: the node with
the smallest increase gets 100, the largest gets 0. Nodes without metrics or a model, or beyond their capacity, also
get 0.
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
    NodeRow,
    Nodes,
    PluginMetrics,
    PodInfo,
    Reads,
)
from kubesched_contrib.trimaran.arguments import TrimaranArgs, check_address
from kubesched_contrib.trimaran.collector import LoadCollector, LoadScore, capacity_of
from kubesched_contrib.trimaran.node_loads import CPU

# raw scores are millionths of a unit of power; an avoided node has the largest
UNIT = 1e6
MOST = 2**53
AVOIDED = 2**60


@dataclass(frozen=True)
class PowerModel:
    """The power of a node by its CPU utilization in percent: k0 + k1 * exp(k2 * utilization)."""

    k0: float
    k1: float
    k2: float


@dataclass(frozen=True)
class PeaksArgs:
    """Arguments of Peaks, in the spelling of scheduler-plugins."""

    WatcherAddress: str
    NodePowerModel: dict[str, PowerModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.WatcherAddress:
            raise ValueError("WatcherAddress: is required; write the address of load-watcher as http://host:port")
        check_address("WatcherAddress", self.WatcherAddress)
        if not self.NodePowerModel:
            raise ValueError("NodePowerModel: is empty; give each node its k0, k1 and k2")
        for node, model in self.NodePowerModel.items():
            if not np.isfinite([model.k0, model.k1, model.k2]).all():
                raise ValueError(f"NodePowerModel.{node}: k0, k1 and k2 must be finite numbers")


class Peaks(LoadScore):
    """Scores nodes by the increase of their power."""

    name = "Peaks"

    def __init__(
        self,
        args: PeaksArgs,
        cluster: ClusterView,
        background: Background,
        http: HttpClient,
        log: logging.Logger,
        metrics: PluginMetrics,
    ) -> None:
        models = args.NodePowerModel
        source = TrimaranArgs(watcher_address=args.WatcherAddress)
        self._loads = LoadCollector(source, cluster, background, http, log, metrics)
        self._used = self._loads.averages[CPU]
        self._capacity = capacity_of(cluster, CPU)

        def factor(node: NodeRow) -> float:
            return models[node.name].k1 if node.name in models else np.nan

        def exponent(node: NodeRow) -> float:
            return models[node.name].k2 if node.name in models else np.nan

        self._factor = cluster.node_values(factor, reads=Reads.NOTHING, default=np.nan, dtype=np.float64)
        self._exponent = cluster.node_values(exponent, reads=Reads.NOTHING, default=np.nan, dtype=np.float64)
        self.score_reads = self._used.reads | self._capacity.reads | self._factor.reads

    def score_key(self, pod: PodInfo) -> int:
        """Return the pod's CPU request."""
        return pod.request_of(CPU)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the increase of each node's power with the pod."""
        capacity, before = nodes.values_of(self._capacity), nodes.values_of(self._used)
        added = np.divide(100 * pod.request_of(CPU), capacity, out=np.zeros(len(nodes)), where=capacity > 0)
        factor, exponent = nodes.values_of(self._factor), nodes.values_of(self._exponent)
        with np.errstate(over="ignore", invalid="ignore"):
            rise = factor * (np.exp(exponent * (before + added)) - np.exp(exponent * before)) * UNIT
        known = np.isfinite(rise) & (before + added <= 100)
        return np.where(known, np.where(known, rise, 0).clip(-MOST, MOST), AVOIDED).astype(np.int64)

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 100 for the smallest increase and 0 for the largest; 0 for avoided nodes."""
        known = scores < AVOIDED
        least, most = scores.min(initial=AVOIDED), scores[known].max(initial=-AVOIDED)
        if most <= least:
            return np.where(known, 100, 0)
        return np.where(known, 100 - 100 * (np.where(known, scores, most) - least) // (most - least), 0)
