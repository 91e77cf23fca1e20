"""Score: the weighted total of every feasible row.

From the score questions of a pod's class and the feasible rows to totals. Scores without normalisation are summed in
the class already; normalised ones are added here, and a uniform score is only a number.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import ANYTHING
from kubesched.core.cluster.following import EVERYTHING
from kubesched.core.evaluation.pod_class import WORST, PodClass, Totals, Weighted
from kubesched.core.framework.columns.questions import Feasible
from kubesched.core.framework.values.status import Status, error


class Scoring(msgspec.Struct, frozen=True):
    """The result of Score: for every row (meaningful if feasible) `totals` plus `constant`, or a failure."""

    totals: Totals
    constant: int = 0
    failure: Status | None = None


# upstream: framework/runtime/framework.go, RunPreScorePlugins (v1.36)
def pre_score(pod_class: PodClass, feasible: Feasible) -> Status | None:
    """Bring the raw scores up to date; return the failure, if there is one."""
    failed = bool(pod_class.scoring) and _prepare(pod_class, feasible)
    return _failure(pod_class) if failed else None


# upstream: framework/runtime/framework.go, RunScorePlugins (v1.36)
def score(pod_class: PodClass, feasible: Feasible) -> Scoring:
    """Return the weighted totals; the raw scores are up to date."""
    if not pod_class.scores:
        return Scoring(np.ones(pod_class.table.size, np.int64))
    base: list[Weighted] = []
    normalized: list[Weighted] = []
    for weighted in pod_class.scores:
        question = weighted[0]
        if not question.skip:
            (normalized if question.normalized else base).append(weighted)
    return _added(pod_class.base_scores(base), normalized, feasible)


def _prepare(pod_class: PodClass, feasible: Feasible) -> bool:
    """Bring the questions whose inputs changed up to date; return whether one failed."""
    changed = pod_class.scoring_cursor.advance()
    groups = 0 if changed is None else ANYTHING if changed is EVERYTHING else changed.groups
    failed = False
    for question in pod_class.scoring:
        if question.settled and (question.skip or not question.reads & groups):
            continue
        question.prepare(feasible)
        failed = failed or question.failure is not None
    return failed


def _added(base_scores: Totals, normalized: Sequence[Weighted], feasible: Feasible) -> Scoring:
    """Return the totals with the normalised scores added."""
    totals: Totals = base_scores
    constant = 0
    for question, weight in normalized:
        weighted = question.weighted_scores(feasible, weight, base_scores.dtype)
        if isinstance(weighted, int):
            constant += weighted
        elif isinstance(weighted, Status):
            message = f"applying score defaultWeights on Score plugins: {weighted.message}"
            return Scoring(totals, failure=error(message).by(weighted.plugin))
        else:
            weighted += totals
            totals = weighted
    return Scoring(totals, constant)


def _failure(pod_class: PodClass) -> Status | None:
    """Return why the nodes cannot be scored: PreScore's failures first, in order."""
    for question in pod_class.pre_scores:
        if question.pre_score_failed and question.failure is not None:
            name, message = question.plugin.name, question.failure.message
            return error(f'running PreScore plugin "{name}": {message}').by(name)
    for question, _ in pod_class.scores:
        if question.failure is not None and not question.skip:
            name, message = question.plugin.name, question.failure.message
            return error(f'running Score plugins: plugin "{name}" failed with: {message}').by(name)
    return None


def best_rows(pod_class: PodClass, feasible: Feasible, totals: Totals) -> Sequence[int] | NDArray[np.intp]:
    """Return the feasible rows with the highest total; valid until a row changes."""
    if (ranked := pod_class.ranking(feasible.mask, totals)) is not None:
        return ranked.leaders()
    ranking = totals if feasible.count == len(totals) else np.where(feasible.mask, totals, WORST)
    # methods instead of NumPy's functions, which add overhead: this runs for every pod
    best: NDArray[np.intp] = (ranking == np.maximum.reduce(ranking)).nonzero()[0]
    return best
