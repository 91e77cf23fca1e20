"""Equal pods in a batch: how many fit on each node, without placing them one by one.

From an evaluation to the number of pods that each row takes, and why it takes no more.

Why this equals the result of scheduling one by one. `is_row_local` holds for pods whose active filters all

* judge a row by that row alone, so that a pod on one row changes no verdict on another; and
* are monotone: they do not read pods, or (NodeResourcesFit, NodePorts) only subtract the resources of pods, so that a
  row that rejects the pod still rejects it with more of them.

The scheduler places pods until no row is feasible. By the first point the number of pods on a row depends on that row
alone. By the second it is the largest number n for which the n-th pod still passes. So every order of placing, hence
every score and every draw, ends with the same number on each row. Reserve and Permit of in-tree plugins do nothing
for such pods: no volumes, no devices, no group. The pods carry no required term of affinity, since its filter would
be active and looks at several rows.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.worlds import Worlds
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.columns.questions import FilterQuestion
from kubesched.core.framework.columns.row_questions import OF_PODS, RowFilterQuestion
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.plugins.node_ports import NodePorts
from kubesched.core.plugins.node_resources.fit import NodeResourcesFit

# filters that read pods, and only subtract the resources of the pods
_SUBTRACTING: Final = (NodeResourcesFit, NodePorts)
# A node that takes more has no limit at all: a profile without NodeResourcesFit has such nodes.
MOST_ON_A_NODE: Final = 10_000

Counts = NDArray[np.int64]


class PodBatch(NamedTuple):
    """Equal pods that are counted on rows without being placed; `pod` represents each of them, and has a slot."""

    pod: PodInfo
    counts: Counts


class RowFill(NamedTuple):
    """The number of pods that each row takes, and why it takes no more; `endless` if a row takes any number."""

    counts: Counts
    verdicts: NodeVerdicts
    endless: bool = False


def is_row_local(evaluation: Evaluation, profile: Profile) -> bool:
    """Return whether the number of such pods on each row is the same for every order of placing."""
    if evaluation.pod.spec.scheduling_group is not None:
        return False
    others = (*profile.pre_filter, *profile.pre_score, *profile.score, *profile.reserve, *profile.permit)
    if not all(plugin.in_tree for plugin in others):
        return False
    return all(_is_monotone(question) for question in evaluation.active_filters)


def _is_monotone(question: FilterQuestion) -> bool:
    if not isinstance(question, RowFilterQuestion) or question.plugin.alive_only:
        return False
    return not question.reads & OF_PODS or type(question.plugin) in _SUBTRACTING


def fill_rows(evaluation: Evaluation, before: Sequence[PodBatch]) -> RowFill:
    """Return how many pods fit on each row, besides the pods of earlier batches; the pod itself has a slot."""
    counts = np.zeros(evaluation.table.size, np.int64)
    if evaluation.pre_filtered.rejection is not None:
        return RowFill(counts, evaluation.verdicts())
    rows = np.flatnonzero(evaluation.feasible().mask)
    verdicts = evaluation.verdicts()
    worlds = evaluation.what_if(rows)
    for batch in before:
        _put(worlds, batch)
    slot, ids = evaluation.pod.slot, verdicts.ids.copy()
    open_worlds = np.arange(len(rows))
    for _ in range(MOST_ON_A_NODE):
        judged = worlds.judge(open_worlds)
        ids[rows[open_worlds]] = judged
        open_worlds = open_worlds[judged == 0]
        if not len(open_worlds):
            break
        worlds.change(open_worlds, np.full(len(open_worlds), slot, np.intp), 1)
        counts[rows[open_worlds]] += 1
    return RowFill(counts, msgspec.structs.replace(verdicts, ids=ids), endless=len(open_worlds) > 0)


def _put(worlds: Worlds, batch: PodBatch) -> None:
    """Put the pods of a batch into the worlds of their rows; rows newer than the batch get none."""
    counts = on_rows(batch.counts, worlds.rows)
    for turn in range(int(counts.max(initial=0))):
        there = np.flatnonzero(counts > turn)
        worlds.change(there, np.full(len(there), batch.pod.slot, np.intp), 1)


def on_rows(counts: Counts, rows: NDArray[np.intp]) -> Counts:
    """Return the counts of some rows; zero for rows beyond the counts."""
    found = np.zeros(len(rows), np.int64)
    known = rows < len(counts)
    found[known] = counts[rows[known]]
    return found
