"""The scores behind a choice: of the chosen node, plugin by plugin, and of the runners-up.

From an evaluation whose nodes were scored to plain values. Only a few rows of existing columns are read again.
"""

import numpy as np

from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.pod_class import WORST
from kubesched.core.framework.columns.questions import Feasible
from kubesched.core.framework.observing.decision_details import NodeScores, PlacementScores
from kubesched.core.framework.values.status import Status

# what extenders add to a total, under a name like a plugin's
EXTENDERS = "extenders"


def score_details(evaluation: Evaluation, node_name: str, runners_up: int) -> PlacementScores | None:
    """Return the scores of a node and of the runners-up; None if nodes were not scored, or scoring failed."""
    scored = evaluation.scored
    row = evaluation.table.row_of.get(node_name)
    if scored is None or row is None:
        return None
    feasible, totals, constant = scored
    ranking = np.where(feasible.mask, totals, WORST)
    ties = int(np.count_nonzero(ranking == ranking.max()))
    rows = [row]
    ranking[row] = WORST
    for _ in range(min(runners_up, feasible.count - 1)):
        best = int(ranking.argmax())
        rows.append(best)
        ranking[best] = WORST
    by_plugin = scores_by_plugin(evaluation, feasible, rows)
    if isinstance(by_plugin, Status):
        return None
    names, columns = list(by_plugin), list(by_plugin.values())
    sums = [int(totals[each]) + constant for each in rows]
    added = [total - sum(column[i] for column in columns) for i, total in enumerate(sums)]
    if columns and any(added):
        names.append(EXTENDERS)
        columns.append(added)
    table = evaluation.table
    nodes = [
        NodeScores(table.names[each], sums[i], tuple([column[i] for column in columns])) for i, each in enumerate(rows)
    ]
    return PlacementScores(tuple(names), tuple(nodes), ties)


def scores_by_plugin(evaluation: Evaluation, feasible: Feasible, rows: list[int]) -> dict[str, list[int]] | Status:
    """Return the weighted scores of some feasible rows by plugin, once nodes were scored; or why there are none."""
    found: dict[str, list[int]] = {}
    for question, weight in evaluation.pod_class.scores:
        if question.skip:
            continue
        scores = question.scores(feasible)
        if isinstance(scores, Status):
            return scores
        found[question.plugin.name] = (
            [scores * weight] * len(rows)
            if isinstance(scores, int)
            else [score * weight for score in scores[rows].tolist()]
        )
    return found
