"""Scalar resources (extended resources, huge pages): the offered and requested amounts of each row.

From nodes and pods to a mapping per row, and from a name to the rows that offer it. Users can invent names, so that
they take memory only where they occur; a name becomes a column of the table only if many rows offer it, or the
configuration names it.
"""

from collections.abc import Mapping
from typing import Final

from kubesched.api.go_numbers import int64

# A resource gets a column only if more rows than this offer it, and more than one in FEW_OF of all rows.
FEWEST_OFFERING: Final = 16
FEW_OF: Final = 32

_NOBODY: Final[frozenset[int]] = frozenset()


class ScalarResources:
    """Amounts by row and name; zero amounts are not kept."""

    __slots__ = ("_offering", "asked", "offered")

    def __init__(self) -> None:
        self.offered: list[dict[str, int]] = []
        self.asked: list[dict[str, int]] = []
        self._offering: dict[str, set[int]] = {}

    def __len__(self) -> int:
        """Return how many amounts are kept."""
        return sum(map(len, self.offered)) + sum(map(len, self.asked)) + sum(map(len, self._offering.values()))

    def add_row(self) -> None:
        """Add one more row."""
        self.offered.append({})
        self.asked.append({})

    def offer(self, row: int, amounts: Mapping[str, int]) -> None:
        """Set the amounts that a row offers."""
        before, now = self.offered[row], {name: int64(amount) for name, amount in amounts.items() if amount}
        self.offered[row] = now
        for name in before.keys() - now.keys():
            rows = self._offering[name]
            rows.discard(row)
            if not rows:
                del self._offering[name]
        for name in now.keys() - before.keys():
            self._offering.setdefault(name, set()).add(row)

    def ask(self, row: int, name: str, amount: int) -> int:
        """Add to the requests of a row's pods; return the sum."""
        asked = self.asked[row]
        total = int64(asked.get(name, 0) + amount)
        if total:
            asked[name] = total
        else:
            asked.pop(name, None)
        return total

    def rows_offering(self, name: str) -> set[int] | frozenset[int]:
        """Return the rows that offer a resource."""
        return self._offering.get(name, _NOBODY)

    def free(self, row: int, name: str) -> int:
        """Return the free amount of a row."""
        return self.offered[row].get(name, 0) - self.asked[row].get(name, 0)

    def is_common(self, name: str) -> bool:
        """Return whether many rows offer a resource."""
        return len(self.rows_offering(name)) > max(FEWEST_OFFERING, len(self.offered) // FEW_OF)
