"""NodeCost: prefer the cheapest nodes.

From prices, in a label of nodes or in a table of the arguments, to scores: the cheapest node gets 100, a node of
twice the cost 50. The cost of a node is its price, or the pod's share of it, or that share if other pods already
require the node. A node without a price gets 0.
"""

import logging
import re
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kubesched import ClusterView, CycleState, NodeRow, Nodes, PodInfo, Reads, Registration, ScorePlugin

MAX_SCORE = 100
# raw scores are millionths of the unit of prices; a node without a price has the largest
UNIT = 1e6
MOST = 2**53
UNKNOWN = 2**60
# resources of which a pod takes a share of its node
RESOURCES = ("cpu", "memory", "pods")
NUMBER = re.compile(r"\d{1,12}(\.\d+)?")


@dataclass(frozen=True)
class PriceEntry:
    """The price of the nodes that have some labels."""

    match_labels: dict[str, str]
    price: float

    def __post_init__(self) -> None:
        if not self.match_labels:
            raise ValueError("matchLabels: is empty; name a label, or set defaultPrice for all other nodes")
        check_price("price", self.price)


@dataclass(frozen=True)
class NodeCostArgs:
    """The source of prices, and the kind of cost."""

    # node label whose value is the price of the node
    price_label: str = ""
    # for nodes without that label: the first entry that matches
    prices: list[PriceEntry] = field(default_factory=list)
    # for nodes that no entry matches; without it they are avoided
    default_price: float | None = None
    cost: Literal["Node", "Share", "Marginal"] = "Node"

    def __post_init__(self) -> None:
        if not self.price_label and not self.prices:
            raise ValueError("priceLabel or prices: set one of them, so that nodes have a price")
        if self.default_price is not None:
            check_price("defaultPrice", self.default_price)


def check_price(name: str, price: float) -> None:
    """Raise ValueError for an invalid price."""
    if not 0 <= price < 1e12:
        raise ValueError(f"{name}: must be a number from 0 to 10**12, got {price}")


class NodeCost(ScorePlugin):
    """Scores nodes by their cost."""

    name = "NodeCost"
    in_range = True
    score_key_of_template = True

    def __init__(self, args: NodeCostArgs, cluster: ClusterView, log: logging.Logger) -> None:
        self._args = args
        self._log = log
        self._price = cluster.node_values(self._price_of, reads=Reads.LABELS, default=np.nan, dtype=np.float64)
        self._workloads = cluster.pod_sums(_is_workload, reads=Reads.PODS)
        self.score_reads = self._price.reads
        if args.cost != "Node":
            self.score_reads |= Reads.RESOURCES | self._workloads.reads

    def events_to_register(self) -> tuple[Registration, ...]:
        """Return no events: a score rejects no pod."""
        return ()

    def score_key(self, pod: PodInfo) -> tuple[int, ...]:
        """Return the requests of the pod, if its share counts."""
        return () if self._args.cost == "Node" else tuple(pod.request_of(resource) for resource in RESOURCES)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the cost of each node."""
        cost = nodes.values_of(self._price)
        if self._args.cost != "Node":
            part = _part(pod, nodes)
            if self._args.cost == "Marginal":
                part = np.where(nodes.values_of(self._workloads) > 0, part, 1.0)
            cost = cost * part
        known = ~np.isnan(cost)
        return np.where(known, np.rint(np.where(known, cost, 0) * UNIT).clip(0, MOST), UNKNOWN).astype(np.int64)

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 100 for the cheapest node and less for the rest, by the ratio of costs; 0 without a price."""
        cheapest = scores.min(initial=UNKNOWN)
        # the minimum cost is a millionth, so that a free node does not reduce all other scores to 0
        ratio = max(cheapest, 1) / np.maximum(scores, 1)
        return np.where(scores < UNKNOWN, np.floor(MAX_SCORE * ratio + 0.5), 0).astype(np.int64)

    def _price_of(self, node: NodeRow) -> float:
        """Return the price of a node, NaN if it has none."""
        labels, args = node.labels, self._args
        written = labels.get(args.price_label) if args.price_label else None
        if written is not None:
            if NUMBER.fullmatch(written):
                return float(written)
            self._log.warning("Invalid price", extra={"node": node.name, "price": written})
        for entry in args.prices:
            if all(labels.get(key) == value for key, value in entry.match_labels.items()):
                return entry.price
        return np.nan if args.default_price is None else args.default_price


def _part(pod: PodInfo, nodes: Nodes) -> NDArray[np.float64]:
    """Return the pod's share of each node, of the resource with the largest share."""
    most = np.zeros(len(nodes))
    for resource in RESOURCES:
        offered = nodes.allocatable(resource)
        part = np.divide(pod.request_of(resource), offered, out=np.zeros(len(nodes)), where=offered > 0)
        most = np.maximum(most, part)
    return most


def _is_workload(pod: PodInfo) -> int:
    """Return 1 for a pod that requires the node, 0 for pods of DaemonSets and static pods."""
    return int(all(owner.kind not in ("DaemonSet", "Node") for owner in pod.metadata.owner_references))
