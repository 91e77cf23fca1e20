"""Why a pod goes to a node: its rank among the feasible ones, and its scores by plugin beside the runners-up.

From an evaluation with feasible nodes to a `PlacementAnswer`.
"""

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.pod_class import WORST
from kubesched.core.evaluation.score_details import scores_by_plugin
from kubesched.core.framework.values.status import Status
from kubesched.model.attempt_answers import NodeScore, PlacementAnswer
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import Gap
from kubesched.reports.plain_words import number

RUNNERS_UP = 3
# the most plugins that are named in `decided_by`
DECIDERS = 2


class ScoreTable:
    """The totals of the feasible rows, and the scores of some by plugin; `failure` is set if a plugin fails."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.table = evaluation.table
        self.feasible = evaluation.feasible()
        self._evaluation = evaluation
        scoring = evaluation.score(self.feasible)
        self.failure: Status | None = scoring.failure
        self.totals: NDArray[np.int64] = np.zeros(self.table.size, np.int64)
        if scoring.failure is None:
            self.totals = scoring.totals.astype(np.int64) + scoring.constant

    @property
    def best(self) -> NDArray[np.intp]:
        """Return the feasible rows with the highest total."""
        totals = np.where(self.feasible.mask, self.totals, WORST)
        return np.flatnonzero(totals == totals.max()) if self.feasible.count else np.zeros(0, np.intp)

    def ranked(self, limit: int) -> list[int]:
        """Return the rows with the highest totals, ties by name."""
        rows = np.flatnonzero(self.feasible.mask)
        names = self.table.names
        totals = self.totals[rows]
        if limit < len(rows):
            rows = rows[totals >= np.partition(totals, -limit)[-limit]]
        return sorted(rows.tolist(), key=lambda row: (-self.totals[row], names[row]))[:limit]

    def scores(self, rows: list[int]) -> list[NodeScore]:
        """Return the scores of some rows; equal totals have the same rank."""
        by_plugin = scores_by_plugin(self._evaluation, self.feasible, rows)
        assert not isinstance(by_plugin, Status), "the totals have no failure"
        totals = self.totals[self.feasible.mask]
        return [
            NodeScore(
                self.table.names[row],
                int(np.count_nonzero(totals > self.totals[row])) + 1,
                int(self.totals[row]),
                {plugin: column[place] for plugin, column in by_plugin.items()},
            )
            for place, row in enumerate(rows)
        ]


def placement_of(evaluation: Evaluation, node_name: str, *, again: bool) -> PlacementAnswer:
    """Return why a pod goes to a node. With `again` the pod is already there, and the answer includes its node
    today.
    """
    scores = ScoreTable(evaluation)
    row = evaluation.table.row_of.get(node_name, -1)
    count = scores.feasible.count
    if scores.failure is not None:
        return PlacementAnswer(node_name, count, None, (), f"the nodes cannot be scored: {scores.failure.message}")
    names = evaluation.table.names
    best = sorted(names[each] for each in scores.best.tolist())
    own = [row] if row >= 0 and scores.feasible.mask[row] else []
    shown = scores.scores([*own, *[each for each in scores.ranked(RUNNERS_UP + 1) if each != row][:RUNNERS_UP]])
    chosen, others = shown[0] if own else None, tuple(shown[len(own) :])
    today = (node_name if node_name in best else best[0]) if best else None
    return PlacementAnswer(
        node_name,
        count,
        chosen,
        others,
        decided_by(chosen, others, len(best)),
        again=today if again else None,
        ties=len(best),
    )


def sampling_gaps(model: ClusterModel, pod: PodInfo) -> tuple[Gap, ...]:
    """Return the uncertainty if the configuration lets the scheduler look at a part of the nodes only."""
    profile = model.profile_of(pod)
    whole = model.loaded.config.percentage_of_nodes_to_score
    percentage = (profile.percentage_of_nodes_to_score if profile is not None else 0) or whole
    if not 0 < percentage < 100:
        return ()
    why = "the scheduler looks at that part of the nodes, and begins with other ones each time"
    return (Gap(f"percentageOfNodesToScore is {percentage}", why, "it may choose a node of a lower rank"),)


def decided_by(chosen: NodeScore | None, others: tuple[NodeScore, ...], ties: int) -> str:
    """Return which plugins made the difference between a node and the best other node."""
    if chosen is None:
        return "the node is no longer feasible"
    if not others:
        return "no other node is feasible"
    other = others[0]
    if chosen.total == other.total:
        return f"nothing: {number(ties, 'node')} tie with {chosen.total} points, and one of them is drawn"
    ahead = chosen.total > other.total
    differences = {plugin: score - other.scores[plugin] for plugin, score in chosen.scores.items()}
    for_it = sorted(
        ((plugin, amount) for plugin, amount in differences.items() if (amount > 0) is ahead and amount),
        key=lambda each: (-abs(each[1]), each[0]),
    )[:DECIDERS]
    named = " and ".join(f"{plugin} ({amount:+d})" for plugin, amount in for_it)
    points = abs(chosen.total - other.total)
    return f"{named}: {number(points, 'point')} {'ahead of' if ahead else 'behind'} {other.node}"
