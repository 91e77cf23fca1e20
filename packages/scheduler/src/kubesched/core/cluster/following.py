"""Following the change log: a reader's place in it, and columns that are kept true while the table changes.

From the change log to everything that is derived from the table. `Cursor` is a place in the log; it knows which groups
its reader reads, and returns the changes to them since the last call. `DerivedColumn` is a column over all rows with a
cursor; `RowwiseColumn` a column whose value in a row depends on that row alone; `CombinedColumn` one that is made from
other columns row by row.

Why a column is true after `refresh`. A column is *true at p* if it equals the result of `evaluate` makes of the table
as it was after change p. It depends on nothing but the groups that it reads and on how many rows there are. Let its
cursor advance from p to s.

* None: no change in (p, s] touches what it reads. The column that was true at p is true at s.
* `Changes`: every change that touches what it reads names a row. `catch_up` looks at these rows again; where it changes
  others, too, it counts up `generation`.
* `EVERYTHING`: an epoch changed, or the log does not reach back to p, as at the beginning. `evaluate` makes the whole
  column, which counts up `generation`. Rows that are added are an epoch that every reader reads.

A combined column reads all that its inputs read. Suppose that its inputs are true at p. At s, an input of which nothing
changed in (p, s] is still true, so it is left alone, wherever its own cursor stands; the others are refreshed. A row of
the combined column differs only where a row of an input does. That row is named in (p, s], unless an input changed
rows that the log does not name; then its generation is another one than when this column last refreshed it, and the
whole column is rebuilt. It makes no difference whether another column refreshed an input meanwhile: the rows of
(p, s] include those that changed then.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import ANYTHING, Changes, Reads
from kubesched.core.cluster.restrictions import restricted
from kubesched.core.cluster.table import NodeTable

# The most changed rows that are recomputed one by one.
FEW_ROWS: Final = 25
# One in this many rows may change and be recomputed as one vector; beyond it the whole column is rebuilt.
SOME_ROWS: Final = 8


def too_many(rows: int, size: int) -> bool:
    """Return whether rebuilding a column of `size` rows is cheaper than recomputing the given number of rows."""
    return rows > most_rows(size)


def most_rows(size: int) -> int:
    """Return the most changed rows that are recomputed; beyond it the whole column is rebuilt."""
    return max(FEW_ROWS, size // SOME_ROWS)


class Extent(Enum):
    """A cursor's answer in place of changed rows: any row may differ."""

    EVERYTHING = auto()


EVERYTHING: Final = Extent.EVERYTHING


class Cursor:
    """A reader's place in the change log; `seq` is the newest change that the reader knows of.

    Every reader reads which rows there are and which node is on a row.
    """

    __slots__ = ("_before", "_log", "reads", "seq")

    def __init__(self, table: NodeTable, reads: int) -> None:
        self._log = table.log
        self.reads = reads | Reads.PRESENCE
        self.seq = -1
        self._before = -1

    def advance(self) -> Changes | Extent | None:
        """Advance to the newest change; return the changes that the reader reads, None if there were none."""
        log, before = self._log, self.seq
        if before == log.seq:
            return None
        changes = log.since(before)
        self._before, self.seq = before, log.seq
        if changes is None:
            return EVERYTHING
        if not changes.groups & self.reads:
            return None
        return EVERYTHING if changes.everywhere & self.reads else changes

    def named(self) -> Changes | None:
        """Return the changes that the last advance passed, even if any row may differ; None if they are not known."""
        return self._log.since(self._before)

    def lose(self) -> None:
        """Leave the log: the next advance says that everything may differ."""
        self.seq = -1


class DerivedColumn(ABC):
    """A column that is made from the table; `generation` counts changes of rows that the log does not name.

    `restricted_to` are the groups that a plugin may read while it computes the column. None adds no restriction.
    Columns of in-tree plugins have no restriction, nor have answers that are not kept.
    """

    def __init__(self, table: NodeTable, reads: int) -> None:
        self.table = table
        self.cursor = Cursor(table, reads)
        self.reads = self.cursor.reads
        self.restricted_to: int | None = None
        self.generation = 0

    def refresh(self) -> None:
        """Bring the column up to date."""
        changed = self.cursor.advance()
        if changed is None:
            return
        try:
            # few columns have a restriction, and this runs dozens of times for every pod
            if self.restricted_to is None:
                self._follow(changed)
            else:
                with restricted(self.table.log, self.restricted_to):
                    self._follow(changed)
        except BaseException:
            self.cursor.lose()
            raise

    def _follow(self, changed: Changes | Extent) -> None:
        """Recompute the column where something changed."""
        if changed is EVERYTHING:
            self.generation += 1
            self.evaluate()
        else:
            self.catch_up(changed)

    @abstractmethod
    def evaluate(self) -> None:
        """Make the whole column."""

    @abstractmethod
    def catch_up(self, changes: Changes) -> None:
        """Bring the column up to date with changed rows; counts up `generation` if other rows change, too."""


class RowwiseColumn(DerivedColumn):
    """A column whose value in a row depends on that row alone."""

    def catch_up(self, changes: Changes) -> None:
        """Recompute few changed rows one by one, some as a gathered vector; for more, rebuild the column."""
        rows = changes.touching(self.reads)
        if len(rows) <= FEW_ROWS:
            self.evaluate_few(rows)
        elif len(rows) <= self.table.size // SOME_ROWS:
            self.evaluate_rows(np.array(rows, np.intp))
        else:
            self.generation += 1
            self.evaluate()

    @abstractmethod
    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Make the column anew at a few rows, one by one."""

    @abstractmethod
    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Make the column anew at some rows."""


class CombinedColumn(RowwiseColumn):
    """A column that is made row by row from other columns."""

    def __init__(self, table: NodeTable, inputs: Sequence[DerivedColumn]) -> None:
        reads: int = Reads.NOTHING
        for column in inputs:
            reads |= column.reads
        super().__init__(table, reads)
        self._inputs = inputs
        # of each input, when it was last refreshed for this column
        self._generations = [0] * len(inputs)

    def refresh(self) -> None:
        """Bring the column up to date, and before it the inputs of which something changed."""
        changed = self.cursor.advance()
        if changed is None:
            return
        remade = changed is EVERYTHING
        groups = ANYTHING if changed is EVERYTHING else changed.groups
        seq, generations = self.cursor.seq, self._generations
        try:
            for index, column in enumerate(self._inputs):
                if column.reads & groups:
                    if column.cursor.seq != seq:
                        column.refresh()
                    if column.generation != generations[index]:
                        generations[index] = column.generation
                        remade = True
            if remade or changed is EVERYTHING:
                self.generation += 1
                self.evaluate()
            else:
                self.catch_up(changed)
        except BaseException:
            self.cursor.lose()
            raise
