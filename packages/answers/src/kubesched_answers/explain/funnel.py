"""A pod's way from all nodes to one: how many nodes each filter leaves and why, and the scores of the best.

From a model and a pod to a `Funnel`, by the same evaluation as in `explain_pod`. A bound pod is judged as if it were
scheduled again today.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.values.status import Status
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.placements import ScoreTable
from kubesched.reports.answers import Answer
from kubesched_answers.explain.explain_pod import as_pending

# limits on the nodes that a reason names, and on the nodes with scores
MOST_NODES = 20
PRE_FILTER, FILTER, NOMINATED = "PreFilter", "Filter", "nominated pods"


@dataclass(frozen=True, slots=True)
class FunnelReason(Answer):
    """A message of a filter, its number of nodes, and the first of them."""

    message: str
    count: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunnelStep(Answer):
    """A plugin, how many of the remaining nodes it rejects, and how many it leaves."""

    plugin: str
    extension_point: str
    rejected: int
    left: int
    reasons: tuple[FunnelReason, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginScore(Answer):
    """A plugin's score of a node: raw, normalised, and times its weight."""

    plugin: str
    weight: int
    raw: int
    score: int
    weighted: int


@dataclass(frozen=True, slots=True)
class FunnelScore(Answer):
    """A feasible node and its scores."""

    node: str
    total: int
    by_plugin: tuple[PluginScore, ...]


@dataclass(frozen=True, slots=True)
class Funnel(Answer):
    """All nodes, the steps that reduce them, and the scores of the best remaining ones."""

    nodes: int
    steps: tuple[FunnelStep, ...]
    feasible: int
    scores: tuple[FunnelScore, ...] = ()
    # why the nodes cannot be judged or scored
    failure: str | None = None


def funnel_of(model: ClusterModel, pod: PodInfo) -> Funnel | None:
    """Return the funnel of a pod; None if it belongs to another scheduler."""
    if model.profile_of(pod) is None:
        return None
    if not pod.spec.node_name:
        return _funnel(model.engine.evaluation_of(pod))
    with model.without_pods([pod]):
        return _funnel(model.engine.evaluation_of(as_pending(model, pod)))


def _funnel(evaluation: Evaluation) -> Funnel:
    rejection = evaluation.pre_filtered.rejection
    present = np.flatnonzero(evaluation.present())
    if rejection is not None:
        names = _names(evaluation, present)
        step = FunnelStep(
            rejection.plugin,
            PRE_FILTER,
            len(names),
            0,
            (FunnelReason(rejection.message, len(names), names[:MOST_NODES]),),
        )
        return Funnel(len(present), (step,), 0)
    steps = tuple(_steps(evaluation, present))
    passed = evaluation.feasible()
    feasible = passed.count
    if passed.failure is not None:
        return Funnel(len(present), steps, feasible, failure=passed.failure.message)
    if not feasible:
        return Funnel(len(present), steps, 0)
    table = ScoreTable(evaluation)
    if table.failure is not None:
        return Funnel(len(present), steps, feasible, failure=table.failure.message)
    return Funnel(len(present), steps, feasible, tuple(_scores(evaluation, table)))


def _steps(evaluation: Evaluation, rows: NDArray[np.intp]) -> Iterator[FunnelStep]:
    """Yield the number of rows that PreFilter, each filter and nominated pods leave."""
    judged = evaluation.judged_rows()
    if judged is not None:
        left = np.intersect1d(rows, judged)
        names = _names(evaluation, np.setdiff1d(rows, left))
        why = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(evaluation.pre_filtered.narrowing))}]"
        reasons = (FunnelReason(why, len(names), names[:MOST_NODES]),) if names else ()
        plugins = ", ".join(sorted(evaluation.pre_filtered.narrowing))
        yield FunnelStep(plugins, PRE_FILTER, len(names), len(left), reasons)
        rows = left
    for question in evaluation.active_filters:
        ids = question.judge(rows)
        yield _step(evaluation, question.plugin.name, rows, ids)
        rows = rows[ids == 0]
    crowded = rows[evaluation.first_objectors()[rows] != 0]
    if len(crowded):
        ids = evaluation.first_objectors()[rows]
        yield _step(evaluation, NOMINATED, rows, ids)


def _step(evaluation: Evaluation, plugin: str, rows: NDArray[np.intp], ids: NDArray[np.int16]) -> FunnelStep:
    rejected = rows[ids != 0]
    counts = Counter(ids[ids != 0].tolist())
    reasons = tuple(
        FunnelReason(evaluation.statuses[index].message, count, _names(evaluation, rows[ids == index][:MOST_NODES]))
        for index, count in counts.most_common()
    )
    return FunnelStep(plugin, FILTER, len(rejected), len(rows) - len(rejected), reasons)


def _scores(evaluation: Evaluation, table: ScoreTable) -> Iterator[FunnelScore]:
    """Yield the best nodes with the scores of each plugin."""
    rows = table.ranked(MOST_NODES)
    for row in rows:
        by_plugin = []
        for question, weight in evaluation.pod_class.scores:
            if question.skip:
                continue
            scores = question.scores(table.feasible)
            assert not isinstance(scores, Status), "the totals have no failure"
            score = scores if isinstance(scores, int) else int(scores[row])
            by_plugin.append(PluginScore(question.plugin.name, weight, int(question.raw[row]), score, score * weight))
        yield FunnelScore(table.table.names[row], int(table.totals[row]), tuple(by_plugin))


def _names(evaluation: Evaluation, rows: NDArray[np.intp]) -> tuple[str, ...]:
    names = evaluation.table.names
    return tuple(names[row] for row in rows.tolist())
