"""Attempts to schedule the pods of a group together, as the scheduling loop does.

From a pod of a pod group to the group's waiting pods, the scheduler's own cycle for all of them
(`core.scheduling.groups`), and the outcome of each. The table is unchanged at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kubesched.api.scheduling import PodGroup
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.values.status import Status
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext
from kubesched.core.scheduling.extender_calls import finished
from kubesched.core.scheduling.groups.algorithm import PodGroupAttempt
from kubesched.core.scheduling.groups.cycle import profile_of, schedule_group
from kubesched.core.scheduling.groups.failures import failures_of
from kubesched.core.scheduling.groups.placements import place_group
from kubesched.core.scheduling.groups.results import GROUP_UNSCHEDULABLE, GroupResult, PodResult
from kubesched.core.scheduling.outcomes import SCHEDULER_ERROR, Failed, PodAttempt
from kubesched.model.cluster_model import ClusterModel, gates_of

GATE = "GenericWorkload"


@dataclass(frozen=True, slots=True)
class TriedGroup:
    """An attempt to schedule the waiting pods of a group, in the order in which they were tried.

    `failures` are the failures of the pods that stay without a node, by UID. Without a `profile`, for pods of
    different schedulers, the group cannot be tried.
    """

    pods: Sequence[PodInfo]
    result: GroupResult
    failures: dict[str, Failed]
    profile: Profile | None = None

    @property
    def placed(self) -> list[PodResult]:
        """Return the pods that get a node; empty if too few of the group do."""
        return [pod for pod in self.result.pods if pod.failure is None] if self.result.status.ok else []

    @property
    def first_failing(self) -> PodResult | None:
        """Return the first pod that finds no node after the pods before it."""
        return next((pod for pod in self.result.pods if pod.failure is not None), None)

    @property
    def victims(self) -> list[PodInfo]:
        """Return the pods that are evicted for the group, if that makes space."""
        found = {victim.uid: victim for failure in self.failures.values() for victim in _victims(failure)}
        whole = self.result.preemption
        if whole is not None and whole.status.ok:
            found |= {victim.uid: victim for victim in whole.victims}
        return list(found.values())


def is_in_group(model: ClusterModel, pod: PodInfo) -> bool:
    """Return whether the scheduler schedules a pod together with its pod group."""
    return group_of(pod) is not None and model.loaded.gates.enabled(GATE)


def group_object(model: ClusterModel, pod: PodInfo) -> PodGroup | None:
    """Return the pod group of a pod, if it exists."""
    key = group_of(pod)
    return model.cluster.objects.get(PodGroup, "/".join(key)) if key is not None else None


def members_to_try(model: ClusterModel, pod: PodInfo) -> list[PodInfo]:
    """Return the waiting pods of a pod's group that the scheduler tries with it: by priority, then age."""
    key = group_of(pod)
    assert key is not None, "the pod has a group"
    waiting = {pod.uid: pod, **model.cluster.pod_groups.state(key).unscheduled}
    return sorted((each for each in waiting.values() if is_tried(model, each)), key=_order)


def try_group(context: CycleContext, pods: Sequence[PodInfo], *, may_preempt: bool = True) -> TriedGroup:
    """Try to place pods of a group.

    Without `may_preempt` PostFilter, which takes long, runs only where it matters: even if enough pods of a group
    fit, the group waits while evictions make space for another of its pods.
    """
    if not pods:
        return TriedGroup((), GroupResult(GROUP_UNSCHEDULABLE), {})
    queued = [QueuedPod(pod, 0.0) for pod in pods]
    attempts = [PodAttempt(each) for each in queued]
    profile = profile_of(context, queued)
    if isinstance(profile, Status):
        failures = {each.queued.uid: Failed(each, SCHEDULER_ERROR, profile.message) for each in attempts}
        return TriedGroup(pods, GroupResult(profile), failures)
    if not may_preempt:
        result = finished(place_group(PodGroupAttempt(context, profile, attempts, may_preempt=False)))
        if not result.status.ok or all(pod.failure is None for pod in result.pods):
            return _tried(pods, profile, attempts, result)
    return _tried(pods, profile, attempts, finished(schedule_group(context, profile, attempts)))


def _tried(
    pods: Sequence[PodInfo], profile: Profile, attempts: Sequence[PodAttempt], result: GroupResult
) -> TriedGroup:
    if result.status.ok:
        failed = [pod.failure for pod in result.pods if pod.failure is not None]
    else:
        failed = failures_of(attempts, result)
    return TriedGroup(pods, result, {failure.queued.uid: failure for failure in failed}, profile)


def is_tried(model: ClusterModel, pod: PodInfo) -> bool:
    """Return whether the scheduler tries a waiting pod: it has a profile, and is not held back."""
    profile = model.profile_of(pod)
    return profile is not None and not pod.terminating and not gates_of(profile, pod)


def _order(pod: PodInfo) -> tuple[int, float, str]:
    created = pod.metadata.creation_timestamp
    return -pod.priority, created.timestamp() if created is not None else 0.0, pod.full_name


def _victims(failure: Failed) -> Sequence[PodInfo]:
    return failure.preemption.victims if failure.preemption is not None else ()
