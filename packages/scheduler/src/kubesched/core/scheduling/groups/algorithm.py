"""Placing a pod group: its pods are assumed one after the other, so that each sees the ones before it.

From the pods of a group to a result. At the end all of them are forgotten again, the last one first. A pod that needs a
preemption is assumed as well; its victims stay on the node until they are deleted.
"""

# upstream: schedule_one_podgroup.go (podGroupSchedulingDefaultAlgorithm, podGroupPodSchedulingAlgorithm) (v1.36)

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.api.scheduling import PodGroup
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import SUCCESS, Status, error
from kubesched.core.scheduling.commit import commit, undo
from kubesched.core.scheduling.cycle import CycleContext, CycleOptions, choose_or_preempt, commit_failure
from kubesched.core.scheduling.extender_calls import Asking
from kubesched.core.scheduling.groups.results import GROUP_UNSCHEDULABLE, WAITS_FOR_PREEMPTION, GroupResult, PodResult
from kubesched.core.scheduling.outcomes import UNSCHEDULABLE, Failed, PodAttempt

GiveBack = Callable[[], None]


class PodGroupAttempt:
    """An attempt to place pods of a group, at least one; without `may_preempt` PostFilter does not run."""

    def __init__(
        self, context: CycleContext, profile: Profile, pods: Sequence[PodAttempt], *, may_preempt: bool = True
    ) -> None:
        self.context = context
        self.profile = profile
        self.pods = pods
        self.may_preempt = may_preempt
        # the cycle state that the pods of the group share
        self.state = CycleState()

    @property
    def group(self) -> PodGroup | None:
        """Return the group, if it exists."""
        key = group_of(self.pods[0].queued.pod)
        return self.context.cluster.objects.get(PodGroup, "/".join(key)) if key is not None else None

    @property
    def no_group(self) -> Status:
        """Return the API server's error for a group that does not exist."""
        key = group_of(self.pods[0].queued.pod) or ("", "")
        return error(f'podgroup.scheduling.k8s.io "{key[1]}" not found')

    def run(self, within: NDArray[np.intp] | None = None) -> Asking[GroupResult]:
        """Return the result of the attempt on some rows (None: on all); the table is as before."""
        taken: list[GiveBack] = []
        try:
            return (yield from self._place_all(within, taken))
        finally:
            for give_back in reversed(taken):
                give_back()

    def _place_all(self, within: NDArray[np.intp] | None, taken: list[GiveBack]) -> Asking[GroupResult]:
        result = GroupResult(GROUP_UNSCHEDULABLE, within=within)
        needs_preemption = False
        for attempt in self.pods:
            placed = yield from self._place(attempt, within, taken)
            result.pods.append(placed)
            failure = placed.failure
            if failure is not None:
                result.blamed |= failure.unschedulable_plugins
            if failure is not None and not placed.needs_preemption:
                if failure.reason == UNSCHEDULABLE:
                    # the other pods may be enough
                    continue
                result.status = error(f"failed to schedule other pod from a pod group: {failure.message}")
                result.waits_for_preemption = False
                break
            needs_preemption = needs_preemption or placed.needs_preemption
            if placed.permission.ok:
                # if Permit allows a pod, the whole group can be placed
                result.status = WAITS_FOR_PREEMPTION if needs_preemption else SUCCESS
                result.waits_for_preemption = needs_preemption
        return result

    def _place(self, attempt: PodAttempt, within: NDArray[np.intp] | None, taken: list[GiveBack]) -> Asking[PodResult]:
        """Assume a pod on its node; return the result, or why it has no node."""
        cluster, profile = self.context.cluster, self.profile
        queued, stopwatch, _ = attempt
        found = yield from choose_or_preempt(
            self.context, profile, attempt, CycleOptions(within, self.may_preempt, self.state)
        )
        if not isinstance(found, Failed):
            evaluation, decision = found
            place = PodResult(attempt, None, decision.node_name, evaluation.cycle)
            place.feasible_nodes = decision.feasible_nodes
            place.evaluated_nodes = evaluation.evaluated_nodes
        elif found.nominated_node_name and found.cycle is not None:
            place = PodResult(attempt, found, found.nominated_node_name, found.cycle)
        else:
            return PodResult(attempt, found)
        cycle, node_name = place.cycle, place.node_name
        assert cycle is not None, "a pod with a node has a cycle"
        nominated = cluster.nominations.node_of(queued.uid)
        commitment = commit(cluster, profile, cycle, queued.pod, node_name, stopwatch)
        if commitment.failure is not None:
            cluster.nominate(queued.pod, nominated)
            return PodResult(attempt, commit_failure(attempt, commitment.failure, commitment.point))

        def give_back() -> None:
            undo(cluster, profile, cycle, commitment.pod, node_name, stopwatch)
            cluster.nominate(queued.pod, nominated)

        taken.append(give_back)
        place.permission = commitment.permission or SUCCESS
        return place
