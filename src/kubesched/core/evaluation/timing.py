"""Evaluations that tell how long they took, and whom they asked.

From the same questions to the same answers, and on the side to observers: how long each extension point took in every
cycle, and in sampled cycles each plugin. To time plugins one by one their columns are brought up to date one by one
before the evaluation needs them, which then finds them done.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.cluster import Cluster
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.pod_class import Names, PodClass
from kubesched.core.evaluation.question_cache import Questioner
from kubesched.core.evaluation.scoring import Scoring
from kubesched.core.framework.cycle import CycleState
from kubesched.core.framework.observer import FILTER, PRE_FILTER, PRE_SCORE, SCORE, Stopwatch
from kubesched.core.framework.plugin import FilterPlugin, ScorePlugin
from kubesched.core.framework.questions import Feasible, FilterQuestion, ScoreQuestion
from kubesched.core.framework.status import SKIP, Code, Status, StatusTable

FAILED = Status(Code.ERROR)


class TimedQuestioner(Questioner):
    """Makes questions and tells how long each took: that is PreFilter and PreScore of pods of a new kind."""

    def __init__(self, questioner: Questioner, stopwatch: Stopwatch) -> None:
        # the same maker in every other respect
        self.__dict__.update(questioner.__dict__)
        self._stopwatch = stopwatch

    def filter_question(self, plugin: FilterPlugin, pod: PodInfo, cycle: CycleState) -> FilterQuestion:
        """Return a new question of a Filter (or only PreFilter) plugin about a pod."""
        began = self._stopwatch.now()
        question = super().filter_question(plugin, pod, cycle)
        # those that decide anew in each cycle are timed when they do
        if plugin.name in self._pre_filtered and type(question).begin is FilterQuestion.begin:
            self._stopwatch.plugin(plugin.name, PRE_FILTER, _said(question), began)
        return question

    def score_question(self, plugin: ScorePlugin, pod: PodInfo, cycle: CycleState) -> ScoreQuestion:
        """Return a new question of a Score plugin about a pod."""
        began = self._stopwatch.now()
        question = super().score_question(plugin, pod, cycle)
        if plugin.name in self._pre_scored and not question.skip:
            self._stopwatch.plugin(plugin.name, PRE_SCORE, question.failure, began)
        return question


class TimedEvaluation(Evaluation):
    """An evaluation whose steps are timed; `began` is when PreFilter began, the search for the class included."""

    def __init__(
        self,
        cluster: Cluster,
        statuses: StatusTable,
        pod: PodInfo,
        pod_class: PodClass,
        cycle: CycleState,
        began: float,
    ) -> None:
        self._stopwatch = stopwatch = cycle.stopwatch
        self._scoring: tuple[str, ...] = ()
        if stopwatch.sampled:
            for question in pod_class.deciding:
                since = stopwatch.now()
                question.begin()
                stopwatch.plugin(question.plugin.name, PRE_FILTER, _said(question), since)
        super().__init__(cluster, statuses, pod, pod_class, cycle)
        rejection = self.pre_filtered.rejection
        stopwatch.point(PRE_FILTER, rejection, began)
        names, self._filtering = self._filter_names()
        if rejection is not None:
            # who was not asked, because another one had rejected the pod, does not count
            names = tuple(name for name in names if name in self.pre_filtered.asked)
            stopwatch.observers.pre_filter_rejected(pod, rejection)
        stopwatch.asked(PRE_FILTER, names, 1)

    # -- Filter

    def nominated_row(self) -> int | None:
        """Return the row the pod itself is nominated to if it passes there, whatever PreFilter narrowed."""
        if self._own_nomination() is None:
            return None
        began = self._stopwatch.now()
        row = super().nominated_row()
        self._stopwatch.point(FILTER, None, began)
        self._stopwatch.asked(FILTER, self._filtering, 1)
        return row

    def feasible(self) -> Feasible:
        """Return the rows that pass every filter, nominated pods taken into account."""
        if self._feasible is None:
            began = self._stopwatch.now()
            rows = self.judged_rows()
            if self._stopwatch.sampled and rows is None:
                self._time_columns()
            self._feasible = self._filter()
            self._stopwatch.point(FILTER, FAILED if self._has_errors else None, began)
            self._stopwatch.asked(FILTER, self._filtering, self.table.node_count if rows is None else len(rows))
        return self._feasible

    def _time_columns(self) -> None:
        for question in (*self.pod_class.row_filters, *self.pod_class.wide_filters):
            if not question.skip:
                began = self._stopwatch.now()
                question.refresh()
                self._stopwatch.plugin(question.plugin.name, FILTER, self._verdict(question.ids), began)

    def _ask(self, question: FilterQuestion, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        began = self._stopwatch.now()
        ids = super()._ask(question, rows)
        self._stopwatch.plugin(question.plugin.name, FILTER, self._verdict(ids), began)
        return ids

    def _verdict(self, ids: NDArray[np.int16]) -> Status | None:
        """Return what a filter said as a whole: success if any node passes."""
        if not self._stopwatch.sampled or not len(ids) or not ids.all():
            return None
        return self.statuses[int(ids[0])]

    # -- Score

    def _pre_score(self, feasible: Feasible) -> Status | None:
        began = self._stopwatch.now()
        if self._stopwatch.sampled:
            self._time_scores(feasible)
        failure = super()._pre_score(feasible)
        self._stopwatch.point(PRE_SCORE, failure, began)
        names, self._scoring = self._score_names()
        self._stopwatch.asked(PRE_SCORE, names, 1)
        return failure

    def _time_scores(self, feasible: Feasible) -> None:
        for question in self.pod_class.scoring:
            if not (question.settled and question.skip):
                began = self._stopwatch.now()
                question.prepare(feasible)
                if question.skip:
                    self._stopwatch.plugin(question.plugin.name, PRE_SCORE, SKIP, began)
                else:
                    self._stopwatch.plugin(question.plugin.name, SCORE, question.failure, began)

    def _score(self, feasible: Feasible) -> Scoring:
        began = self._stopwatch.now()
        scoring = super()._score(feasible)
        self._stopwatch.point(SCORE, scoring.failure, began)
        self._stopwatch.asked(SCORE, self._scoring, feasible.count)
        return scoring

    # -- who was asked

    # differs (`scheduler_plugin_evaluation_total`): the reference counts a node for a filter only if no filter before
    # it objected; here all judge alone

    def _filter_names(self) -> Names:
        """Return who pre-filters and who filters in this cycle."""
        pod_class = self.pod_class
        skipped = tuple([question.skip for question in pod_class.deciding])
        names = pod_class.filter_names.get(skipped)
        if names is None:
            names = pod_class.filter_names[skipped] = _active(pod_class.pre_filters), _active(pod_class.filters)
        return names

    def _score_names(self) -> Names:
        """Return who pre-scores and who scores in this cycle."""
        pod_class = self.pod_class
        skipped = tuple([question.skip for question in pod_class.scoring])
        names = pod_class.score_names.get(skipped)
        if names is None:
            names = pod_class.score_names[skipped] = _active(pod_class.pre_scores), _active(pod_class.scored)
        return names


def _active(questions: Sequence[FilterQuestion | ScoreQuestion]) -> tuple[str, ...]:
    return tuple(question.plugin.name for question in questions if not question.skip)


def _said(question: FilterQuestion) -> Status | None:
    return SKIP if question.skip else question.rejection
