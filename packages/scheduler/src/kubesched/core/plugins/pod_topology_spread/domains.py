"""Pods counted per topology domain, over the nodes that a constraint includes.

From `PodMatch` counts per row to totals per domain, kept up to date row by row. A domain is a code of the topology
key's label column. Unlike the sums of inter-pod affinity, domains without any pod count, too, since the domain with the
fewest pods is the minimum that each domain is compared with.

Invariant: the included rows and their domains do not change during the life of these objects; a question whose nodes
changed makes new ones.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.columns import ABSENT
from kubesched.core.cluster.node_matching import matching_rows, tolerated_rows
from kubesched.core.cluster.pod_matches import PodMatch
from kubesched.core.cluster.table import NodeTable
from kubesched.core.plugins.pod_topology_spread.constraints import SpreadConstraint, SpreadKey

# upstream: podtopologyspread/filtering.go, newCriticalPaths (v1.36): the minimum over no domains
NO_MINIMUM = 2**31 - 1


class Move(NamedTuple):
    """A domain's total before and after one of its rows was counted again."""

    row: int
    domain: int
    before: int
    after: int


class DomainTotals:
    """`totals[code]` is the number of matching pods in a domain, `nodes[code]` the number of included nodes in it."""

    __slots__ = ("_changes", "_match", "_seen", "column", "included", "nodes", "totals")

    def __init__(
        self, table: NodeTable, topology_key: str, match: PodMatch | None, included: NDArray[np.bool_]
    ) -> None:
        self.column = table.label(topology_key)
        self.included = included
        self._match = match
        # how many changes of the match are counted
        self._changes = match.changes if match is not None else 0
        codes, domains = self.column.codes[: len(included)], len(self.column)
        self.nodes = np.bincount(codes, included, domains).astype(np.int64)
        # row -> pods at the last count, whether the row is included or not
        self._seen = match.rows.copy() if match is not None else {}
        rows = np.fromiter(self._seen.keys(), np.intp, len(self._seen))
        counts = np.fromiter(self._seen.values(), np.int64, len(self._seen)) * included[rows]
        self.totals = np.bincount(codes[rows], counts, domains).astype(np.int64)

    def update(self) -> list[Move] | None:
        """Count the changed rows again; return how totals moved, step by step; None if too many changed."""
        match = self._match
        if match is None or self._changes == match.changes:
            return []
        rows = match.changed_since(self._changes)
        if rows is None:
            return None
        self._changes = match.changes
        counts, seen, included, totals = match.rows, self._seen, self.included, self.totals
        codes = self.column.codes
        moves = []
        for row in rows:
            new, old = counts.get(row, 0), seen.get(row, 0)
            if new == old:
                continue
            if new:
                seen[row] = new
            else:
                del seen[row]
            if included[row]:
                domain = int(codes[row])
                before = int(totals[domain])
                totals[domain] = after = before + new - old
                moves.append(Move(row, domain, before, after))
        return moves


class Minimum:
    """The lowest total among the domains that have an included node."""

    __slots__ = ("_domains_with", "domains", "lowest")

    def __init__(self, counted: DomainTotals) -> None:
        totals, domains_with = np.unique(counted.totals[counted.nodes > 0], return_counts=True)
        # total -> number of domains that have it
        self._domains_with: dict[int, int] = dict(zip(totals.tolist(), domains_with.tolist(), strict=True))
        self.domains = int(domains_with.sum())
        self.lowest = int(totals[0]) if len(totals) else NO_MINIMUM

    def move(self, before: int, after: int) -> None:
        """Update the number of domains for a domain whose total changed."""
        counts = self._domains_with
        left = counts[before] - 1
        if left:
            counts[before] = left
        else:
            del counts[before]
        counts[after] = counts.get(after, 0) + 1
        if after < self.lowest:
            self.lowest = after
        elif before == self.lowest and not left:
            self.lowest = min(counts)

    def without(self, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for domains with these totals, the lowest total among all other domains."""
        counts, lowest = self._domains_with, self.lowest
        next_lowest = lowest
        if counts.get(lowest) == 1:
            next_lowest = min((total for total in counts if total != lowest), default=NO_MINIMUM)
        return np.where(totals == lowest, next_lowest, lowest)


def nodes_read(key: SpreadKey) -> int:
    """Return the `Reads` that decide in which domain a node is, and whether it counts."""
    return Reads.LABELS | Reads.PRESENCE | (Reads.TAINTS if key.honors_taints else Reads.NOTHING)


def match_of(table: NodeTable, namespace: str, constraint: SpreadConstraint) -> PodMatch | None:
    """Return the counts of the pods that match a constraint; None if it never matches any."""
    selector = constraint.selector
    if selector.empty or selector.matches_nothing:
        return None
    return table.counts.match(frozenset((namespace,)), (selector,), live_only=True)


def rows_with_keys(table: NodeTable, key: SpreadKey) -> NDArray[np.bool_]:
    """Return the rows of nodes that may count: with `require_all` the rows that have every topology key."""
    size = table.size
    if not key.require_all:
        return table.present[:size].copy()
    if not all_keys_exist(table, key):
        return np.zeros(size, np.bool_)
    mask = table.present[:size].copy()
    for topology_key in key.topology_keys:
        mask &= table.label(topology_key).codes[:size] != ABSENT
    return mask


def all_keys_exist(table: NodeTable, key: SpreadKey) -> bool:
    """Return whether every topology key is a label of some node."""
    return all(map(table.labels.exists, key.topology_keys))


def included_rows(table: NodeTable, key: SpreadKey, *, comparison: bool) -> list[NDArray[np.bool_]]:
    """Return for each constraint the rows whose pods it counts; `comparison` is the gate of numeric tolerations."""
    rows = slice(0, table.size)
    with_keys = rows_with_keys(table, key)
    matching = None if key.affinity is None else matching_rows(table, key.affinity, rows)
    tolerated = None if key.tolerations is None else tolerated_rows(table, key.tolerations, rows, comparison=comparison)
    masks = []
    for constraint in key.constraints:
        mask = with_keys
        if matching is not None and constraint.honor_affinity:
            mask = mask & matching
        if tolerated is not None and constraint.honor_taints:
            mask = mask & tolerated
        masks.append(mask)
    return masks
