"""The scheduling cycle of a pod group, in numbered steps.

From the waiting pods of a group to a node for each of them, or why there is none. The table is as before: the loop
assumes the pods.
"""

# upstream: schedule_one_podgroup.go (podGroupCycle, frameworkForPodGroup, runWorkloadAwarePreemption) (v1.36)

from collections.abc import Sequence

from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.calling.answers import checked_pod_group_post_filter_result
from kubesched.core.framework.calling.hooks import ask_generator
from kubesched.core.framework.values.preemption import PodGroupPostFilterResult
from kubesched.core.framework.values.status import Code, Status, error, unschedulable
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext
from kubesched.core.scheduling.extender_calls import Asking
from kubesched.core.scheduling.groups.algorithm import PodGroupAttempt
from kubesched.core.scheduling.groups.placements import place_group
from kubesched.core.scheduling.groups.results import GroupResult
from kubesched.core.scheduling.outcomes import PodAttempt

NOBODY_PREEMPTS = unschedulable("default preemption plugin is not registered, workload aware preemption is disabled")
CONSTRAINED = unschedulable("workload aware preemption is not supported for pod groups with scheduling constraints")


def profile_of(context: CycleContext, pods: Sequence[QueuedPod]) -> Profile | Status:
    """Return the profile of all pods of a group, or an error if their schedulerNames differ."""
    names = [queued.pod.spec.scheduler_name for queued in pods]
    other = next((name for name in names if name != names[0]), None)
    if other is not None:
        return error(
            "all pods in a single pod group should have the same .spec.schedulerName set, "
            f'got: "{other}" and "{names[0]}"'
        )
    profile = context.profiles.get(names[0])
    return profile if profile is not None else error(f'profile not found for scheduler name "{names[0]}"')


def schedule_group(context: CycleContext, profile: Profile, pods: Sequence[PodAttempt]) -> Asking[GroupResult]:
    """Return the result of an attempt to schedule the pods of a group, at least one, in this order."""
    # 1. Do enough of them fit, with or without preemption for single pods?
    result = yield from place_group(PodGroupAttempt(context, profile, pods))
    # 2. No: do they fit with preemption for the group as a whole?
    if context.workload_aware_preemption and result.status.code is Code.UNSCHEDULABLE:
        found = yield from preempt(PodGroupAttempt(context, profile, pods, may_preempt=False))
        result.preemption = found
        if found.status.ok:
            result.waits_for_preemption = True
        elif found.status.rejected:
            result.status = unschedulable(*result.status.reasons, found.status.message)
        else:
            result.status = found.status
    return result


def preempt(attempt: PodGroupAttempt) -> Asking[PodGroupPostFilterResult]:
    """Return the victims whose eviction lets the whole group fit, or why there are none."""
    plugins = attempt.profile.pod_group_post_filter
    if not plugins:
        return PodGroupPostFilterResult(NOBODY_PREEMPTS)
    group = attempt.group
    if group is None:
        return PodGroupPostFilterResult(error(f"failed to get pod group object: {attempt.no_group.message}"))
    constraints = group.spec.scheduling_constraints
    if constraints is not None and constraints.topology:
        return PodGroupPostFilterResult(CONSTRAINED)

    def trial() -> Asking[Status]:
        tried = yield from place_group(attempt)
        return tried.status

    pods = [pod.queued.pod for pod in attempt.pods]
    checked = checked_pod_group_post_filter_result
    found = yield from ask_generator(plugins[0], "pod_group_post_filter", checked, group, pods, trial)
    return PodGroupPostFilterResult(found) if isinstance(found, Status) else found
