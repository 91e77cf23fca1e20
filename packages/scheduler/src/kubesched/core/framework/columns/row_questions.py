"""Questions of plugins whose answer for a row depends on that row alone, made from `filter` and `score` hooks.

From `filter`/`filter_nodes` and `score`/`score_nodes` to columns. An error of a plugin fails the attempt with its name
in the message; the engine continues.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.following import RowwiseColumn
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.restrictions import restricted
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.calling.answers import (
    checked_pre_filter_result,
    checked_scores,
    checked_status,
    instance_of,
)
from kubesched.core.framework.calling.forms import filter_alone, filter_each
from kubesched.core.framework.calling.hooks import ask, filter_node, filter_nodes, score_node, score_nodes
from kubesched.core.framework.columns.column_worlds import ColumnWorlds
from kubesched.core.framework.columns.normalizing import invalid_score
from kubesched.core.framework.columns.questions import Feasible, FilterQuestion, FilterWorlds, ScoreQuestion
from kubesched.core.framework.columns.row_worlds import RowWorlds
from kubesched.core.framework.plugin import (
    MAX_NODE_SCORE,
    MIN_NODE_SCORE,
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    WorldsFilterPlugin,
)
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Code, Status, StatusTable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_rows

# Groups that change with pods: a filter that reads none of them has the same answer in every world.
OF_PODS = Reads.RESOURCES | Reads.PORTS | Reads.PODS | Reads.VOLUMES | Reads.DEVICES | Reads.POD_OBJECTS


# The most nodes for which the one-node form is faster than columns.
FEW_NODES = 4

_WORLDS = instance_of(FilterWorlds)  # type: ignore[type-abstract]

# The version of uniform scores, which are normalised for any set of feasible rows.
UNIFORM = object()


class RowFilterQuestion(RowwiseColumn, FilterQuestion):
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
            outcome = ask(plugin, "pre_filter", checked_pre_filter_result, cycle, pod)
            if isinstance(outcome, PreFilterResult):
                self.node_names = outcome.node_names
            elif outcome is not None and outcome.code is Code.SKIP:
                self.skip = True
                # no row is judged, so no change matters
                self.reads = self.cursor.reads = Reads.PRESENCE
            elif outcome is not None and outcome.code is not Code.SUCCESS:
                self.reject(outcome)

    def evaluate(self) -> None:
        """Call the plugin for every row that has a node."""
        nodes = Nodes.all_of(self.table)
        verdict = self._ask(nodes)
        _, rows = table_rows(nodes)
        if isinstance(rows, slice):
            self.assign(verdict)
        else:
            self.ids = np.zeros(self.table.size, np.int16)
            self.passes_everywhere = True
            self.assign(verdict, rows)

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Call the plugin for some rows at once."""
        here = self.table.present[rows]
        self.ids[rows[~here]] = 0
        present = rows[here]
        self.assign(self._ask(Nodes(self.table, present)), present)

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Call the plugin for a few rows, one by one."""
        table, ids = self.table, self.ids
        for row in rows:
            if table.nodes[row] is None:
                ids[row] = 0
                continue
            status = filter_node(self.plugin, self.cycle, self.pod, NodeRow(table, row))
            index = 0 if status is None else self.index(status)
            ids[row] = index
            if index:
                self.passes_everywhere = False

    def _ask(self, nodes: Nodes) -> Verdict:
        return filter_nodes(self.plugin, self.cycle, self.pod, nodes)

    def judge(self, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Call the plugin for some rows, for a few of them one by one."""
        if len(rows) > FEW_NODES or type(self.plugin).filter is filter_alone:
            return self.indices(self._ask(Nodes(self.table, rows)))
        plugin, cycle, pod, table = self.plugin, self.cycle, self.pod, self.table
        ids = np.zeros(len(rows), np.int16)
        for place, row in enumerate(rows.tolist()):
            status = filter_node(plugin, cycle, pod, NodeRow(table, row))
            if status is not None:
                ids[place] = self.index(status)
        return ids

    def worlds(self, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return the plugin's worlds; otherwise worlds that ignore pods, or in each of which the plugin is called."""
        if isinstance(self.plugin, WorldsFilterPlugin):
            worlds = ask(self.plugin, "filter_worlds", _WORLDS, self.pod, rows)
            return UnchangingWorlds(Verdict.uniform(len(rows), worlds)) if isinstance(worlds, Status) else worlds
        if not self.reads & OF_PODS:
            return UnchangingWorlds(self._ask(Nodes(self.table, rows)))
        kind = ColumnWorlds if _judges_columns(self.plugin) else RowWorlds
        return kind(self.plugin, self.pod, self.cycle, self.table, rows)


def _judges_columns(plugin: FilterPlugin) -> bool:
    """Return whether a filter has a column form and no state that each world would need for itself."""
    has_state = isinstance(plugin, PreFilterPlugin) and (
        type(plugin).add_pod is not PreFilterPlugin.add_pod or type(plugin).remove_pod is not PreFilterPlugin.remove_pod
    )
    return type(plugin).filter_nodes is not filter_each and not has_state


class UnchangingWorlds(FilterWorlds):
    """Worlds for a filter that does not read pods."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Do nothing."""

    def verdict(self) -> Verdict:
        """Return the verdict on the current rows."""
        return self._verdict

    def select(self, worlds: NDArray[np.intp]) -> FilterWorlds:
        """Return some of the worlds."""
        return UnchangingWorlds(Verdict(self._verdict.which[worlds], self._verdict.statuses))


class RowScoreQuestion(RowwiseColumn, ScoreQuestion):
    """A score whose raw value for a row depends on that row alone; derived from `score` and `score_nodes`."""

    raw: NDArray[Any] = np.zeros(0, np.int64)

    def __init__(
        self, plugin: ScorePlugin, pod: PodInfo, table: NodeTable, cycle: CycleState, *, pre_score: bool
    ) -> None:
        super().__init__(plugin, pod, table)
        self.cycle = cycle
        self.pre_score_failed = False
        # scores that may be out of range are handled like normalised ones, to be checked
        self.normalized = plugin.normalizes or not plugin.in_range
        self._pre_score = pre_score and isinstance(plugin, PreScorePlugin)
        # one value for all rows, or None if they differ
        self._uniform: int | None = None
        self._scores: NDArray[np.int64] | int | Status = 0
        self._scores_for: object = None

    def prepare(self, feasible: Feasible) -> None:
        """Call PreScore once, then keep the raw column up to date."""
        if self._pre_score:
            self._pre_score = False
            assert isinstance(self.plugin, PreScorePlugin)
            nodes = Nodes(self.table, np.flatnonzero(feasible.mask))
            status = ask(self.plugin, "pre_score", checked_status, self.cycle, self.pod, nodes)
            if status is not None and status.code is Code.SKIP:
                self.skip = True
            elif status is not None and status.code is not Code.SUCCESS:
                self._fail(status)
                self.pre_score_failed = True
        if not self.skip and self.failure is None and self.cursor.seq != self.table.log.seq:
            self.refresh()
            if self.failure is not None and self.normalized:
                self._ask_about(feasible)
        self.settled = self.failure is None

    def evaluate(self) -> None:
        """Call the plugin for every row that has a node."""
        nodes = Nodes.all_of(self.table)
        values = self._ask(nodes)
        self._scores_for = None
        if isinstance(values, Status):
            self._fail(values)
            return
        # scores without normalisation lie between 0 and 100
        self.raw = np.zeros(self.table.size, np.int64 if self.normalized else np.int16)
        self.raw[table_rows(nodes)[1]] = values
        # An unknown normaliser may depend on the number of scores.
        same = self.plugin.in_range and len(values) > 0 and bool((values == values[0]).all())
        self._uniform = int(values[0]) if same else None

    def _ask_about(self, feasible: Feasible) -> None:
        """Call the plugin again for the feasible rows alone: a failure on an infeasible node does not matter."""
        rows = np.flatnonzero(feasible.mask)
        with restricted(self.table.log, self.restricted_to):
            values = self._ask(Nodes(self.table, rows))
        if isinstance(values, Status):
            self._fail(values)
            return
        self.failure = None
        self.raw = np.zeros(self.table.size, np.int64)
        self.raw[rows] = values
        self._uniform = None
        self._scores_for = None
        # valid for these rows only
        self.cursor.lose()

    def _fail(self, status: Status) -> None:
        """Set a failure of the plugin; the next pod gets a new question."""
        self.failure = status.by(self.plugin.name)
        self.fail()

    def evaluate_rows(self, rows: NDArray[np.intp]) -> None:
        """Call the plugin for some rows at once."""
        self._scores_for = None
        present = rows[self.table.present[rows]]
        scores = self._ask(Nodes(self.table, present))
        if isinstance(scores, Status):
            self._fail(scores)
            return
        self.raw[present] = scores
        self._uniform = None

    def evaluate_few(self, rows: Sequence[int]) -> None:
        """Call the plugin for a few rows, one by one."""
        self._scores_for = None
        for row in rows:
            if self.table.nodes[row] is not None:
                score = score_node(self.plugin, self.cycle, self.pod, NodeRow(self.table, row))
                if isinstance(score, Status):
                    self._fail(score)
                    return
                self.raw[row] = score
                if score != self._uniform:
                    self._uniform = None

    def _ask(self, nodes: Nodes) -> NDArray[np.int64] | Status:
        return score_nodes(self.plugin, self.cycle, self.pod, nodes)

    def scores(self, feasible: Feasible) -> NDArray[np.int64] | int | Status:
        """Return the normalised scores of the feasible rows, computed again only if something changed."""
        if not self.normalized:
            return self.raw
        wanted = feasible.version if self._uniform is None else UNIFORM
        if self._scores_for != wanted:
            self._scores = self._normalize(feasible)
            if isinstance(self._scores, Status):
                self.fail()
            self._scores_for = wanted
        return self._scores

    def _normalize(self, feasible: Feasible) -> NDArray[np.int64] | int | Status:
        if not self.plugin.normalizes and self._in_range():
            return self.raw
        raw = self.raw[feasible.mask] if self._uniform is None else np.array([self._uniform])
        checked = partial(checked_scores, count=len(raw))
        normalized = ask(self.plugin, "normalize_scores", checked, self.cycle, self.pod, raw)
        if isinstance(normalized, Status):
            return normalized
        if not self.plugin.in_range:
            wrong = normalized[(normalized < MIN_NODE_SCORE) | (normalized > MAX_NODE_SCORE)]
            if len(wrong):
                return invalid_score(self.plugin.name, int(wrong[0]))
        if self._uniform is not None:
            return int(normalized[0])
        column = np.zeros(len(self.raw), np.int64)
        column[feasible.mask] = normalized
        return column

    def _in_range(self) -> bool:
        """Return whether the raw scores of all rows are valid scores."""
        raw = self.raw
        return len(raw) > 0 and bool(raw.min() >= MIN_NODE_SCORE and raw.max() <= MAX_NODE_SCORE)
