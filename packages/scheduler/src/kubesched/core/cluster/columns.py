"""Growable columns, and columns interned by value: labels, and sets such as taints.

From node attributes to NumPy arrays indexed by row. Every column of a table has the same capacity; growing
replaces the arrays, so no array may be kept across a change. Codes are not reused, but renumbered when most of them are
out of use (new nodes have new names, for example); then every reader of the table evaluates in full.
"""

from collections.abc import Hashable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.interning import Interner

ABSENT = 0
K = TypeVar("K", bound=Hashable)
# some rows of a table: a number of first rows, or rows by number
Rows = slice | NDArray[np.intp]


def grown(array: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return a copy of `array` whose last axis has `capacity` entries, the new ones zero."""
    shape = (*array.shape[:-1], capacity)
    bigger = np.zeros(shape, array.dtype)
    bigger[..., : array.shape[-1]] = array
    return bigger


class LabelColumn:
    """The values of one label key: a code per row; code 0 means that the node lacks the label.

    A topology key's codes are its domains; `counts` is the number of rows in each.
    """

    __slots__ = ("__weakref__", "_is_shared", "codes", "counts", "key", "of_value", "values")

    def __init__(self, key: str, absent: NDArray[np.int32]) -> None:
        """`absent` are the codes while no node has the label; they are copied when one gets it."""
        self.key = key
        self.codes: NDArray[np.int32] = absent
        self._is_shared = True
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
        if code == old:
            return
        if self._is_shared:
            self.codes = self.codes.copy()
            self._is_shared = False
        self.codes[row] = code

    def grow(self, absent: NDArray[np.int32]) -> None:
        """Grow to as many rows as `absent` has; `absent` is shared while no node has the label."""
        self.codes = absent if self._is_shared else grown(self.codes, len(absent))

    def renumber(self) -> None:
        """Give codes only to values that some row has."""
        used = [code for code in range(1, len(self.values)) if self.counts[code]]
        place = np.zeros(len(self.values), np.int32)
        place[used] = np.arange(1, len(used) + 1)
        self.codes = place[self.codes]
        self.values = ["", *(self.values[code] for code in used)]
        self.of_value = {value: code for code, value in enumerate(self.values) if code}
        self.counts = [0, *(self.counts[code] for code in used)]


class SetColumn(Generic[K]):
    """A set that each row has, as a code; code 0 is the empty set."""

    __slots__ = ("codes", "sets")

    def __init__(self, capacity: int) -> None:
        self.codes: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.sets: Interner[tuple[K, ...]] = Interner()
        self.sets.code(())

    def __len__(self) -> int:
        """Return the number of codes."""
        return len(self.sets)

    def of(self, row: int) -> tuple[K, ...]:
        """Return the set of a row."""
        return self.sets.values[int(self.codes[row])]

    def assign(self, row: int, members: tuple[K, ...]) -> None:
        """Set a row's code."""
        self.codes[row] = self.sets.code(members)

    def renumber(self) -> None:
        """Give codes only to sets that some row has."""
        used, which = np.unique(self.codes, return_inverse=True)
        known = self.sets.values
        self.sets = Interner()
        self.sets.code(())
        self.codes = np.array([self.sets.code(known[code]) for code in used.tolist()], np.int32)[which]
