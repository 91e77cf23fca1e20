"""New questions of plugins.

From a pod to the questions of its profile's plugins. Questions of plugins without a `key` are created for each pod.
"""

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.calling.answers import instance_of
from kubesched.core.framework.calling.hooks import ask
from kubesched.core.framework.columns.questions import FilterQuestion, ScoreQuestion
from kubesched.core.framework.columns.row_questions import RowFilterQuestion, RowScoreQuestion
from kubesched.core.framework.observing.observer import PRE_FILTER, PRE_SCORE, UNTIMED, Stopwatch
from kubesched.core.framework.plugin import (
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QuestionFilterPlugin,
    QuestionScorePlugin,
    ScorePlugin,
)
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import SKIP, Status, StatusTable, error
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import Nodes

_FILTER_QUESTION = instance_of(FilterQuestion)  # type: ignore[type-abstract]
_SCORE_QUESTION = instance_of(ScoreQuestion)  # type: ignore[type-abstract]


class Questioner:
    """Makes the questions of one profile."""

    def __init__(self, profile: Profile, table: NodeTable, statuses: StatusTable) -> None:
        self.table = table
        self.statuses = statuses
        self._pre_filtered = {plugin.name for plugin in profile.pre_filter}
        self._pre_scored = {plugin.name for plugin in profile.pre_score}

    def filter_question(
        self, plugin: FilterPlugin, pod: PodInfo, cycle: CycleState, stopwatch: Stopwatch = UNTIMED
    ) -> FilterQuestion:
        """Return a new question of a Filter (or only PreFilter) plugin about a pod, its PreFilter timed."""
        began = stopwatch.now()
        question = self._filter_question(plugin, pod, cycle)
        # a plugin that decides in each cycle is timed in the cycle instead
        if plugin.name in self._pre_filtered and type(question).begin is FilterQuestion.begin:
            stopwatch.plugin(plugin.name, PRE_FILTER, pre_filter_status(question), began)
        return question

    def score_question(
        self, plugin: ScorePlugin, pod: PodInfo, cycle: CycleState, stopwatch: Stopwatch = UNTIMED
    ) -> ScoreQuestion:
        """Return a new question of a Score plugin about a pod, its PreScore timed."""
        began = stopwatch.now()
        question = self._score_question(plugin, pod, cycle)
        if plugin.name in self._pre_scored and not question.skip:
            stopwatch.plugin(plugin.name, PRE_SCORE, question.failure, began)
        return question

    def _filter_question(self, plugin: FilterPlugin, pod: PodInfo, cycle: CycleState) -> FilterQuestion:
        pre_filter = plugin.name in self._pre_filtered
        if not pre_filter and isinstance(plugin, PreFilterPlugin) and plugin.without_pre_filter:
            # Filter does not find the state that PreFilter writes.
            return self.failing_filter(plugin, pod, error(plugin.without_pre_filter))
        if isinstance(plugin, QuestionFilterPlugin):
            found = ask(plugin, "filter_question", _FILTER_QUESTION, pod, self.statuses)
            return self.failing_filter(plugin, pod, found) if isinstance(found, Status) else found
        return RowFilterQuestion(plugin, pod, self.table, self.statuses, cycle, pre_filter=pre_filter)

    def _score_question(self, plugin: ScorePlugin, pod: PodInfo, cycle: CycleState) -> ScoreQuestion:
        pre_score = plugin.name in self._pre_scored
        if not pre_score and isinstance(plugin, PreScorePlugin) and plugin.without_pre_score:
            return self.failing_score(plugin, pod, error(plugin.without_pre_score).by(plugin.name))
        if isinstance(plugin, QuestionScorePlugin):
            found = ask(plugin, "score_question", _SCORE_QUESTION, pod)
            return self.failing_score(plugin, pod, found) if isinstance(found, Status) else found
        return RowScoreQuestion(plugin, pod, self.table, cycle, pre_score=pre_score)

    def failing_filter(self, plugin: FilterPlugin, pod: PodInfo, failure: Status) -> FilterQuestion:
        """Return a question with an error on every node."""
        failing = _Failing(plugin.name, failure)
        return RowFilterQuestion(failing, pod, self.table, self.statuses, CycleState(), pre_filter=False)

    def failing_score(self, plugin: ScorePlugin, pod: PodInfo, failure: Status) -> ScoreQuestion:
        """Return a question whose Score failed."""
        question = RowScoreQuestion(plugin, pod, self.table, CycleState(), pre_score=False)
        question.failure = failure
        question.fail()
        return question


def pre_filter_status(question: FilterQuestion) -> Status | None:
    """Return the status of a plugin's PreFilter."""
    return SKIP if question.skip else question.rejection


class _Failing(FilterPlugin):
    """Replaces a filter that cannot run: an error on every node."""

    def __init__(self, name: str, failure: Status) -> None:
        self.name = name
        self._failure = failure

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.uniform(len(nodes), self._failure)


class PreFilterOnly(PreFilterPlugin, FilterPlugin):
    """Wraps a plugin that has PreFilter only."""

    def __init__(self, plugin: PreFilterPlugin) -> None:
        self.name = plugin.name
        self.stands_in_for = plugin
        self._plugin = plugin

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> PreFilterResult | Status | None:
        """Ask the plugin."""
        return self._plugin.pre_filter(cycle, pod)

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Accept every node."""
        return Verdict.uniform(len(nodes), None)


class PreScoreOnly(PreScorePlugin, ScorePlugin):
    """Wraps a plugin that has PreScore only."""

    def __init__(self, plugin: PreScorePlugin) -> None:
        self.name = plugin.name
        self.stands_in_for = plugin
        self._plugin = plugin

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Ask the plugin."""
        return self._plugin.pre_score(cycle, pod, nodes)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return zero for every node."""
        return np.zeros(len(nodes), np.int64)
