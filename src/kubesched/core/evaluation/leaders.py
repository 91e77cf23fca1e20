"""The rows with the highest total, kept while totals of single rows change.

From a column of totals, and its changes, to the best rows in order. Most pods change a few rows of thousands: to look
for the maximum of all of them would take longer than the rest of a cycle on a large cluster.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Leaders:
    """The best rows, in ascending order; not known until they are asked for."""

    __slots__ = ("_best", "_rows")

    def __init__(self) -> None:
        # empty if they are not known
        self._rows: array[int] = array("i")
        self._best = 0

    def forget(self) -> None:
        """Look at all rows when the leaders are asked for next."""
        self._rows = array("i")

    def changed(self, row: int, old: int, new: int) -> None:
        """Take a row whose total was `old` and is `new` into account."""
        rows, best = self._rows, self._best
        if not rows or old == new or (new < best and old < best):
            return
        if new > best:
            self._rows, self._best = array("i", (row,)), new
            return
        place = bisect_left(rows, row)
        if new == best:
            rows.insert(place, row)
        else:
            del rows[place]

    def of(self, totals: NDArray[Any]) -> Sequence[int]:
        """Return the rows of the highest total; valid until a total changes."""
        if not self._rows:
            best = np.maximum.reduce(totals)
            self._best = int(best)
            self._rows = array("i", (totals == best).nonzero()[0].astype(np.int32).tobytes())
        return self._rows
