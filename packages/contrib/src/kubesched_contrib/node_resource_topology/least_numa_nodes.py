"""LeastNUMANodes: prefer nodes that satisfy a pod from few NUMA zones, near to each other.

From requests and free amounts to scores, for every policy of the topology manager. For each container (or the pod, by
the topology manager's scope) it chooses the fewest zones that together have enough, and among those the least mean
distance. It tries every combination of zones, so nodes with more than eight zones score 0.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kubesched_contrib.node_resource_topology.free_zones import Counts, FreeZones, Mask, in_any_zone
from kubesched_contrib.node_resource_topology.pod_demand import Amounts
from kubesched_contrib.node_resource_topology.zone_scores import MAX_SCORE
from kubesched_contrib.node_resource_topology.zone_table import ABSENT

# the kubelet's limit: more zones have too many combinations
MOST_COMBINED = 8
FAR = 2**40


class FewestZones:
    """The chosen zones for one container on each node."""

    def __init__(self, width: int, nodes: int) -> None:
        self.chosen: Mask = np.zeros((width, nodes), np.bool_)
        self.nearest: Mask = np.zeros(nodes, np.bool_)
        self.found: Mask = np.zeros(nodes, np.bool_)


def least_numa_scores(zones: FreeZones, demands: list[Amounts]) -> Counts:
    """Return a score for each node; containers take from the zones one after the other."""
    nodes = len(zones.slots)
    most = np.zeros(nodes, np.int64)
    all_nearest = np.ones(nodes, np.bool_)
    fits = zones.table.zone_count[zones.slots] <= MOST_COMBINED
    for requests in demands:
        asked = _asked_of_zones(zones, requests)
        concerned = np.logical_or.reduce([there for _, _, there in asked]) if asked else np.zeros(nodes, np.bool_)
        if not concerned.any():
            continue
        fewest = _fewest_zones(zones, asked)
        fits &= fewest.found | ~concerned
        all_nearest &= fewest.nearest | ~concerned
        most = np.maximum(most, np.where(concerned, fewest.chosen.sum(axis=0), 0))
        _take(zones, asked, fewest.chosen)
    each = MAX_SCORE // zones.table.max_numa_nodes[zones.slots]
    scores = np.clip(MAX_SCORE - most * each + np.where(all_nearest, each // 2, 0), 0, MAX_SCORE)
    return np.where(fits, np.where(most > 0, scores, MAX_SCORE), 0)


def _asked_of_zones(zones: FreeZones, requests: Amounts) -> list[tuple[str, int, Mask]]:
    """Return the requests for resources of zones, each with the nodes where a zone has the resource."""
    asked = [(name, amount, in_any_zone(zones.of(name) > ABSENT)) for name, amount in requests]
    return [(name, amount, there) for name, amount, there in asked if there.any()]


def _fewest_zones(zones: FreeZones, asked: list[tuple[str, int, Mask]]) -> FewestZones:
    nodes = len(zones.slots)
    width = min(zones.table.width, MOST_COMBINED)
    found = FewestZones(zones.table.width, nodes)
    count = zones.table.zone_count[zones.slots]
    for size in range(1, width + 1):
        if found.found.all():
            break
        tried = list(combinations(range(width), size))
        distances = np.array([_distance(zones, members, count) for members in tried])
        fitting = np.array([_fits(zones, asked, members, count) for members in tried])
        best = np.where(fitting, distances, FAR).argmin(axis=0)
        here = in_any_zone(fitting) & ~found.found
        nearest = np.take_along_axis(distances, best[None, :], axis=0)[0] == distances.min(axis=0)
        found.found |= here
        found.nearest |= here & nearest
        for place, members in enumerate(tried):
            found.chosen[list(members)] |= here & (best == place)
    return found


def _distance(zones: FreeZones, members: tuple[int, ...], count: Counts) -> Counts:
    """Return the sum of the distances between some zones; FAR on nodes without them."""
    costs = zones.table.costs()
    total = np.zeros(len(costs[0, 0]), np.int64)
    for zone in members:
        for other in members:
            total += costs[zone, other]
    return np.where(count > members[-1], total[zones.slots], FAR)


def _fits(
    zones: FreeZones, asked: list[tuple[str, int, Mask]], members: tuple[int, ...], count: Counts
) -> NDArray[np.bool_]:
    """Return the nodes on which some zones together have enough, each of them a part."""
    fits = count > members[-1]
    for name, amount, there in asked:
        free = zones.of(name)[list(members)]
        enough = (free > ABSENT).all(axis=0) & (free.sum(axis=0) >= amount)
        fits &= enough | ~there
    return fits


def _take(zones: FreeZones, asked: list[tuple[str, int, Mask]], chosen: Mask) -> None:
    """Subtract a container's request from its zones, as much as possible from the first."""
    for name, amount, _ in asked:
        free = zones.of(name)
        left = np.full(len(zones.slots), amount, np.int64)
        for zone in range(len(free)):
            taken = np.where(chosen[zone], np.minimum(np.maximum(free[zone], 0), left), 0)
            free[zone] -= taken
            left -= taken
