"""Pod counts summed per topology domain.

From sparse counts per row (`PodMatch.rows`, `CarriedTerm.rows`) to a sum for each value of a topology key, kept up to
date row by row. A row counts only if it has a Node object and the label.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.columns import ABSENT
from kubesched.core.cluster.table import NodeTable

# sparse counts with the weight of each pod counted
Source = tuple[Mapping[int, int], int]


class DomainCounts:
    """`totals[code]` is the weighted number of pods in the domain with that label code; `totals[ABSENT]` stays 0.

    `pods` is the number of pods counted, regardless of weight.
    """

    __slots__ = ("_seen", "_sources", "_table", "column", "pods", "totals")

    def __init__(self, table: NodeTable, topology_key: str, sources: Sequence[Source]) -> None:
        self._table = table
        self._sources = sources
        self.column = table.label(topology_key)
        self.totals: NDArray[np.int64] = np.zeros(len(self.column), np.int64)
        self.pods = 0
        # row -> (domain, weighted count, pods) that `totals` and `pods` contain
        self._seen: dict[int, tuple[int, int, int]] = {}
        self.update({row for rows, _ in sources for row in rows})

    def update(self, rows: Iterable[int]) -> set[int]:
        """Count some rows again; return the codes of the domains whose totals changed."""
        codes = self.column.codes
        if len(self.totals) < len(self.column):
            self.totals = np.concatenate([self.totals, np.zeros(len(self.column) - len(self.totals), np.int64)])
        totals, seen = self.totals, self._seen
        touched: set[int] = set()
        asked = set(rows)
        # most rows that change have none of these pods, neither before nor now
        counted = asked & seen.keys()
        for source, _ in self._sources:
            counted |= asked & source.keys()
        for row in counted:
            old = seen.get(row)
            new = self._count(row, int(codes[row]))
            if new == old:
                continue
            if old is not None:
                totals[old[0]] -= old[1]
                self.pods -= old[2]
                touched.add(old[0])
            if new is not None:
                totals[new[0]] += new[1]
                self.pods += new[2]
                touched.add(new[0])
                seen[row] = new
            else:
                del seen[row]
        return touched

    def _count(self, row: int, domain: int) -> tuple[int, int, int] | None:
        if domain == ABSENT or not self._table.present[row]:
            return None
        weighted = pods = 0
        for rows, weight in self._sources:
            count = rows.get(row, 0)
            weighted += count * weight
            pods += count
        return (domain, weighted, pods) if pods else None
