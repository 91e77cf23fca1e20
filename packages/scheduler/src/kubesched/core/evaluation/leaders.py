"""The rows with the highest total, kept while totals of single rows change.

From a column of totals, and its changes, to the best rows in order. Most pods change a few rows of thousands: to look
for the maximum of all of them would take longer than much of a cycle on a large cluster. So rows are kept by their
total, down to a little below the best: when the best drop out, the next ones are known.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The largest difference in total to the best row at which a row is kept.
DEPTH = 8


class Leaders:
    """The best rows, in ascending order; not known until they are asked for."""

    __slots__ = ("_floor", "_rows")

    def __init__(self) -> None:
        # the rows by total, for all totals of at least the floor; empty if they are unknown
        self._rows: dict[int, array[int]] = {}
        self._floor = 0

    def forget(self) -> None:
        """Look at all rows when the leaders are asked for next."""
        self._rows.clear()

    def changed(self, row: int, old: int, new: int) -> None:
        """Take a row whose total was `old` and is `new`, which is another one, into account."""
        kept, floor = self._rows, self._floor
        if not kept or (old < floor and new < floor):
            return
        if old >= floor:
            rows = kept[old]
            if len(rows) == 1:
                del kept[old]
            else:
                del rows[bisect_left(rows, row)]
        if new >= floor:
            equal = kept.get(new)
            if equal is None:
                kept[new] = array("i", (row,))
            else:
                equal.insert(bisect_left(equal, row), row)

    def of(self, totals: NDArray[Any]) -> Sequence[int]:
        """Return the rows of the highest total; valid until a total changes."""
        if not self._rows:
            self._look(totals)
        return self._rows[max(self._rows)]

    def _look(self, totals: NDArray[Any]) -> None:
        """Look at all rows."""
        best = int(np.maximum.reduce(totals))
        self._floor = best - DEPTH
        rows = (totals >= self._floor).nonzero()[0].astype(np.int32)
        found = totals[rows]
        for total in range(self._floor, best + 1):
            equal = rows[found == total]
            if len(equal):
                self._rows[total] = array("i", equal.tobytes())
