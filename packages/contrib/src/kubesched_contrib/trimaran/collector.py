"""The load of nodes, fetched on an interval and kept in columns.

In: a source of load metrics. Out: columns of percentages, NaN for nodes without metrics. Values that have not been
renewed for five minutes are dropped, with a log line and a metric.
"""

import asyncio
import logging
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kubesched import (
    AssignedValues,
    Background,
    ClusterView,
    HttpClient,
    NodeRow,
    Nodes,
    NodeValues,
    PluginMetrics,
    Reads,
    Registration,
    ScorePlugin,
    resource_amounts,
)
from kubesched_contrib.trimaran.arguments import TrimaranArgs
from kubesched_contrib.trimaran.node_loads import AVERAGE, CPU, DEVIATION, MEMORY, NodeLoads
from kubesched_contrib.trimaran.sources import is_absolute, load_source

LOOK_UP_SECONDS = 30
# largest age of load-watcher's metrics
STALE_SECONDS = 300
# how long pods wait for the first metrics
FIRST_SECONDS = 5


class LoadCollector:
    """Columns of the average load and its standard deviation, for CPU and memory."""

    def __init__(
        self,
        args: TrimaranArgs,
        cluster: ClusterView,
        background: Background,
        http: HttpClient,
        log: logging.Logger,
        metrics: PluginMetrics,
        renewed: Callable[[float], None] = lambda window_end: None,
    ) -> None:
        self._cluster = cluster
        self._log = log
        # called with the end of the window when values are new
        self._renewed = renewed
        self._measured: dict[tuple[str, str], AssignedValues] = {
            (resource, statistic): cluster.assigned_values(default=np.nan, dtype=np.float64)
            for resource in (CPU, MEMORY)
            for statistic in (AVERAGE, DEVIATION)
        }
        self.averages: dict[str, NodeValues] = {
            resource: self._percentage(resource) if is_absolute(args) else self._measured[resource, AVERAGE]
            for resource in (CPU, MEMORY)
        }
        self.deviations: dict[str, NodeValues] = {
            resource: self._measured[resource, DEVIATION] for resource in (CPU, MEMORY)
        }
        self._window_end = float("-inf")
        self._renewed_at: float | None = None
        self._stale = metrics.gauge("load_stale", "1 without load metrics of the last five minutes, else 0.")
        self._nodes = metrics.gauge("load_nodes", "Number of nodes with load metrics.")
        self._timestamp = metrics.gauge(
            "load_timestamp_seconds", "End of the window of the load metrics, as Unix time."
        )
        source = load_source(args, http)

        async def fetch() -> NodeLoads:
            return await source()

        background.every(LOOK_UP_SECONDS, fetch, self.apply, wait_seconds=FIRST_SECONDS)
        background.timer(LOOK_UP_SECONDS, self._check_age)

    @property
    def reads(self) -> int:
        """Return the reads of scores that use all columns."""
        found = 0
        for column in (*self.averages.values(), *self.deviations.values()):
            found |= column.reads
        return found

    def apply(self, loads: NodeLoads) -> None:
        """Use new values; values of a known window are not new."""
        if loads.window_end <= self._window_end:
            return
        if self._renewed_at is None and self._window_end > float("-inf"):
            self._log.info("Load metrics are available again")
        self._window_end = loads.window_end
        self._renewed_at = asyncio.get_running_loop().time()
        self.assign(loads)
        self._stale.set(0)
        self._timestamp.set(loads.window_end)
        self._renewed(loads.window_end)

    def assign(self, loads: NodeLoads) -> None:
        """Put values into the columns; nodes without a value get NaN."""
        names = self._names_of_addresses(loads)
        for key, column in self._measured.items():
            values = loads.of(*key)
            column.assign({names.get(node, node): value for node, value in values.items()} if names else values)
        self._nodes.set(len(loads.of(CPU, AVERAGE)))

    def _names_of_addresses(self, loads: NodeLoads) -> dict[str, str]:
        """Return the names of nodes by address, with or without a port."""
        nodes = self._cluster.nodes
        strange = set(loads.of(CPU, AVERAGE)) - set(nodes.names)
        if not strange:
            return {}
        by_address = {address.address: node.name for node in nodes for address in node.node.status.addresses}
        hosts = {name: name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name for name in strange}
        return {name: by_address[host] for name, host in hosts.items() if host in by_address}

    def _check_age(self) -> None:
        """Drop values that have not been renewed."""
        if self._renewed_at is None:
            self._stale.set(1)
        elif asyncio.get_running_loop().time() - self._renewed_at >= STALE_SECONDS:
            self._renewed_at = None
            self._stale.set(1)
            self._log.warning(f"Load metrics are older than {STALE_SECONDS} seconds and dropped: all nodes score 0")
            self.assign(NodeLoads(self._window_end))

    def _percentage(self, resource: str) -> NodeValues:
        """Return a column of percentages for a source of amounts."""
        used, capacity = self._measured[resource, AVERAGE], capacity_of(self._cluster, resource)

        def share(nodes: Nodes) -> NDArray[np.float64]:
            whole = nodes.values_of(capacity)
            percentage = np.full(len(nodes), np.nan)
            np.divide(100 * nodes.values_of(used), whole, out=percentage, where=whole > 0)
            return percentage

        reads = used.reads | capacity.reads
        return self._cluster.computed_values(share, reads=reads, default=np.nan, dtype=np.float64)


class LoadScore(ScorePlugin):
    """A score by load: it depends on the pod's template, is in range, and rejects no pod."""

    score_key_of_template = True
    in_range = True

    def events_to_register(self) -> tuple[Registration, ...]:
        """Return no events."""
        return ()


def capacity_of(cluster: ClusterView, resource: str) -> NodeValues:
    """Return a column of the nodes' capacity."""

    def capacity(node: NodeRow) -> int:
        return resource_amounts({resource: node.node.status.capacity.get(resource, 0)})[resource]

    return cluster.node_values(capacity, reads=Reads.NODE_OBJECT)


def rounded(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return scores as integers, rounded half up; 0 for NaN."""
    whole: NDArray[np.int64] = np.floor(np.nan_to_num(scores, nan=0.0) + 0.5).astype(np.int64)
    return whole
