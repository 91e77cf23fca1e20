"""A class of pods: the questions that pods of one kind ask, and the columns combined from them.

From questions to combined columns over all rows, which follow the change log (`cluster.following`):

* `Passing`: the rows that every row-scoped filter lets through;
* `BaseScores`: the weighted sum of the scores that need no normalisation;
* `Ranking`: the base scores of the rows that pass.

Filters and scores that look at several rows at once (spreading, affinity) stay apart and are combined last.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import ANYTHING
from kubesched.core.cluster.following import CombinedColumn, Cursor
from kubesched.core.cluster.table import NodeTable
from kubesched.core.evaluation.leaders import Leaders
from kubesched.core.evaluation.pre_filtering import PreFiltered, pre_filter
from kubesched.core.framework.columns.questions import FilterQuestion, ScoreQuestion
from kubesched.core.framework.columns.row_questions import RowFilterQuestion
from kubesched.core.framework.plugin import MAX_NODE_SCORE
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import StatusTable

# the rank of a row that is not feasible
WORST = -(2**31)

Names = tuple[tuple[str, ...], tuple[str, ...]]
# 32-bit or 64-bit integers
Totals = NDArray[Any]
Weighted = tuple[ScoreQuestion, int]
MakeScores = Callable[[], tuple[Sequence[ScoreQuestion], Sequence[Weighted]]]
C = TypeVar("C", bound=CombinedColumn)


class Passing(CombinedColumn):
    """The rows with a node that every row-scoped filter lets through.

    `version` is another object whenever the mask may differ; no two columns have an equal one.
    """

    def __init__(self, table: NodeTable, filters: Sequence[FilterQuestion]) -> None:
        super().__init__(table, filters)
        self._filters = filters
        self.mask: NDArray[np.bool_] = np.zeros(0, np.bool_)
        # the number of passing rows
        self.count = 0
        self.version = object()

    def evaluate(self) -> None:
        """Combine all rows."""
        mask = self.table.present[: self.table.size].copy()
        for question in self._filters:
            if not question.passes_everywhere:
                mask &= question.ids == 0
        self.mask = mask
        self.count = int(np.count_nonzero(mask))
        self.version = object()

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Combine some rows."""
        rejected = ~self.table.present[rows]
        for question in self._filters:
            if not question.passes_everywhere:
                rejected |= question.ids[rows] != 0
        if (self.mask[rows] == rejected).any():
            self.mask[rows] = ~rejected
            self.count = int(np.count_nonzero(self.mask))
            self.version = object()

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Combine a few rows, one by one."""
        passes, present = self.mask.item, self.table.present.item
        objections = [question.ids.item for question in self._filters if not question.passes_everywhere]
        for row in rows:
            now = present(row)
            for objection in objections:
                if objection(row):
                    now = False
                    break
            if now != passes(row):
                self.mask[row] = now
                self.count += 1 if now else -1
                self.version = object()


class BaseScores(CombinedColumn):
    """Weighted sum of the scores that need no normalisation."""

    def __init__(self, table: NodeTable, scores: Sequence[Weighted], dtype: type[np.int32] | type[np.int64]) -> None:
        super().__init__(table, [question for question, _ in scores])
        self._scores = scores
        self._dtype = dtype
        self.totals: Totals = np.zeros(0, dtype)

    def evaluate(self) -> None:
        """Add up all rows."""
        self.totals = np.zeros(self.table.size, self._dtype)
        for question, weight in self._scores:
            self.totals += np.multiply(question.raw, weight, dtype=self._dtype)

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Add up some rows."""
        totals = np.zeros(len(rows), self._dtype)
        for question, weight in self._scores:
            totals += np.multiply(question.raw[rows], weight, dtype=self._dtype)
        self.totals[rows] = totals

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Add up a few rows, one by one."""
        totals = self.totals
        columns = [(question.raw.item, weight) for question, weight in self._scores]
        for row in rows:
            total = 0
            for score, weight in columns:
                total += score(row) * weight
            totals[row] = total


class Ranking(CombinedColumn):
    """The base scores where a row passes, WORST elsewhere."""

    def __init__(self, table: NodeTable, passing: Passing, base_scores: BaseScores) -> None:
        super().__init__(table, (passing, base_scores))
        self._passing = passing
        self._base_scores = base_scores
        self.totals: Totals = np.zeros(0, np.int32)
        self._leaders = Leaders()

    def evaluate(self) -> None:
        """Rank all rows."""
        self.totals = np.where(self._passing.mask, self._base_scores.totals, WORST)
        self._leaders.forget()

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Rank some rows."""
        self.totals[rows] = np.where(self._passing.mask[rows], self._base_scores.totals[rows], WORST)
        self._leaders.forget()

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Rank a few rows, one by one."""
        total, changed = self.totals.item, self._leaders.changed
        passing, base = self._passing.mask.item, self._base_scores.totals.item
        for row in rows:
            old, new = total(row), base(row) if passing(row) else WORST
            if old != new:
                self.totals[row] = new
                changed(row, old, new)

    def leaders(self) -> Sequence[int]:
        """Return the rows of the highest rank; valid until a row changes."""
        return self._leaders.of(self.totals)


class SharedColumns:
    """The combined columns of a table; classes that ask the same questions share them.

    A column exists as long as a class uses it. It refers to its questions, so their identities stay theirs.
    """

    def __init__(self, table: NodeTable) -> None:
        self.table = table
        self._known: WeakValueDictionary[tuple[object, ...], CombinedColumn] = WeakValueDictionary()

    def passing(self, filters: Sequence[FilterQuestion]) -> Passing:
        """Return the rows that pass some filters."""
        return self._shared(("passing", *map(id, filters)), lambda: Passing(self.table, filters))

    def base_scores(self, scores: Sequence[Weighted], dtype: type[np.int32] | type[np.int64]) -> BaseScores:
        """Return the weighted sum of some scores."""
        key = (dtype, *((id(question), weight) for question, weight in scores))
        return self._shared(key, lambda: BaseScores(self.table, scores, dtype))

    def ranking(self, passing: Passing, base_scores: BaseScores) -> Ranking:
        """Return the ranking of the rows that pass by their base scores."""
        return self._shared((id(passing), id(base_scores)), lambda: Ranking(self.table, passing, base_scores))

    def _shared(self, key: tuple[object, ...], make: Callable[[], C]) -> C:
        known = self._known.get(key)
        if known is None:
            made = self._known[key] = make()
            return made
        return cast("C", known)


class PodClass:
    """The questions of one kind of pod, in the profile's order.

    `make_scores` returns the questions of PreScore, and of Score with their weights; it is called when nodes are
    scored, unless they were taken before. A pod that can go to one node only needs none.
    """

    def __init__(
        self,
        columns: SharedColumns,
        statuses: StatusTable,
        pre_filters: Sequence[FilterQuestion],
        filters: Sequence[FilterQuestion],
        make_scores: MakeScores,
    ) -> None:
        self.table = table = columns.table
        self._columns = columns
        # the table to which the status indices of the columns refer
        self.statuses = statuses
        self.pre_filters = pre_filters
        # the questions whose PreFilter outcome can change
        self.deciding = [q for q in pre_filters if type(q).begin is not FilterQuestion.begin]
        self._pre_filtered: PreFiltered | None = None
        # names of the plugins that run at PreFilter and Filter (PreScore and Score), by the skipped deciding questions
        self.filter_names: dict[tuple[bool, ...], Names] = {}
        self.score_names: dict[tuple[bool, ...], Names] = {}
        self.filters = filters
        # None once the scores exist: it refers to the pod and its cycle, which must not live as long as the class
        self._make_scores: MakeScores | None = make_scores
        self.row_filters: list[FilterQuestion] = []
        self.wide_filters: list[FilterQuestion] = []
        self.alive_filters: list[FilterQuestion] = []
        for question in filters:
            if question.plugin.alive_only:
                self.alive_filters.append(question)
            elif not isinstance(question, RowFilterQuestion):
                self.wide_filters.append(question)
            elif not question.skip:
                # whether a row-scoped question is skipped never changes; other questions decide it in each cycle
                self.row_filters.append(question)
        self.passing = columns.passing(self.row_filters)
        self.scoring_cursor = Cursor(table, ANYTHING)
        # built once the skipped scores are known
        self._base_scores: BaseScores | None = None
        self._active: Sequence[Weighted] = ()
        self._ranking: Ranking | None = None
        # for pods that fit nowhere: a sequence number of the change log, and the verdicts as of it
        self.rejected: tuple[int, NodeVerdicts] | None = None

    def take_scores(self, pre_scores: Sequence[ScoreQuestion], scores: Sequence[Weighted]) -> None:
        """Store the questions of PreScore, and of Score with their weights."""
        self.pre_scores, self.scores = pre_scores, scores
        self._make_scores = None

    def _take_made_scores(self) -> None:
        assert self._make_scores is not None, "the scores are taken already"
        self.take_scores(*self._make_scores())

    @cached_property
    def pre_scores(self) -> Sequence[ScoreQuestion]:
        """Return the questions of PreScore."""
        self._take_made_scores()
        return self.pre_scores

    @cached_property
    def scores(self) -> Sequence[Weighted]:
        """Return the questions of Score with their weights."""
        self._take_made_scores()
        return self.scores

    @cached_property
    def scored(self) -> Sequence[ScoreQuestion]:
        """Return the questions of Score."""
        return [question for question, _ in self.scores]

    @cached_property
    def scoring(self) -> Sequence[ScoreQuestion]:
        """Return every question of scoring once, PreScore's first."""
        return list(dict.fromkeys([*self.pre_scores, *self.scored]))

    def pre_filter(self) -> PreFiltered:
        """Return what PreFilter as a whole says, its questions' outcomes brought up to date."""
        known = self._pre_filtered
        for question in self.deciding:
            question.begin()
            if question.rejection is not None or question.node_names is not None:
                # a question that is only skipped, or not, does not affect the others
                known = None
        if known is None:
            known = self._pre_filtered = pre_filter(self.pre_filters)
        return known

    def base_scores(self, active: Sequence[Weighted]) -> Totals:
        """Return the weighted sum of some scores, brought up to date."""
        if self._base_scores is None or active != self._active:
            self._active = active
            # half the memory unless weights are enormous
            highest = MAX_NODE_SCORE * sum(weight for _, weight in self.scores)
            self._base_scores = self._columns.base_scores(active, np.int32 if highest < 2**30 else np.int64)
            self._ranking = self._columns.ranking(self.passing, self._base_scores)
        self._base_scores.refresh()
        return self._base_scores.totals

    def ranking(self, feasible: NDArray[np.bool_], totals: Totals) -> Ranking | None:
        """Return the ranking of `totals` where a row is feasible, if those are this class' own columns."""
        if self._ranking is None or self._base_scores is None:
            return None
        if totals is not self._base_scores.totals or feasible is not self.passing.mask:
            return None
        self._ranking.refresh()
        return self._ranking
