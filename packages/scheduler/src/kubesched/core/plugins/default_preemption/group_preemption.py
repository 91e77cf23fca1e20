"""Preemption for a pod group: the victims to evict, anywhere in the cluster, so that the group can be placed.

From a group and a trial of its placement to victims. All less important pods are taken off the table; if the group can
then be placed, they are put back one by one by importance, pods whose eviction violates a budget first;
the pods with which the group does not fit any more are the victims. In the end the table is as before. Pods of another
group are evicted together if its disruption mode says so.
"""

# upstream: framework/preemption/podgrouppreemption.go, types.go (v1.36)

from collections.abc import Generator, Iterable, Sequence

import msgspec

from kubesched.api.scheduling import PodGroup
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.extenders import ExtenderArgs, ExtenderResult
from kubesched.core.framework.values.preemption import GroupTrial, PodGroupPostFilterResult
from kubesched.core.framework.values.status import SUCCESS, unresolvable, unschedulable
from kubesched.core.plugins.default_preemption.disruption_budgets import DisruptionBudgets

AS_A_GROUP = "PodGroup"
NEVER = unschedulable("not eligible due to preemptionPolicy=Never.")
NO_VICTIMS = unresolvable("No preemption victims found for incoming preemptor")


class Unit(msgspec.Struct):
    """Pods that are evicted together, mostly a single pod. `start` is the start time of its first pod."""

    priority: int
    of_group: bool
    start: float
    pods: list[PodInfo]

    @property
    def importance(self) -> tuple[float, ...]:
        """Return a key by which units are sorted, the most important first."""
        return (-self.priority, not self.of_group, -len(self.pods) if self.of_group else 0, self.start)


def victims_for_group(
    cluster: ClusterState, budgets: DisruptionBudgets, group: PodGroup, pods: Sequence[PodInfo], trial: GroupTrial
) -> Generator[ExtenderArgs, ExtenderResult, PodGroupPostFilterResult]:
    """Return success and the victims, most important first, or why preemption does not help the group."""
    if any(pod.spec.preemption_policy == "Never" for pod in pods):
        return PodGroupPostFilterResult(NEVER)
    less_important = [unit for unit in units_of(cluster) if unit.priority < (group.spec.priority or 0)]
    if not less_important:
        return PodGroupPostFilterResult(NO_VICTIMS)
    less_important.sort(key=lambda unit: unit.importance)
    breaking = budgets.violating_units([unit.pods for unit in less_important])
    with cluster.without(pod for unit in less_important for pod in unit.pods) as removed:
        status = yield from trial()
        if not status.ok:
            return PodGroupPostFilterResult(status)
        # the positions, in the order of importance, of the units to evict
        victims = set(range(len(less_important)))
        for place in sorted(victims, key=lambda place: (not breaking[place], place)):
            removed.put_back(less_important[place].pods)
            status = yield from trial()
            if status.ok:
                victims.remove(place)
            else:
                removed.take_off(less_important[place].pods)
        return PodGroupPostFilterResult(
            SUCCESS, [pod for place in sorted(victims) for pod in less_important[place].pods]
        )


def units_of(cluster: ClusterState) -> Iterable[Unit]:
    """Return all pods on nodes, as units of eviction."""
    table = cluster.table
    together: dict[str, Unit] = {}
    alone: list[Unit] = []
    for row in table.present_rows().tolist():
        for pod in table.pods_on[row].values():
            start = float(table.slots.start[pod.slot])
            key = group_of(pod)
            group = cluster.objects.get(PodGroup, "/".join(key)) if key is not None else None
            if group is None or group.spec.disruption_mode != AS_A_GROUP:
                alone.append(Unit(pod.priority, key is not None, start, [pod]))
            elif group.full_name in together:
                together[group.full_name].pods.append(pod)
            else:
                together[group.full_name] = Unit(group.spec.priority or 0, True, start, [pod])
    return [*together.values(), *alone]
