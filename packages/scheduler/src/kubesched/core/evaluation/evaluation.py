"""One pod's evaluation on the current table: PreFilter, Filter with nominated pods, Score.

From a pod's class to verdicts and scores. Each step runs on demand and only once; an evaluation is valid until the
table changes.
"""

from collections.abc import Container, Sequence
from functools import cached_property
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.pod_class import PodClass, Totals
from kubesched.core.evaluation.scoring import Scoring, best_rows, pre_score, score
from kubesched.core.evaluation.timing import NO_TIMING, Timing
from kubesched.core.evaluation.worlds import Worlds
from kubesched.core.framework.columns.questions import Feasible, FilterQuestion
from kubesched.core.framework.observing.observer import UNTIMED, Stopwatch
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.status import SUCCESS, Code, Status, StatusTable, unresolvable


class Evaluation:
    """Answers about one pod."""

    def __init__(
        self,
        cluster: ClusterState,
        statuses: StatusTable,
        pod: PodInfo,
        pod_class: PodClass,
        cycle: CycleState,
        stopwatch: Stopwatch = UNTIMED,
        began: float = 0.0,
    ) -> None:
        self.cluster = cluster
        self.table = cluster.table
        self.statuses = statuses
        self.pod = pod
        self.pod_class = pod_class
        self.cycle = cycle
        cycle.evaluation = ref(self)
        self._errors_before = statuses.errors
        timing = self._timing = Timing(stopwatch, pod_class, statuses) if stopwatch is not UNTIMED else NO_TIMING
        timing.begin_pre_filters()
        self.pre_filtered = pod_class.pre_filter()
        timing.pre_filtered(pod, self.pre_filtered, began)
        cycle.write(PRE_FILTERED, self.pre_filtered.asked)
        self._feasible: Feasible | None = None
        # the rows that were scored, their totals and what to add to each; None as long as none were
        self.scored: tuple[Feasible, Totals, int] | None = None
        # the rows that the pod may be placed on, None for all rows; not visible to plugins
        self.within: NDArray[np.intp] | None = None

    @property
    def node_count(self) -> int:
        """Return how many nodes there are for the pod."""
        return self.table.node_count if self.within is None else len(self.within)

    @property
    def evaluated_nodes(self) -> int:
        """Return how many nodes PreFilter left to judge, whether or not they exist."""
        names = self.pre_filtered.node_names
        return self.node_count if names is None else len(names)

    def present(self) -> NDArray[np.bool_]:
        """Return the rows with a Node object that the pod may be placed on."""
        present = self.table.present[: self.table.size]
        if self.within is None:
            return present
        there = np.zeros(self.table.size, np.bool_)
        there[self.within] = True
        return present & there

    # -- Filter

    @property
    def active_filters(self) -> list[FilterQuestion]:
        """Return the filters that are not skipped for this pod, in order."""
        return [question for question in self.pod_class.filters if not question.skip]

    def judged_rows(self) -> NDArray[np.intp] | None:
        """Return the rows PreFilter left to judge, or None for all rows."""
        names = self.pre_filtered.node_names
        if names is None:
            return self.within
        row_of, present = self.table.row_of, self.present()
        rows = sorted(row for name in names if (row := row_of.get(name)) is not None and present[row])
        return np.array(rows, np.intp)

    def feasible(self) -> Feasible:
        """Return the rows that pass every filter, with nominated pods counted."""
        if self._feasible is None:
            rows, timing = self.judged_rows(), self._timing
            began = timing.begin_filter(everywhere=rows is None)
            self._feasible = self._filter(rows)
            failed = self.statuses.errors != self._errors_before
            timing.filtered(self.table.node_count if rows is None else len(rows), began, failed=failed)
            if failed:
                self._feasible.failure = self._filter_failure()
        return self._feasible

    def _filter(self, rows: NDArray[np.intp] | None) -> Feasible:
        if rows is not None:
            return self._filter_rows(rows)
        pod_class = self.pod_class
        passing = pod_class.passing
        passing.refresh()
        mask = passing.mask
        version: list[object] = [passing.version]
        for question in pod_class.wide_filters:
            if not question.skip:
                question.refresh()
                if not question.passes_everywhere:
                    mask = mask & (question.ids == 0)
                    # classes that share `passing` differ in these questions
                    version += (question.cursor, question.cursor.seq)
        blocked = list(self._blocked) if len(self.cluster.nominations) else []
        alive_filters = [question for question in pod_class.alive_filters if not question.skip]
        if blocked or alive_filters:
            mask = mask.copy()
            mask[blocked] = False
            # of this pod alone: nominations depend on its priority, and `alive_only` filters are not cached
            version.append(object())
            for question in alive_filters:
                alive = np.flatnonzero(mask)
                mask[alive] = self._ask(question, alive) == 0
        return Feasible(mask, tuple(version), passing.count if mask is passing.mask else None)

    def _filter_failure(self) -> Status | None:
        """Return the error of the first row on which a filter failed, None if no filter failed for this pod."""
        ids = self.first_objectors()
        failed = [index for index, status in enumerate(self.statuses.statuses) if status.code is Code.ERROR]
        rows = np.flatnonzero(np.isin(ids, failed) & self.table.present[: self.table.size])
        if not len(rows):
            return None
        status = self.statuses[int(ids[rows[0]])]
        return Status(Code.ERROR, (f'running "{status.plugin}" filter plugin: {status.message}',), status.plugin)

    def _filter_rows(self, rows: NDArray[np.intp]) -> Feasible:
        mask = np.zeros(self.table.size, np.bool_)
        mask[rows] = self.judge(rows) == 0
        return Feasible(mask, object())

    def judge(self, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Return the status index of the first rejection on some rows, with nominated pods counted."""
        ids = np.zeros(len(rows), np.int16)
        for question in self.active_filters:
            undecided = np.flatnonzero(ids == 0)
            if not len(undecided):
                break
            ids[undecided] = self._ask(question, rows[undecided])
        for row, verdict in self._nomination_verdicts(set(rows.tolist())).items():
            ids[rows == row] = verdict
        return ids

    def _ask(self, question: FilterQuestion, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        return self._timing.judge(question, rows)

    def column(self, question: FilterQuestion) -> NDArray[np.int16]:
        """Return the verdict of a single filter on every row."""
        if question.plugin.alive_only:
            present = self.table.present_rows()
            ids = np.zeros(self.table.size, np.int16)
            ids[present] = question.judge(present)
            return ids
        question.refresh()
        return question.ids

    def first_objectors(self) -> NDArray[np.int16]:
        """Return for every row the status index of the first filter that rejects it, nominated pods included."""
        rows = self.judged_rows()
        if rows is not None:
            narrowed = np.zeros(self.table.size, np.int16)
            narrowed[rows] = self.judge(rows)
            return narrowed
        ids = np.zeros(self.table.size, np.int16)
        for question in self.active_filters:
            if question.plugin.alive_only:
                alive = np.flatnonzero((ids == 0) & self.table.present[: self.table.size])
                ids[alive] = question.judge(alive)
            else:
                question.refresh()
                if not question.passes_everywhere:
                    np.copyto(ids, question.ids, where=ids == 0)
        for row, verdict in self._blocked.items():
            ids[row] = verdict
        return ids

    def verdicts(self) -> NodeVerdicts:
        """Return the verdicts for PostFilter; the same ones for pods of a class until the table changes."""
        pod_class = self.pod_class
        alone = self.within is not None or len(self.cluster.nominations) > 0
        if alone or any(not question.skip for question in pod_class.alive_filters):
            # nominations count by a pod's priority, and `alive_only` filters are not cached
            return self._verdicts()
        seq = self.table.log.seq
        known = pod_class.rejected
        if known is None or known[0] != seq:
            known = pod_class.rejected = seq, self._verdicts()
            known[1].ids.flags.writeable = False
        return known[1]

    def _verdicts(self) -> NodeVerdicts:
        pre = self.pre_filtered
        if pre.rejection is not None:
            nothing = np.zeros(self.table.size, np.bool_)
            return NodeVerdicts(np.zeros(self.table.size, np.int16), nothing, pre.rejection, self.statuses)
        if pre.node_names is None:
            if self.within is None:
                return NodeVerdicts(self.first_objectors(), None, SUCCESS, self.statuses)
            return NodeVerdicts(self.first_objectors(), self.present(), unresolvable(), self.statuses)
        judged = np.zeros(self.table.size, np.bool_)
        judged[self.judged_rows()] = True
        ids = self.first_objectors()
        nominated = self._own_nomination()
        if nominated is not None:
            # the nominated node was judged first, and its status counts
            judged[nominated] = True
            ids[nominated] = self.judge(np.array([nominated], np.intp))[0]
        absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(pre.narrowing))}]")
        return NodeVerdicts(ids, judged, absent, self.statuses)

    def nominated_row(self) -> int | None:
        """Return the row that the pod is nominated to if it passes the filters, even if PreFilter excludes it."""
        row = self._own_nomination()
        if row is None:
            return None
        timing = self._timing
        began = timing.now()
        rejected = self.judge(np.array([row], np.intp))[0]
        timing.filtered(1, began)
        return None if rejected else row

    def _own_nomination(self) -> int | None:
        """Return the row that the pod itself is nominated to, if the node exists."""
        name = self.pod.status.nominated_node_name
        row = self.table.row_of.get(name) if name else None
        if row is None or not self.table.present[row]:
            return None
        return row if self.within is None or row in self.within else None

    # -- nominated pods and other worlds

    @cached_property
    def _ahead(self) -> dict[int, list[PodInfo]]:
        """Return the nominated pods that count for this pod, by row."""
        return self.cluster.nominations.qualifying(self.pod)

    def what_if(self, rows: NDArray[np.intp]) -> Worlds:
        """Return a batch of worlds over `rows`."""
        return Worlds(self.statuses, self.active_filters, rows, self._ahead)

    @cached_property
    def _blocked(self) -> dict[int, int]:
        """Return the rows on which the pod is rejected once nominated pods are added, with status indices."""
        return self._nomination_verdicts(self._ahead)

    def _nomination_verdicts(self, among: Container[int]) -> dict[int, int]:
        """Return the rows, of the given ones, that reject the pod once nominated pods are added."""
        ahead = self._ahead
        rows = [row for row in ahead if row in among and self.table.present[row]]
        if not rows:
            return {}
        ids = self.what_if(np.array(rows, np.intp)).judge_with(ahead)
        return {row: int(verdict) for row, verdict in zip(rows, ids, strict=True) if verdict}

    # -- Score

    def score(self, feasible: Feasible | None = None) -> Scoring:
        """Return the weighted total of every feasible row, or of fewer rows."""
        feasible = feasible or self.feasible()
        failure = self._pre_score(feasible)
        return self._score(feasible) if failure is None else Scoring(np.zeros(0, np.int64), failure=failure)

    def _pre_score(self, feasible: Feasible) -> Status | None:
        timing = self._timing
        began = timing.begin_pre_score(feasible)
        failure = pre_score(self.pod_class, feasible)
        timing.pre_scored(failure, began)
        return failure

    def _score(self, feasible: Feasible) -> Scoring:
        timing = self._timing
        began = timing.now()
        scoring = score(self.pod_class, feasible)
        timing.scored(feasible.count, scoring.failure, began)
        return scoring

    def best_rows(
        self, feasible: Feasible | None = None, added: NDArray[np.int64] | None = None
    ) -> Sequence[int] | NDArray[np.intp] | Status:
        """Return the feasible rows (or of fewer rows those) with the highest total, or why there are no totals.

        `added` are scores of extenders, which are added to the totals.
        """
        feasible = feasible or self.feasible()
        scoring = self.score(feasible)
        if scoring.failure is not None:
            return scoring.failure
        totals = scoring.totals if added is None else scoring.totals + added
        self.scored = feasible, totals, scoring.constant
        return best_rows(self.pod_class, feasible, totals)
