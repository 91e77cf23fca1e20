"""Disruption budgets: the potential victims whose eviction would violate one.

From PodDisruptionBudget objects to a mask over the potential victims of many worlds. Whether a budget selects a pod is
evaluated once per label group, and kept until the budgets change.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import NOTHING, InvalidSelectorError, Selector, from_label_selector
from kubesched.api.meta import LabelSelector
from kubesched.api.policy import PodDisruptionBudget
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_counts import LabelGroup
from kubesched.core.cluster.pod_info import PodInfo

REMEMBERED_GROUPS = 100_000


class DisruptionBudget(NamedTuple):
    """A budget with its compiled selector; `disrupted` are the names in status.disruptedPods, which count already."""

    namespace: str
    selector: Selector
    disruptions_allowed: int
    disrupted: frozenset[str]
    # the selector as written
    written: LabelSelector | None


class DisruptionBudgets:
    """The cluster's budgets, compiled when they change."""

    def __init__(self, cluster: ClusterState) -> None:
        self._objects = cluster.objects
        self._table = cluster.table
        self._version = -1
        self._budgets: list[DisruptionBudget] = []
        self._by_name: dict[str, DisruptionBudget] = {}
        # label group -> the budgets that select its pods
        self._selecting: dict[int, tuple[int, ...]] = {}

    # upstream: plugins/defaultpreemption/default_preemption.go, filterPodsWithPDBViolation (v1.36)
    def violating(self, worlds: NDArray[np.intp], slots: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which pods violate a budget, evicted one after the other in each world.

        Pod `slots[i]` is a potential victim in world `worlds[i]`; the victims of a world come most important first.
        Budgets are counted separately in each world, and beyond the allowed disruptions, too.
        """
        violating = np.zeros(len(slots), np.bool_)
        if not self._refresh():
            return violating
        victims, budgets = self._pairs(slots)
        if len(victims):
            rank = _rank_within(worlds[victims] * len(self._budgets) + budgets)
            allowed = np.array([budget.disruptions_allowed for budget in self._budgets], np.int64)
            violating[victims[rank >= allowed[budgets]]] = True
        return violating

    # upstream: framework/preemption/preemption.go, filterVictimsWithPDBViolation (v1.36)
    def violating_units(self, units: Sequence[Sequence[PodInfo]]) -> list[bool]:
        """Return which units violate a budget, evicted one after the other; a unit does if one of its pods does."""
        if not self._refresh():
            return [False] * len(units)
        left = [budget.disruptions_allowed for budget in self._budgets]
        return [any(self._breaks(pod, left) for pod in unit) for unit in units]

    def _breaks(self, pod: PodInfo, left: list[int]) -> bool:
        """Subtract a pod from its budgets, up to the first exceeded one; return whether one is."""
        for index in self._budgets_selecting(int(self._table.slots.group[pod.slot])):
            if pod.name not in self._budgets[index].disrupted:
                left[index] -= 1
                if left[index] < 0:
                    return True
        return False

    def _refresh(self) -> bool:
        """Compile the budgets if they changed; return whether there are any."""
        version = self._objects.versions.get(PodDisruptionBudget.__name__, 0)
        if version != self._version:
            self._version = version
            before = self._by_name
            self._by_name = {
                budget.full_name: _compiled(budget, before.get(budget.full_name))
                for budget in self._objects.of(PodDisruptionBudget)
            }
            budgets = list(self._by_name.values())
            # how many disruptions are allowed changes with every pod that becomes ready
            if [_selection(budget) for budget in budgets] != [_selection(budget) for budget in self._budgets]:
                self._selecting.clear()
            self._budgets = budgets
        return bool(self._budgets)

    def _pairs(self, slots: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return all pairs of a victim (a position in `slots`) and a budget that selects it, in the victims' order."""
        codes, which = np.unique(self._table.slots.group[slots], return_inverse=True)
        selecting = [self._budgets_selecting(code) for code in codes.tolist()]
        times = np.array([len(budgets) for budgets in selecting], np.intp)
        starts = np.cumsum(times) - times
        listed = np.array([budget for budgets in selecting for budget in budgets], np.intp)
        victims = np.repeat(np.arange(len(slots)), times[which])
        first = np.cumsum(times[which]) - times[which]
        nth = np.arange(len(victims)) - first[victims]
        budgets = listed[starts[which[victims]] + nth] if len(listed) else listed
        paid = self._already_paid(slots[victims], budgets)
        return (victims, budgets) if paid is None else (victims[~paid], budgets[~paid])

    def _budgets_selecting(self, code: int) -> tuple[int, ...]:
        found = self._selecting.get(code)
        if found is None:
            if len(self._selecting) > REMEMBERED_GROUPS:
                self._selecting.clear()
            group = self._table.counts.groups[code]
            found = self._selecting[code] = tuple(
                index for index, budget in enumerate(self._budgets) if _means(budget, group)
            )
        return found

    def _already_paid(self, slots: NDArray[np.intp], budgets: NDArray[np.intp]) -> NDArray[np.bool_] | None:
        """Return which pairs do not count, since the budget lists the pod as disrupted; None if no budget lists any."""
        if not any(budget.disrupted for budget in self._budgets):
            return None
        pods = self._table.slots.pods
        return np.array(
            [
                (pod := pods[slot]) is not None and pod.name in self._budgets[budget].disrupted
                for slot, budget in zip(slots.tolist(), budgets.tolist(), strict=True)
            ],
            np.bool_,
        )


def _compiled(budget: PodDisruptionBudget, before: DisruptionBudget | None) -> DisruptionBudget:
    """Return a budget compiled; the selector of its version `before` is compiled again only if it changed."""
    written, status = budget.spec.selector, budget.status
    if before is not None and before.written == written:
        selector = before.selector
    else:
        try:
            selector = from_label_selector(written)
        except InvalidSelectorError:
            selector = NOTHING
    return DisruptionBudget(
        budget.metadata.namespace, selector, status.disruptions_allowed, frozenset(status.disrupted_pods), written
    )


def _selection(budget: DisruptionBudget) -> tuple[str, LabelSelector | None]:
    """Return the fields that decide which pods a budget selects."""
    return budget.namespace, budget.written


def _means(budget: DisruptionBudget, group: LabelGroup) -> bool:
    """Return whether a budget selects the pods of a label group; no budget selects pods without labels."""
    if budget.namespace != group.namespace or not group.labels or budget.selector.empty:
        return False
    return budget.selector.matches(group.labels)


def _rank_within(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each entry how many earlier entries have the same key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    place = np.arange(len(keys))
    begins = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    rank = np.empty(len(keys), np.intp)
    rank[order] = place - np.maximum.accumulate(np.where(begins, place, 0))
    return rank
