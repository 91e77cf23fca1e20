"""A plugin's answers for one kind of pod, kept true while the table changes.

From plugins to the evaluator. A question belongs to (plugin, key); it holds a column over all rows and the sequence
number the column is true for, and catches up from the change log: few rows one by one, more by a gathered vector, all
of them after an epoch or when the log does not reach back. `wide_seq` is the newest sequence number at which rows may
have changed that the log does not name; a reader that is older looks at the whole column again.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.cluster.changes import Changes, Group
from kubesched.cluster.pod_info import PodInfo
from kubesched.cluster.table import NodeTable
from kubesched.framework.cycle import CycleState
from kubesched.framework.nodes import NodeRow, Nodes
from kubesched.framework.normalizing import invalid_score
from kubesched.framework.outcomes import PreFilterResult
from kubesched.framework.plugin import (
    MAX_NODE_SCORE,
    MIN_NODE_SCORE,
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from kubesched.framework.status import Code, Status, StatusTable
from kubesched.framework.verdict import Verdict

FEW_ROWS = 25
# Groups that pods bring and take: a filter that reads none of them answers the same in every world.
OF_PODS = Group.RESOURCES | Group.PORTS | Group.PODS | Group.VOLUMES | Group.DEVICES


class Question(ABC):
    """The bookkeeping that all questions share."""

    reads: int

    def __init__(self, table: NodeTable, reads: int) -> None:
        self.table = table
        self.reads = reads
        self.seq = -1
        self.wide_seq = -1
        self.size = 0

    def refresh(self) -> None:
        """Bring the column up to date."""
        log = self.table.log
        seq = log.seq
        if self.seq == seq:
            return
        changes = log.since(self.seq) if self.seq >= 0 and self.size == self.table.size else None
        if changes is None or changes.everywhere & self.reads:
            self.evaluate()
            self.size = self.table.size
            self.wide_seq = seq
        elif changes.groups & self.reads:
            self.catch_up(changes)
        self.seq = seq

    @abstractmethod
    def evaluate(self) -> None:
        """Compute the whole column."""

    @abstractmethod
    def catch_up(self, changes: Changes) -> None:
        """Bring the column up to date with some changed rows; sets `wide_seq` if it touched other rows."""


class FilterWorlds(ABC):
    """A filter's state in a batch of worlds; world i is asked only about row `rows[i]`."""

    @abstractmethod
    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Put pod `slots[k]` into world `worlds[k]` (sign 1) or take it out (sign -1); a world occurs at most once."""

    @abstractmethod
    def verdict(self) -> Verdict:
        """Return the verdict of every world."""

    @abstractmethod
    def select(self, worlds: NDArray[np.intp]) -> "FilterWorlds":
        """Return an independent copy of some worlds."""


class FilterQuestion(Question):
    """PreFilter's and Filter's answers: `skip`, `rejection`, `node_names`, and a status index for every row."""

    def __init__(self, plugin: FilterPlugin, pod: PodInfo, table: NodeTable, statuses: StatusTable) -> None:
        super().__init__(table, plugin.reads)
        self.plugin = plugin
        self.pod = pod
        self.statuses = statuses
        self.skip = False
        self.rejection: Status | None = None
        self.node_names: frozenset[str] | None = None
        self.ids: NDArray[np.int16] = np.zeros(0, np.int16)
        # whether no row is rejected; may be False although none is
        self.passes_everywhere = False

    def begin(self) -> None:
        """Bring `skip`, `rejection` and `node_names` up to date; where they never change there is nothing to do."""

    def assign(self, verdict: Verdict, rows: NDArray[np.intp] | None = None) -> None:
        """Write a verdict into the column, at some rows or as a whole."""
        ids = self.indices(verdict)
        if rows is None:
            self.ids = ids
            self.passes_everywhere = not ids.any()
        else:
            self.ids[rows] = ids
            self.passes_everywhere = self.passes_everywhere and not ids.any()

    def indices(self, verdict: Verdict) -> NDArray[np.int16]:
        """Return a verdict as indices into the status table."""
        translate = np.array(self.statuses.intern_all(verdict.statuses, self.plugin.name), np.int16)
        ids: NDArray[np.int16] = translate[verdict.which]
        return ids

    @abstractmethod
    def judge(self, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Return status indices for some rows, from the table as it is, whether or not the column is up to date."""

    @abstractmethod
    def worlds(self, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return a batch of worlds over `rows`, nothing changed in them yet."""


class WorldsFilterPlugin(FilterPlugin):
    """A row-scoped filter that looks at pods and judges a batch of worlds in columns."""

    def filter_worlds(self, pod: PodInfo, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return a batch of worlds over `rows`, nothing changed in them yet."""
        raise NotImplementedError


class QuestionFilterPlugin(FilterPlugin):
    """A filter whose verdict for a row depends on other rows: it keeps its own columns."""

    def filter_question(self, pod: PodInfo, statuses: StatusTable) -> FilterQuestion:
        """Return the question of a pod; PreFilter's outcome is part of it."""
        raise NotImplementedError


class QuestionScorePlugin(ScorePlugin):
    """A score whose raw value for a row depends on other rows: it keeps its own columns."""

    def score_question(self, pod: PodInfo) -> "ScoreQuestion":
        """Return the question of a pod; PreScore's outcome is part of it."""
        raise NotImplementedError


class RowFilterQuestion(FilterQuestion):
    """A filter whose verdict for a row depends on that row alone; derived from `filter` and `filter_nodes`."""

    def __init__(
        self,
        plugin: FilterPlugin,
        pod: PodInfo,
        table: NodeTable,
        statuses: StatusTable,
        cycle: CycleState,
        *,
        pre_filter: bool,
    ) -> None:
        super().__init__(plugin, pod, table, statuses)
        self.cycle = cycle
        if pre_filter and isinstance(plugin, PreFilterPlugin):
            self._take(plugin.pre_filter(cycle, pod))

    def _take(self, outcome: PreFilterResult | Status | None) -> None:
        if isinstance(outcome, PreFilterResult):
            self.node_names = outcome.node_names
        elif outcome is not None and outcome.code is Code.SKIP:
            self.skip = True
        elif outcome is not None and outcome.code is not Code.SUCCESS:
            self.rejection = outcome.by(self.plugin.name)

    def evaluate(self) -> None:
        """Ask the plugin about every row."""
        self.assign(self.plugin.filter_nodes(self.cycle, self.pod, Nodes(self.table)))

    def catch_up(self, changes: Changes) -> None:
        """Ask the plugin about the changed rows."""
        rows = changes.touching(self.reads)
        if not rows:
            return
        if len(rows) > FEW_ROWS:
            self.assign(*self._gathered(np.array(rows)))
            return
        table, ids, intern = self.table, self.ids, self.statuses.intern
        for row in rows:
            if table.nodes[row] is None:
                ids[row] = 0
                continue
            status = self.plugin.filter(self.cycle, self.pod, NodeRow(table, row))
            index = 0 if status is None else intern(status, self.plugin.name)
            ids[row] = index
            if index:
                self.passes_everywhere = False

    def _gathered(self, rows: NDArray[np.intp]) -> tuple[Verdict, NDArray[np.intp]]:
        return self.plugin.filter_nodes(self.cycle, self.pod, Nodes(self.table, rows)), rows

    def judge(self, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Ask the plugin about some rows."""
        return self.indices(self._gathered(rows)[0])

    def worlds(self, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return worlds in which pods do not matter, or which the plugin is asked about one by one."""
        if isinstance(self.plugin, WorldsFilterPlugin):
            return self.plugin.filter_worlds(self.pod, rows)
        if not self.reads & OF_PODS:
            return UnchangingWorlds(self._gathered(rows)[0])
        from kubesched.framework.row_worlds import RowWorlds

        return RowWorlds(self.plugin, self.pod, self.cycle, self.table, rows)


class UnchangingWorlds(FilterWorlds):
    """Worlds for a filter that does not look at pods."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Do nothing."""

    def verdict(self) -> Verdict:
        """Return the verdict on the rows as they are."""
        return self._verdict

    def select(self, worlds: NDArray[np.intp]) -> FilterWorlds:
        """Return some of the worlds."""
        return UnchangingWorlds(Verdict(self._verdict.which[worlds], self._verdict.statuses))


class Feasible:
    """The rows that passed every filter; `version` differs whenever the set may differ."""

    __slots__ = ("count", "mask", "version")

    def __init__(self, mask: NDArray[np.bool_], version: Any) -> None:
        self.mask = mask
        self.count = int(np.count_nonzero(mask))
        self.version = version


class ScoreQuestion(Question):
    """PreScore's and Score's answers: `skip`, `failure`, raw scores and the normalised ones of feasible rows."""

    # whether `scores` differ from `raw`
    normalized = True

    def __init__(self, plugin: ScorePlugin, pod: PodInfo, table: NodeTable) -> None:
        super().__init__(table, plugin.score_reads)
        self.plugin = plugin
        self.pod = pod
        self.skip = False
        self.failure: Status | None = None
        # whose failure it is: PreScore's, or Score's
        self.pre_score_failed = True
        self.raw: NDArray[np.int64] = np.zeros(0, np.int64)

    def prepare(self, feasible: Feasible) -> None:
        """Bring `raw`, `skip` and `failure` up to date for a set of feasible rows."""
        self.refresh()

    @abstractmethod
    def scores(self, feasible: Feasible) -> NDArray[np.int64] | int | Status:
        """Return scores after normalisation: a column (meaningful at feasible rows), one number for all, an error."""


class RowScoreQuestion(ScoreQuestion):
    """A score whose raw value for a row depends on that row alone; derived from `score` and `score_nodes`."""

    def __init__(
        self, plugin: ScorePlugin, pod: PodInfo, table: NodeTable, cycle: CycleState, *, pre_score: bool
    ) -> None:
        super().__init__(plugin, pod, table)
        self.cycle = cycle
        self.pre_score_failed = False
        # unnormalised scores that may be out of range take the same way, to be looked at
        self.normalized = plugin.normalizes or not plugin.in_range
        self._pre_score = pre_score and isinstance(plugin, PreScorePlugin)
        # one value for all rows, or None if they differ
        self._uniform: int | None = None
        self._scores: NDArray[np.int64] | int | Status = 0
        self._scores_for: object = None

    def prepare(self, feasible: Feasible) -> None:
        """Ask PreScore once, then keep the raw column up to date."""
        if self._pre_score:
            self._pre_score = False
            assert isinstance(self.plugin, PreScorePlugin)
            rows = np.flatnonzero(feasible.mask)
            status = self.plugin.pre_score(self.cycle, self.pod, Nodes(self.table, rows))
            if status is not None and status.code is Code.SKIP:
                self.skip = True
            elif status is not None and status.code is not Code.SUCCESS:
                self.failure = status.by(self.plugin.name)
                self.pre_score_failed = True
        if not self.skip and self.failure is None:
            self.refresh()

    def evaluate(self) -> None:
        """Ask the plugin about every row."""
        raw = self.plugin.score_nodes(self.cycle, self.pod, Nodes(self.table))
        self._scores_for = None
        if isinstance(raw, Status):
            self.failure = raw.by(self.plugin.name)
            return
        self.raw = raw
        present = self.table.present[: self.table.size]
        values = raw[present]
        self._uniform = int(values[0]) if len(values) and bool((values == values[0]).all()) else None

    def catch_up(self, changes: Changes) -> None:
        """Ask the plugin about the changed rows."""
        rows = changes.touching(self.reads)
        if not rows:
            return
        self._scores_for = None
        if len(rows) > FEW_ROWS:
            scores = self.plugin.score_nodes(self.cycle, self.pod, Nodes(self.table, np.array(rows)))
            if isinstance(scores, Status):
                self.failure = scores.by(self.plugin.name)
                return
            self.raw[rows] = scores
            self._uniform = None
            return
        for row in rows:
            if self.table.nodes[row] is not None:
                score = self.plugin.score(self.cycle, self.pod, NodeRow(self.table, row))
                if isinstance(score, Status):
                    self.failure = score.by(self.plugin.name)
                    return
                self.raw[row] = score
                if score != self._uniform:
                    self._uniform = None

    def scores(self, feasible: Feasible) -> NDArray[np.int64] | int | Status:
        """Normalise the raw scores of the feasible rows, unless nothing moved since last time."""
        if not self.normalized:
            return self.raw
        if self._scores_for != feasible.version:
            self._scores = self._normalize(feasible)
            self._scores_for = feasible.version
        return self._scores

    def _normalize(self, feasible: Feasible) -> NDArray[np.int64] | int | Status:
        raw = self.raw[feasible.mask] if self._uniform is None else np.array([self._uniform])
        normalized = self.plugin.normalize_scores(self.cycle, self.pod, raw)
        if isinstance(normalized, Status):
            return normalized.by(self.plugin.name)
        if not self.plugin.in_range:
            wrong = normalized[(normalized < MIN_NODE_SCORE) | (normalized > MAX_NODE_SCORE)]
            if len(wrong):
                return invalid_score(self.plugin.name, int(wrong[0]))
        if self._uniform is not None:
            return int(normalized[0])
        column = np.zeros(self.size, np.int64)
        column[feasible.mask] = normalized
        return column
