"""The timing of an evaluation: the duration of each extension point, and the plugins that ran.

From the steps of an evaluation to its stopwatch: extension points in every cycle, single plugins in sampled ones. To
time plugins one by one, their columns are brought up to date one by one before the evaluation needs them. An
evaluation that is not timed has `NO_TIMING`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.pod_class import Names, PodClass
from kubesched.core.evaluation.pre_filtering import PreFiltered
from kubesched.core.evaluation.questioner import pre_filter_status
from kubesched.core.framework.columns.questions import Feasible, FilterQuestion, ScoreQuestion
from kubesched.core.framework.observing.observer import FILTER, PRE_FILTER, PRE_SCORE, SCORE, UNTIMED, Stopwatch
from kubesched.core.framework.values.status import SKIP, Code, Status, StatusTable

FAILED = Status(Code.ERROR)


class Timing:
    """Times the steps of one evaluation."""

    __slots__ = ("_filtering", "_pod_class", "_scoring", "_statuses", "_stopwatch", "now")

    def __init__(self, stopwatch: Stopwatch, pod_class: PodClass, statuses: StatusTable) -> None:
        self._stopwatch = stopwatch
        self._pod_class = pod_class
        self._statuses = statuses
        self.now = stopwatch.now
        # the plugins that filter, and that score
        self._filtering: tuple[str, ...] = ()
        self._scoring: tuple[str, ...] = ()

    # -- PreFilter

    def begin_pre_filters(self) -> None:
        """In a sampled cycle, time the plugins that decide in each cycle."""
        stopwatch = self._stopwatch
        if stopwatch.sampled:
            for question in self._pod_class.deciding:
                began = stopwatch.now()
                question.begin()
                stopwatch.plugin(question.plugin.name, PRE_FILTER, pre_filter_status(question), began)

    def pre_filtered(self, pod: PodInfo, outcome: PreFiltered, began: float) -> None:
        """Record the duration of PreFilter, including the search for the pod's class."""
        stopwatch = self._stopwatch
        stopwatch.point(PRE_FILTER, outcome.rejection, began)
        names, self._filtering = self._filter_names()
        if outcome.rejection is not None:
            # plugins after the one that rejected the pod did not run
            names = tuple(name for name in names if name in outcome.asked)
            stopwatch.observers.pre_filter_rejected(pod, outcome.rejection)
        stopwatch.asked(PRE_FILTER, names, 1)

    # -- Filter

    def begin_filter(self, *, everywhere: bool) -> float:
        """Return the time; in a sampled cycle time the columns of the filters one by one."""
        now = self._stopwatch.now
        began = now()
        if everywhere and self._stopwatch.sampled:
            for question in (*self._pod_class.row_filters, *self._pod_class.wide_filters):
                if not question.skip:
                    since = now()
                    question.refresh()
                    self._judged(question, question.ids, since)
        return began

    def judge(self, question: FilterQuestion, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Return a filter's verdicts on some rows, timed."""
        began = self._stopwatch.now()
        ids = question.judge(rows)
        self._judged(question, ids, began)
        return ids

    def _judged(self, question: FilterQuestion, ids: NDArray[np.int16], began: float) -> None:
        """Record the duration of one filter; it succeeded if any node passes."""
        rejected = self._stopwatch.sampled and len(ids) and ids.all()
        self._stopwatch.plugin(question.plugin.name, FILTER, self._statuses[int(ids[0])] if rejected else None, began)

    def filtered(self, nodes: int, began: float, *, failed: bool = False) -> None:
        """Record the duration of Filter and its number of nodes."""
        self._stopwatch.point(FILTER, FAILED if failed else None, began)
        self._stopwatch.asked(FILTER, self._filtering, nodes)

    # -- Score

    def begin_pre_score(self, feasible: Feasible) -> float:
        """Return the time; in a sampled cycle time the columns of the scores one by one."""
        stopwatch = self._stopwatch
        began = stopwatch.now()
        for question in self._pod_class.scoring if stopwatch.sampled else ():
            if not (question.settled and question.skip):
                since = stopwatch.now()
                question.prepare(feasible)
                if question.skip:
                    stopwatch.plugin(question.plugin.name, PRE_SCORE, SKIP, since)
                else:
                    stopwatch.plugin(question.plugin.name, SCORE, question.failure, since)
        return began

    def pre_scored(self, failure: Status | None, began: float) -> None:
        """Record the duration of PreScore."""
        self._stopwatch.point(PRE_SCORE, failure, began)
        names, self._scoring = self._score_names()
        self._stopwatch.asked(PRE_SCORE, names, 1)

    def scored(self, nodes: int, failure: Status | None, began: float) -> None:
        """Record the duration of Score and its number of nodes."""
        self._stopwatch.point(SCORE, failure, began)
        self._stopwatch.asked(SCORE, self._scoring, nodes)

    # -- the plugins that ran

    # differs (D-087): the reference counts a node for a filter only if no earlier filter rejected it; here all filters
    # evaluate all nodes

    def _filter_names(self) -> Names:
        """Return the plugins that pre-filter and the plugins that filter in this cycle."""
        pod_class = self._pod_class
        skipped = tuple([question.skip for question in pod_class.deciding])
        names = pod_class.filter_names.get(skipped)
        if names is None:
            names = pod_class.filter_names[skipped] = _active(pod_class.pre_filters), _active(pod_class.filters)
        return names

    def _score_names(self) -> Names:
        """Return the plugins that pre-score and the plugins that score in this cycle."""
        pod_class = self._pod_class
        skipped = tuple([question.skip for question in pod_class.scoring])
        names = pod_class.score_names.get(skipped)
        if names is None:
            names = pod_class.score_names[skipped] = _active(pod_class.pre_scores), _active(pod_class.scored)
        return names


class _NoTiming(Timing):
    """Times nothing, for evaluations without a stopwatch."""

    __slots__ = ()

    def __init__(self) -> None:
        self.now = UNTIMED.now

    def begin_pre_filters(self) -> None:
        """Do nothing."""

    def pre_filtered(self, pod: PodInfo, outcome: PreFiltered, began: float) -> None:
        """Record nothing."""

    def begin_filter(self, *, everywhere: bool) -> float:
        """Return no time."""
        return 0.0

    def judge(self, question: FilterQuestion, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Return a filter's verdicts on some rows."""
        return question.judge(rows)

    def filtered(self, nodes: int, began: float, *, failed: bool = False) -> None:
        """Record nothing."""

    def begin_pre_score(self, feasible: Feasible) -> float:
        """Return no time."""
        return 0.0

    def pre_scored(self, failure: Status | None, began: float) -> None:
        """Record nothing."""

    def scored(self, nodes: int, failure: Status | None, began: float) -> None:
        """Record nothing."""


NO_TIMING = _NoTiming()


def _active(questions: Sequence[FilterQuestion | ScoreQuestion]) -> tuple[str, ...]:
    return tuple(question.plugin.name for question in questions if not question.skip)
