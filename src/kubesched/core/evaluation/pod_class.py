"""A class of pods: the questions that pods of one kind ask, and the columns combined from them.

From questions to two combined columns over all rows, caught up only where something changed:

* `passing`: the rows that every row-scoped filter lets through;
* `base_scores`: the weighted sum of the scores that need no normalisation.

Filters and scores that look at several rows at once (spreading, affinity) stay apart and are combined last.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Group
from kubesched.core.cluster.table import NodeTable
from kubesched.core.evaluation.pre_filtering import PreFiltered, pre_filter
from kubesched.core.framework.plugin import MAX_NODE_SCORE
from kubesched.core.framework.questions import FEW_ROWS, SOME_ROWS, FilterQuestion, Question, ScoreQuestion
from kubesched.core.framework.row_questions import RowFilterQuestion

# the rank of a row that is not feasible
WORST = -(2**31)

Names = tuple[tuple[str, ...], tuple[str, ...]]
# 32-bit or 64-bit integers
Totals = NDArray[Any]


class PodClass:
    """The questions of one kind of pod, in the profile's order."""

    def __init__(
        self,
        table: NodeTable,
        pre_filters: Sequence[FilterQuestion],
        filters: Sequence[FilterQuestion],
        pre_scores: Sequence[ScoreQuestion],
        scores: Sequence[tuple[ScoreQuestion, int]],
    ) -> None:
        self.table = table
        self.pre_filters = pre_filters
        # the questions whose PreFilter outcome can change
        self.deciding = [q for q in pre_filters if type(q).begin is not FilterQuestion.begin]
        self._pre_filtered: PreFiltered | None = None
        # the names of who pre-filters and filters, or pre-scores and scores, by who of those that decide is skipped
        self.filter_names: dict[tuple[bool, ...], Names] = {}
        self.score_names: dict[tuple[bool, ...], Names] = {}
        self.filters = filters
        self.pre_scores = pre_scores
        self.scores = scores
        self.scored = [question for question, _ in scores]
        # every question of scoring once, those that PreScore asks first
        self.scoring = list(dict.fromkeys([*pre_scores, *self.scored]))
        # A row-scoped question knows for good whether it is skipped; the others decide anew in each cycle.
        self.row_filters = [
            q for q in filters if isinstance(q, RowFilterQuestion) and not q.skip and not q.plugin.alive_only
        ]
        self.wide_filters = [q for q in filters if not isinstance(q, RowFilterQuestion) and not q.plugin.alive_only]
        self.alive_filters = [q for q in filters if q.plugin.alive_only]
        self.passing: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.passing_seq = -1
        # another object whenever `passing` may differ; questions are shared, so no two classes may have an equal one
        self.passing_version = object()
        # half the memory unless weights are enormous
        highest = MAX_NODE_SCORE * sum(weight for _, weight in scores)
        self._dtype: type[np.int32] | type[np.int64] = np.int32 if highest < 2**30 else np.int64
        self.base_scores: Totals = np.zeros(0, self._dtype)
        self.base_seq = -1
        # when the questions of scoring were last brought up to date
        self.scored_seq = -1
        # the newest sequence number at which one of the two was made as a whole
        self._whole_seq = -1
        self._ranking: Totals = np.zeros(0, self._dtype)
        self._ranking_seq = -1

    def pre_filter(self) -> PreFiltered:
        """Return what PreFilter as a whole says, its questions' outcomes brought up to date."""
        known = self._pre_filtered
        for question in self.deciding:
            question.begin()
            if question.rejection is not None or question.node_names is not None:
                # otherwise it only says whether it is skipped, which makes no difference to the others
                known = None
        if known is None:
            known = self._pre_filtered = pre_filter(self.pre_filters)
        return known

    @property
    def narrowed(self) -> bool:
        """Return whether PreFilter narrows the search to some nodes."""
        return any(question.node_names is not None for question in self.pre_filters)

    def refresh_passing(self) -> None:
        """Bring `passing` up to date."""
        seq = self.table.log.seq
        if self.passing_seq == seq:
            return
        rows = self._changed_rows(self.row_filters, self.passing_seq, Group.PRESENCE)
        if rows is None or len(self.passing) != self.table.size:
            self._combine_passing()
            self._whole_seq = seq
        elif rows:
            self._recheck_passing(rows)
        self.passing_seq = seq

    def _combine_passing(self) -> None:
        passing = self.table.present[: self.table.size].copy()
        for question in self.row_filters:
            if not question.passes_everywhere:
                passing &= question.ids == 0
        self.passing = passing
        self.passing_version = object()

    def _recheck_passing(self, rows: Sequence[int]) -> None:
        passing, present = self.passing, self.table.present
        columns = [question.ids for question in self.row_filters if not question.passes_everywhere]
        if len(rows) > FEW_ROWS:
            these = np.array(rows)
            rejected = ~present[these]
            for column in columns:
                rejected |= column[these] != 0
            if (passing[these] == rejected).any():
                passing[these] = ~rejected
                self.passing_version = object()
            return
        for row in rows:
            now = bool(present[row]) and not any(column[row] for column in columns)
            if now != passing[row]:
                passing[row] = now
                self.passing_version = object()

    def refresh_base_scores(self, active: Sequence[tuple[ScoreQuestion, int]]) -> None:
        """Bring `base_scores`, the sum over `active`, up to date."""
        seq = self.table.log.seq
        if self.base_seq == seq:
            return
        rows = self._changed_rows([question for question, _ in active], self.base_seq, Group.NOTHING)
        if rows is None or len(self.base_scores) != self.table.size:
            self.base_scores = np.zeros(self.table.size, self._dtype)
            for question, weight in active:
                self.base_scores += np.multiply(question.raw, weight, dtype=self._dtype)
            self._whole_seq = seq
        elif rows:
            base = self.base_scores
            columns = [(question.raw, weight) for question, weight in active]
            if len(rows) > FEW_ROWS:
                these = np.array(rows)
                totals = np.zeros(len(rows), self._dtype)
                for column, weight in columns:
                    totals += np.multiply(column[these], weight, dtype=self._dtype)
                base[these] = totals
            else:
                for row in rows:
                    base[row] = sum(int(column[row]) * weight for column, weight in columns)
        self.base_seq = seq

    def ranking(self) -> Totals:
        """Return `base_scores` where a row passes and WORST elsewhere; both must be up to date."""
        since, seq = self._ranking_seq, self.table.log.seq
        if since == seq:
            return self._ranking
        changes = self.table.log.since(since) if since >= self._whole_seq else None
        if changes is None or len(changes.rows) > self.table.size // SOME_ROWS:
            self._ranking = np.where(self.passing, self.base_scores, WORST)
        elif len(changes.rows) > FEW_ROWS:
            rows = np.array(list(changes.rows))
            self._ranking[rows] = np.where(self.passing[rows], self.base_scores[rows], WORST)
        else:
            for row in changes.rows:
                self._ranking[row] = self.base_scores[row] if self.passing[row] else WORST
        self._ranking_seq = seq
        return self._ranking

    def _changed_rows(self, questions: Sequence[Question], since: int, also: int) -> list[int] | None:
        """Refresh the questions; return the rows in which any may differ from `since`, None if that is unknown."""
        seq, size = self.table.log.seq, self.table.size
        changes = self.table.log.since(since) if since >= 0 else None
        groups = changes.groups if changes is not None else 0
        reads = also
        wide = changes is None
        for question in questions:
            if question.seq != seq:
                if (
                    changes is not None
                    and question.seq >= since
                    and question.size == size
                    and not question.reads & groups
                ):
                    # nothing that it reads has changed, and there are no rows that it has not seen
                    question.seq = seq
                else:
                    question.refresh()
            wide = wide or question.wide_seq > since
            reads |= question.reads
        if wide or changes is None:
            return None
        if not groups & reads:
            return []
        rows = changes.touching(reads)
        return rows if len(rows) <= max(FEW_ROWS, size // SOME_ROWS) else None
