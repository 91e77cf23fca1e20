"""Extenders in the scheduling cycle: the questions they are asked and the arithmetic on their answers.

A cycle yields a question and is sent the answer; who carries it over the network is none of its business. An extender
that is ignorable and does not answer is passed over; one that is not ends the cycle.
"""

# upstream: schedule_one.go (findNodesThatPassExtenders, prioritizeNodes), extender.go (v1.36)

from collections.abc import Generator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.cluster.pod_info import PodInfo
from kubesched.cluster.table import NodeTable
from kubesched.config.types import Extender
from kubesched.framework.extenders import (
    Answer,
    FilterAnswer,
    FilterQuestion,
    PrioritizeAnswer,
    PrioritizeQuestion,
    Question,
    is_interested,
)
from kubesched.framework.plugin import MAX_NODE_SCORE
from kubesched.framework.status import Code, Status, error

T = TypeVar("T")
Asking = Generator[Question, Answer, T]
# Extenders score from 0 to 10, plugins from 0 to 100.
MAX_EXTENDER_PRIORITY = 10


class Filtered:
    """What extenders left of the feasible rows, and what they said about the others, by row."""

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        self.mask = mask
        self.statuses: dict[int, Status] = {}
        self.failure: Status | None = None


def ask_filters(
    extenders: Sequence[Extender], table: NodeTable, pod: PodInfo, feasible: NDArray[np.bool_]
) -> Asking[Filtered]:
    """Ask the interested extenders in turn, each about what the ones before it left."""
    result = Filtered(feasible)
    for extender in extenders:
        if not result.mask.any():
            break
        if not extender.filter_verb or not is_interested(extender, pod.spec):
            continue
        names = [table.names[row] for row in np.flatnonzero(result.mask).tolist()]
        answer = yield FilterQuestion(extender, pod.pod, names)
        assert isinstance(answer, FilterAnswer), "a filter question gets a filter answer"
        if answer.error:
            if extender.ignorable:
                continue
            result.failure = error(answer.error)
            return result
        _apply(answer, table, result)
    return result


def _apply(answer: FilterAnswer, table: NodeTable, result: Filtered) -> None:
    """Take an answer into account; nodes that were not asked about are not believed in."""
    passed = {table.row_of.get(name, -1) for name in answer.node_names}
    kept = np.zeros_like(result.mask)
    rows = [row for row in passed if row >= 0]
    kept[rows] = True
    # differs: a node that an extender makes up is ignored, the reference looks it up and fails the cycle
    kept &= result.mask
    for failed, code in ((answer.failed, Code.UNSCHEDULABLE), (answer.failed_and_unresolvable, _UNRESOLVABLE)):
        for name, message in failed.items():
            row = table.row_of.get(name)
            if row is not None and not kept[row]:
                result.statuses[row] = Status(code, (message,) if message else ())
    result.mask = kept


_UNRESOLVABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def ask_priorities(
    extenders: Sequence[Extender], table: NodeTable, pod: PodInfo, feasible: NDArray[np.bool_]
) -> Asking[NDArray[np.int64] | None]:
    """Return what the interested extenders add to the totals, or None if none of them scores."""
    added: NDArray[np.int64] | None = None
    for extender in extenders:
        if not extender.prioritize_verb or not is_interested(extender, pod.spec):
            continue
        names = [table.names[row] for row in np.flatnonzero(feasible).tolist()]
        answer = yield PrioritizeQuestion(extender, pod.pod, names)
        assert isinstance(answer, PrioritizeAnswer), "a prioritize question gets a prioritize answer"
        if answer.error:
            # no score from this one, ignorable or not
            continue
        if added is None:
            added = np.zeros(len(feasible), np.int64)
        for name, score in answer.scores.items():
            row = table.row_of.get(name)
            if row is not None:
                added[row] += score * extender.weight * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
    return added
