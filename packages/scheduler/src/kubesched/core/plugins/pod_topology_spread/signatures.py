"""Signatures: one number for all rows that get the same score.

From the parts that constraints read of each row to a signature per row, and the number of feasible rows per
signature. Signatures are added on demand and not reused; a question makes new ones when too many are unused.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.following import FEW_ROWS

LEFT_OUT: Final = 0
_SPARE = 16


class Signatures:
    """`of_row[row]` is a row's signature, `part(i)[signature]` its i-th part, `feasible[signature]` its feasible rows.

    `feasible[LEFT_OUT]` stays 0: such rows do not count.
    """

    def __init__(self, parts: int) -> None:
        self._parts: NDArray[np.int64] = np.zeros((parts, 1 + _SPARE), np.int64)
        self._feasible: NDArray[np.int64] = np.zeros(1 + _SPARE, np.int64)
        self._count = 1
        self._first_count = 1
        self._known: dict[tuple[int, ...], int] = {}
        self._mask: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.of_row: NDArray[np.int32] = np.zeros(0, np.int32)
        # feasible rows with the signature LEFT_OUT
        self.left_out = 0

    def __len__(self) -> int:
        return self._count

    @property
    def crowded(self) -> bool:
        """Return whether most of the added signatures may be unused."""
        return self._count > 2 * self._first_count + 1024

    @property
    def feasible(self) -> NDArray[np.int64]:
        """Return the number of feasible rows of each signature."""
        return self._feasible[: self._count]

    def part(self, index: int) -> NDArray[np.int64]:
        """Return one part of each signature."""
        return self._parts[index, : self._count]

    def assign(self, taking_part: NDArray[np.bool_], columns: Sequence[NDArray[Any]]) -> None:
        """Give every row its signature from the columns of parts; rows that do not take part get LEFT_OUT."""
        rows = np.flatnonzero(taking_part)
        self.of_row = np.zeros(len(taking_part), np.int32)
        self._mask = np.zeros(len(taking_part), np.bool_)
        combined = np.zeros(len(rows), np.int64)
        first = rows[:0]
        for column in columns:
            values = column[rows]
            combined = combined * (int(values.max(initial=0)) + 1) + values
            _, first, combined = np.unique(combined, return_index=True, return_inverse=True)
        self.of_row[rows] = combined + 1
        self._count = self._first_count = len(first) + 1
        self._parts = np.zeros((len(columns), self._count + _SPARE), np.int64)
        self._feasible = np.zeros(self._count + _SPARE, np.int64)
        for index, column in enumerate(columns):
            self._parts[index, 1 : self._count] = column[rows[first]]
        parts = self._parts[:, 1 : self._count].T.tolist()
        self._known = {tuple(of_signature): number for number, of_signature in enumerate(parts, 1)}

    def replace(self, row: int, index: int, value: int) -> bool:
        """Give a row another value in one part; return whether that changed its signature."""
        signature = int(self.of_row[row])
        if signature == LEFT_OUT:
            return False
        old = int(self._parts[index, signature])
        if old == value or old == 0:
            return False
        parts = self._parts[:, signature].tolist()
        parts[index] = value
        new = self._signature(tuple(parts))
        self.of_row[row] = new
        if self._mask[row]:
            self._feasible[signature] -= 1
            self._feasible[new] += 1
        return True

    def _signature(self, parts: tuple[int, ...]) -> int:
        known = self._known.get(parts)
        if known is None:
            known = self._known[parts] = self._count
            self._count += 1
            if known == self._parts.shape[1]:
                more = known
                self._parts = np.concatenate([self._parts, np.zeros((len(parts), more), np.int64)], axis=1)
                self._feasible = np.concatenate([self._feasible, np.zeros(more, np.int64)])
            self._parts[:, known] = parts
        return known

    def restrict(self, mask: NDArray[np.bool_]) -> bool:
        """Count the rows of another feasible set; return whether it differs from the last one."""
        changed = np.flatnonzero(mask != self._mask)
        if not len(changed):
            return False
        if len(changed) <= FEW_ROWS:
            self._feasible[LEFT_OUT] = self.left_out
            for row in changed.tolist():
                self._feasible[self.of_row[row]] += 1 if mask[row] else -1
        else:
            self._feasible[: self._count] = np.bincount(self.of_row, mask, self._count)
        self.left_out = int(self._feasible[LEFT_OUT])
        self._feasible[LEFT_OUT] = 0
        self._mask = mask.copy()
        return True
