"""The dry run: the rows on which evicting pods would help, and the victims there.

From rows to victims, all rows at once. Every row is a world. All less important pods are taken out of each world; where
the pod then fits, they are put back by importance, pods whose eviction violates a budget first; the pods that
have to be taken out again are the victims. Round k handles the k-th pod of every world.
"""

# upstream: plugins/defaultpreemption/default_preemption.go, SelectVictimsOnNode (v1.36)

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_slots import NOT_STARTED, PodSlots
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.values.cycle import CycleState, WhatIf
from kubesched.core.plugins.default_preemption.disruption_budgets import DisruptionBudgets

NOBODY = -1
# A status index that no status has: the row has no pod to evict.
NO_VICTIMS = -1


class DryRun(NamedTuple):
    """The results for the rows that were tried.

    `ids[i]` is the status index that rejects the pod on `rows[i]` even without any potential victims, 0 if it fits, or
    NO_VICTIMS. `victims` has a line for each row: pods by slot, most important first, then NOBODY; `chosen` marks the
    victims among them, `violations` counts how many of these violate a budget.
    """

    rows: NDArray[np.intp]
    ids: NDArray[np.int16]
    victims: NDArray[np.intp]
    chosen: NDArray[np.bool_]
    violations: NDArray[np.intp]


def dry_run(
    cycle: CycleState, pod: PodInfo, table: NodeTable, rows: NDArray[np.intp], budgets: DisruptionBudgets
) -> DryRun:
    """Return the results of preemption for `pod` on each of `rows`."""
    victims = potential_victims(table, pod.priority, rows)
    ids = np.full(len(rows), NO_VICTIMS, np.int16)
    chosen = np.zeros(victims.shape, np.bool_)
    violations = np.zeros(len(rows), np.intp)
    tried = np.flatnonzero((victims != NOBODY).any(axis=1)) if victims.size else np.zeros(0, np.intp)
    if not len(tried):
        return DryRun(rows, ids, victims, chosen, violations)
    worlds = cycle.what_if(rows[tried])
    _evict_all(worlds, victims[tried])
    ids[tried] = worlds.judge()
    fitting = np.flatnonzero(ids[tried] == 0)
    helped = tried[fitting]
    if len(helped):
        ordered = by_importance(table.slots, victims[helped], latest_first=pod.spec.scheduling_group is not None)
        violating = _violating(budgets, ordered)
        victims[helped] = ordered
        chosen[helped] = _reprieve(worlds, fitting, ordered, violating)
        violations[helped] = np.count_nonzero(chosen[helped] & violating, axis=1)
    return DryRun(rows, ids, victims, chosen, violations)


def has_lower(table: NodeTable, priority: int) -> bool:
    """Return whether there may be a pod of lower priority on any row."""
    slots = table.slots
    return bool((slots.priority[: slots.size] < priority).any())


def potential_victims(table: NodeTable, priority: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return a line for each row: its pods of lower priority, by slot, filled up with NOBODY."""
    slots = table.slots
    lower = np.flatnonzero(slots.priority[: slots.size] < priority)
    if not len(lower):
        return np.full((len(rows), 0), NOBODY, np.intp)
    line_of_row = np.full(table.size + 1, NOBODY, np.intp)
    line_of_row[rows] = np.arange(len(rows))
    # the last entry is for pods on no row
    line = line_of_row[slots.row[lower]]
    there = line != NOBODY
    line, lower = line[there], lower[there]
    # 16-bit integers are sorted in linear time
    keys = line.astype(np.uint16) if len(rows) <= 2**16 else line
    order = np.argsort(keys, kind="stable")
    line, lower = line[order], lower[order]
    counts = np.bincount(line, minlength=len(rows))
    place = np.arange(len(line)) - (np.cumsum(counts) - counts)[line]
    victims = np.full((len(rows), int(counts.max(initial=0))), NOBODY, np.intp)
    victims[line, place] = lower
    return victims


# upstream: util/utils.go, MoreImportantPod (v1.36)
def by_importance(slots: PodSlots, victims: NDArray[np.intp], *, latest_first: bool = False) -> NDArray[np.intp]:
    """Return each line sorted: higher priority first, then earlier start; NOBODY comes last.

    With `latest_first`, pods that have not started are sorted by arrival, the latest first. The reference gives such a
    pod the current time as its start, anew in each comparison; its sort then reverses their order.
    """
    # 64 bits, so that every priority can be negated and NOBODY comes after all of them
    rank = np.where(victims == NOBODY, 2**32, -slots.priority[victims].astype(np.int64))
    start = slots.start[victims]
    keys: tuple[NDArray[Any], ...] = (start, rank)
    if latest_first:
        keys = (np.where(start == NOT_STARTED, -slots.arrival[victims], 0), start, rank)
    order = np.lexsort(keys, axis=-1)
    return np.take_along_axis(victims, order, axis=1)


def _violating(budgets: DisruptionBudgets, victims: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of the ordered victims violate a budget."""
    mask = victims != NOBODY
    worlds = np.broadcast_to(np.arange(len(victims))[:, None], victims.shape)[mask]
    violating = np.zeros(victims.shape, np.bool_)
    violating[mask] = budgets.violating(worlds, victims[mask])
    return violating


def _evict_all(worlds: WhatIf, victims: NDArray[np.intp]) -> None:
    """Take all potential victims out of their worlds."""
    for column in victims.T:
        there = np.flatnonzero(column != NOBODY)
        worlds.change(there, column[there], -1)


def _reprieve(
    worlds: WhatIf, fitting: NDArray[np.intp], victims: NDArray[np.intp], violating: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Put pods back into the worlds `fitting` while the preemptor still fits; return the pods that cannot stay."""
    chosen = np.zeros(victims.shape, np.bool_)
    lines = np.arange(len(victims))
    # Pods whose eviction violates a budget are put back first. Each line is a permutation of its places.
    turns = np.argsort(~violating, axis=1, kind="stable") if violating.any() else None
    for turn in range(victims.shape[1]):
        place = np.full(len(lines), turn) if turns is None else turns[:, turn]
        slots = victims[lines, place]
        there = np.flatnonzero(slots != NOBODY)
        if len(there):
            back = fitting[there]
            worlds.change(back, slots[there], 1)
            stuck = there[_judge(worlds, back) != 0]
            worlds.change(fitting[stuck], slots[stuck], -1)
            chosen[stuck, place[stuck]] = True
    return chosen


def _judge(worlds: WhatIf, some: NDArray[np.intp]) -> NDArray[np.int16]:
    """Return the verdicts of some worlds; selecting many costs more than judging all."""
    return worlds.judge()[some] if 2 * len(some) > len(worlds.rows) else worlds.judge(some)
