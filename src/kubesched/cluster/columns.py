"""Growable columns, and label columns interned by value.

From node attributes to NumPy arrays indexed by row. Every column of a table has the same capacity; growing
replaces the arrays, so nobody keeps one across a mutation.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ABSENT = 0


def grown(array: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return a copy of `array` whose last axis has `capacity` entries, the new ones zero."""
    shape = (*array.shape[:-1], capacity)
    bigger = np.zeros(shape, array.dtype)
    bigger[..., : array.shape[-1]] = array
    return bigger


class LabelColumn:
    """The values of one label key: a code per row; code 0 means that the node lacks the label.

    A topology key's codes are its domains; `counts` says how many rows are in each.
    """

    __slots__ = ("codes", "counts", "key", "of_value", "values")

    def __init__(self, key: str, capacity: int) -> None:
        self.key = key
        self.codes: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.values: list[str] = [""]
        self.of_value: dict[str, int] = {}
        self.counts: list[int] = [0]

    def __len__(self) -> int:
        """Return the number of codes, the absent one included."""
        return len(self.values)

    def assign(self, row: int, labels: Mapping[str, str]) -> None:
        """Set a row's code from a node's labels."""
        value = labels.get(self.key)
        code = ABSENT
        if value is not None:
            known = self.of_value.get(value)
            if known is None:
                known = self.of_value[value] = len(self.values)
                self.values.append(value)
                self.counts.append(0)
            code = known
            self.counts[code] += 1
        old = int(self.codes[row])
        if old != ABSENT:
            self.counts[old] -= 1
        self.codes[row] = code
