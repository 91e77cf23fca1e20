"""Extenders in the scheduling cycle: their arguments, and the arithmetic on their results.

A cycle yields the arguments of a call and is sent the result; the loop's client makes the call. If an ignorable
extender fails, it is skipped; the failure of another one ends the cycle.
"""

# upstream: schedule_one.go (findNodesThatPassExtenders, prioritizeNodes), extender.go (v1.36)

from collections.abc import Generator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.config.types import Extender
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.plugin import MAX_NODE_SCORE
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    ExtenderPrioritizeArgs,
    ExtenderPrioritizeResult,
    ExtenderResult,
    is_interested,
)
from kubesched.core.framework.values.preemption import Candidate
from kubesched.core.framework.values.status import Code, Status, error

T = TypeVar("T")
Asking = Generator[ExtenderArgs, ExtenderResult, T]
# Extenders score from 0 to 10, plugins from 0 to 100.
MAX_EXTENDER_PRIORITY = 10
# The most that extenders can add to a total, or subtract from it, so that the sum fits into 64 bits.
MOST_ADDED = 2**62


def finished(cycle: Asking[T]) -> T:
    """Return the result of a cycle that calls no extenders."""
    try:
        next(cycle)
    except StopIteration as ended:
        result: T = ended.value
        return result
    raise RuntimeError("the cycle asks an extender, and nobody can answer")


class FilteredNodes:
    """The feasible rows that extenders left, and the statuses of the rejected rows."""

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        self.mask = mask
        self.statuses: dict[int, Status] = {}
        # whether any row was rejected, with or without a message
        self.narrowed = False
        self.failure: Status | None = None


def ask_filters(
    extenders: Sequence[Extender], table: NodeTable, pod: PodInfo, feasible: NDArray[np.bool_]
) -> Asking[FilteredNodes]:
    """Call filter of the interested extenders in turn, each with the nodes that the ones before it left."""
    result = FilteredNodes(feasible)
    for extender in extenders:
        if not result.mask.any():
            break
        if not extender.filter_verb or not is_interested(extender, pod.spec):
            continue
        names = [table.names[row] for row in np.flatnonzero(result.mask).tolist()]
        answer = yield ExtenderFilterArgs(extender, pod.pod, names)
        assert isinstance(answer, ExtenderFilterResult), "a filter question gets a filter answer"
        problem = answer.error or _made_up(extender, answer.node_names, names)
        if problem:
            if extender.ignorable:
                continue
            result.failure = error(problem)
            return result
        _apply(answer, table, result)
    return result


def _made_up(extender: Extender, answered: Sequence[str], asked: Sequence[str]) -> str:
    """Return the error of a result that names nodes which were not in the arguments, or an empty text."""
    unknown = sorted(set(answered) - set(asked))
    if not unknown:
        return ""
    url = extender.shown_url
    return f'extender "{url}" claims a filtered node "{unknown[0]}" which is not found in the input node list'


def _apply(answer: ExtenderFilterResult, table: NodeTable, result: FilteredNodes) -> None:
    """Apply the result of an extender to the feasible rows."""
    kept = np.zeros_like(result.mask)
    kept[[table.row_of[name] for name in answer.node_names]] = True
    for failed, code in ((answer.failed, Code.UNSCHEDULABLE), (answer.failed_and_unresolvable, _UNRESOLVABLE)):
        for name, message in failed.items():
            row = table.row_of.get(name)
            if row is not None and not kept[row]:
                result.statuses[row] = Status(code, (message,) if message else ())
    result.narrowed |= not np.array_equal(kept, result.mask)
    result.mask = kept


_UNRESOLVABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def ask_priorities(
    extenders: Sequence[Extender], table: NodeTable, pod: PodInfo, feasible: NDArray[np.bool_]
) -> Asking[NDArray[np.int64] | None]:
    """Return the scores that the interested extenders add to the totals, or None if none of them scores."""
    added: NDArray[np.int64] | None = None
    for extender in extenders:
        if not extender.prioritize_verb or not is_interested(extender, pod.spec):
            continue
        names = [table.names[row] for row in np.flatnonzero(feasible).tolist()]
        answer = yield ExtenderPrioritizeArgs(extender, pod.pod, names)
        assert isinstance(answer, ExtenderPrioritizeResult), "a prioritize question gets a prioritize answer"
        if answer.error:
            # a failing extender adds no score, ignorable or not
            continue
        if added is None:
            added = np.zeros(len(feasible), np.int64)
        for name, score in answer.scores.items():
            row = table.row_of.get(name)
            if row is not None:
                total = int(added[row]) + score * extender.weight * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
                # differs (D-061): the reference's product may overflow
                added[row] = max(-MOST_ADDED, min(total, MOST_ADDED))
    return added


# upstream: framework/preemption/preemption.go (callExtenders), extender.go (ProcessPreemption) (v1.36)
def ask_preemption(
    extenders: Sequence[Extender], table: NodeTable, pod: PodInfo, candidates: Sequence[Candidate]
) -> Asking[Sequence[Candidate] | Status]:
    """Return the candidates that the interested extenders leave, with the victims they choose, or a failure."""
    for extender in extenders:
        if not candidates:
            break
        if not extender.preempt_verb or not is_interested(extender, pod.spec):
            continue
        answer = yield ExtenderPreemptionArgs(
            extender,
            pod.pod,
            {candidate.node_name: [victim.pod for victim in candidate.victims] for candidate in candidates},
            {candidate.node_name: candidate.pdb_violations for candidate in candidates},
        )
        assert isinstance(answer, ExtenderPreemptionResult), "a preempt question gets a preempt answer"
        chosen: Sequence[Candidate] | Status = (
            error(answer.error) if answer.error else _victims(extender, table, answer)
        )
        if isinstance(chosen, Status):
            if extender.ignorable:
                continue
            return chosen
        candidates = chosen
    return candidates


def _victims(extender: Extender, table: NodeTable, answer: ExtenderPreemptionResult) -> list[Candidate] | Status:
    """Return the candidates of a result; each must have victims, and they must be on its node."""
    chosen = []
    for name, uids in answer.victims.items():
        row = table.row_of.get(name)
        if row is None or not table.present[row]:
            return error(f'nodeinfo not found for node name "{name}"')
        there = table.pods_on[row]
        missing = next((uid for uid in uids if uid not in there), None)
        if missing is not None:
            return error(
                f"extender: {extender.shown_url} claims to preempt pod (UID: {missing}) on node: {name}, "
                "but the pod is not found on that node"
            )
        if not uids:
            if extender.ignorable:
                continue
            return error(f'expected at least one victim pod on node "{name}"')
        # differs (D-046): the reference takes the first victim as the most important one, in any order
        victims = sorted((there[uid] for uid in dict.fromkeys(uids)), key=lambda pod: _importance(table, pod))
        chosen.append(Candidate(name, tuple(victims), answer.violations.get(name, 0)))
    return chosen


def _importance(table: NodeTable, pod: PodInfo) -> tuple[int, float]:
    """Return a key that sorts the most important pods first: higher priority, then earlier start."""
    return -pod.priority, float(table.slots.start[pod.slot])
