"""The order in which nodes are visited when the search is limited.

From the table to a permutation of its rows: zones take turns, and the search starts where the last one stopped, so that
a limited search is fair to zones and nodes. Only used if the user limits the search, or if there is no scoring and the
first feasible node is chosen.
"""

# upstream: backend/cache/node_tree.go, schedule_one.go (findNodesThatPassFilters) (v1.36)

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.following import Cursor
from kubesched.core.cluster.table import NodeTable

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


class VisitOrder:
    """Rows with zones interleaved, and a start that moves on."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._rows: NDArray[np.intp] = np.zeros(0, np.intp)
        self._cursor = Cursor(table, Reads.PRESENCE | Reads.LABELS)
        self._start = 0

    def cut(self, feasible: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
        """Return the first `most` feasible rows from where the last search stopped, and move the start on."""
        rows = self._ordered()
        turned = np.concatenate([rows[self._start :], rows[: self._start]])
        found = np.flatnonzero(feasible[turned])
        visited = len(rows) if len(found) < most else int(found[most - 1]) + 1
        kept = np.zeros_like(feasible)
        kept[turned[found[:most]]] = True
        if len(rows):
            self._start = (self._start + visited) % len(rows)
        return kept

    def _ordered(self) -> NDArray[np.intp]:
        if self._cursor.advance() is not None:
            self._rows = _interleaved(self._table)
            self._start = self._start % len(self._rows) if len(self._rows) else 0
        return self._rows


def _interleaved(table: NodeTable) -> NDArray[np.intp]:
    """Return the rows with nodes, the first of every zone first, then the second of every zone, and so on."""
    rows = table.present_rows()
    zones: dict[tuple[int, int], int] = {}
    sizes: list[int] = []
    keys = []
    zone_codes, region_codes = table.label(ZONE).codes, table.label(REGION).codes
    for row in rows.tolist():
        zone = zones.setdefault((int(region_codes[row]), int(zone_codes[row])), len(zones))
        if zone == len(sizes):
            sizes.append(0)
        keys.append((sizes[zone], zone))
        sizes[zone] += 1
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return rows[np.array(order, np.intp)] if order else rows
