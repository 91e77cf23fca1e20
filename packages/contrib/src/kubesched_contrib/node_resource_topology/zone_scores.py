"""Scores of nodes by the remaining amounts of NUMA zones: LeastAllocated, MostAllocated, BalancedAllocation.

From requests and free amounts to scores from 0 to 100. Each zone is scored; the node has the lowest score of a zone
that is not 0, since the kubelet's choice of a zone is unknown. Like the reference, CPU is counted in whole cores,
rounded up.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kubesched_contrib.node_resource_topology.free_zones import Counts, FreeZones
from kubesched_contrib.node_resource_topology.pod_demand import CPU, Amounts

MAX_SCORE = 100


@dataclass(frozen=True)
class ResourceUse:
    """The request for a resource, and the amount in each zone, 0 where it has none."""

    amount: int
    free: Counts
    weight: int
    scale: int

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Return which zones have the amount."""
        return (self.free > 0) & (self.amount <= self.free)

    @property
    def units(self) -> tuple[int, Counts]:
        """Return the request and the zones' amounts, in whole units."""
        return -(-self.amount // self.scale), -(-self.free // self.scale)


ZoneScore = Callable[[list[ResourceUse]], Counts]


def node_scores(zones: FreeZones, requests: Amounts, weights: Mapping[str, int], zone_score: ZoneScore) -> Counts:
    """Return the lowest score of a zone that is not 0, for each node."""
    if not requests:
        return np.zeros(len(zones.slots), np.int64)
    uses = [
        ResourceUse(amount, np.maximum(zones.of(name), 0), weights.get(name, 1), 1000 if name == CPU else 1)
        for name, amount in requests
    ]
    scores = zone_score(uses)
    lowest: Counts = np.where(scores > 0, scores, MAX_SCORE + 1).min(axis=0)
    return np.where(lowest > MAX_SCORE, 0, lowest)


def least_allocated(uses: list[ResourceUse]) -> Counts:
    """Return high scores for zones with much free."""
    return _weighted(uses, lambda amount, free: free - amount)


def most_allocated(uses: list[ResourceUse]) -> Counts:
    """Return high scores for zones with much used."""
    return _weighted(uses, lambda amount, free: np.full_like(free, amount))


def balanced_allocation(uses: list[ResourceUse]) -> Counts:
    """Return high scores for zones with equal used shares of resources."""
    fractions = []
    for use in uses:
        amount, free = use.units
        fractions.append(np.where(free > 0, amount / np.maximum(free, 1), 1.0))
    used = np.array(fractions)
    variance = used.var(axis=0, ddof=1) if len(uses) > 1 else np.zeros_like(used[0])
    scores = ((1 - np.minimum(variance, 1)) * MAX_SCORE).astype(np.int64)
    return np.where((used > 1).any(axis=0), 0, scores)


def _weighted(uses: list[ResourceUse], part: Callable[[int, Counts], Counts]) -> Counts:
    """Return the weighted mean of shares of the free amounts, in per cent; 0 for a resource that does not fit."""
    total = np.zeros_like(uses[0].free)
    for use in uses:
        amount, free = use.units
        score = part(amount, free) * MAX_SCORE // np.maximum(free, 1)
        total += np.where(use.fits, score, 0) * use.weight
    mean: Counts = total // sum(use.weight for use in uses)
    return mean
