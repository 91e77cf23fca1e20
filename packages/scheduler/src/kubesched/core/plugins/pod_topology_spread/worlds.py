"""Spread constraints in worlds: what if pods were added to, or removed from, the judged node.

From the counts of a filter question and the pods added to or removed from each world to a verdict per world. A world
changes totals only in the domains of its row, so that the minimum is the changed domain's or the other domains';
the reference's two critical paths have the same result.

The reference adds and removes pods by other rules than it counts them: a terminating pod does not count, and yet
removing it lowers the total (even below zero); an empty selector matches no counted pod, but every added or removed
one.
"""

# upstream: podtopologyspread/filtering.go, updateWithPod, criticalPaths (v1.36)

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.columns import ABSENT
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.columns.questions import FilterWorlds
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.plugins.pod_topology_spread.hard_constraint import MISSING_LABEL, TOO_UNEVEN, HardConstraint


class _Answers(dict[int, int]):
    """Label group -> the constraints that its pods match, as bits; computed on demand."""

    def __init__(self, table: NodeTable, namespace: str, hard: Sequence[HardConstraint]) -> None:
        super().__init__()
        self._groups = table.counts.groups
        self._namespace = namespace
        self._selectors = [each.constraint.selector for each in hard]

    def __missing__(self, code: int) -> int:
        group = self._groups[code]
        bits = 0
        if group.namespace == self._namespace:
            for index, selector in enumerate(self._selectors):
                bits |= selector.matches(group.labels) << index
        self[code] = bits
        return bits


class _Domain:
    """For one constraint, the domain of each world's row: its changed total, and the minimum of the other domains."""

    __slots__ = ("hard", "included", "missing", "others", "totals")

    def __init__(
        self,
        hard: HardConstraint,
        totals: NDArray[np.int64],
        others: NDArray[np.int64],
        included: NDArray[np.bool_],
        missing: NDArray[np.bool_],
    ) -> None:
        self.hard = hard
        self.totals = totals
        # the lowest total of all other domains
        self.others = others
        self.included = included
        self.missing = missing

    @classmethod
    def of_rows(cls, hard: HardConstraint, rows: NDArray[np.intp]) -> "_Domain":
        """Return the domains of rows, without changes."""
        counted = hard.counted
        codes = counted.column.codes[rows]
        totals = counted.totals[codes]
        return cls(hard, totals, hard.minimum.without(totals), counted.included[rows], codes == ABSENT)

    def select(self, worlds: NDArray[np.intp]) -> "_Domain":
        """Return an independent copy for some worlds."""
        return _Domain(self.hard, self.totals[worlds], self.others[worlds], self.included[worlds], self.missing[worlds])

    def change(self, worlds: NDArray[np.intp], matches: NDArray[np.int64], sign: int) -> None:
        """Add matching pods to, or remove them from, worlds whose row the constraint includes."""
        self.totals[worlds] += sign * matches * self.included[worlds]

    def too_uneven(self) -> NDArray[np.bool_]:
        """Return the worlds in which the pod would exceed the constraint's skew."""
        hard, totals = self.hard, self.totals
        minimum: NDArray[np.int64] | int
        if hard.too_few_domains:
            minimum = 0
        else:
            # a row that is not included has no changes, and its domain may not count
            minimum = np.where(self.included, np.minimum(totals, self.others), hard.minimum.lowest)
        uneven: NDArray[np.bool_] = totals + hard.self_match - minimum > hard.constraint.max_skew
        return uneven


class SpreadWorlds(FilterWorlds):
    """A batch of worlds; each has its own total per constraint."""

    def __init__(self, table: NodeTable, answers: _Answers, domains: list[_Domain], count: int) -> None:
        self._table = table
        self._answers = answers
        self._domains = domains
        self._count = count

    @classmethod
    def of_rows(
        cls, table: NodeTable, namespace: str, hard: Sequence[HardConstraint], rows: NDArray[np.intp]
    ) -> "SpreadWorlds":
        """Return one world per row, without changes."""
        domains = [_Domain.of_rows(each, rows) for each in hard]
        return cls(table, _Answers(table, namespace, hard), domains, len(rows))

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add pods to worlds, or remove them."""
        answers = self._answers
        groups = self._table.slots.group[slots].tolist()
        bits = np.array([answers[code] for code in groups], np.int64)
        if not bits.any():
            return
        for index, domain in enumerate(self._domains):
            domain.change(worlds, (bits >> index) & 1, sign)

    def verdict(self) -> Verdict:
        """Return the first rejection of each world."""
        objections: list[tuple[NDArray[np.bool_], Status]] = []
        for domain in self._domains:
            objections.append((domain.missing, MISSING_LABEL))
            objections.append((domain.too_uneven(), TOO_UNEVEN))
        return Verdict.first_of(self._count, *objections)

    def select(self, worlds: NDArray[np.intp]) -> "SpreadWorlds":
        """Return an independent copy of some worlds."""
        return SpreadWorlds(
            self._table, self._answers, [domain.select(worlds) for domain in self._domains], len(worlds)
        )
