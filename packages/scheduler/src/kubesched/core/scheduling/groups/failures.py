"""The failures of the pods of a group that cannot be placed.

From the result of a group's attempt to the condition of each of its pods, and the victims that are evicted for
it.
"""

# upstream: schedule_one_podgroup.go (submitPodGroupAlgorithmResult) (v1.36)

from collections.abc import Sequence

import msgspec

from kubesched.core.scheduling.groups.results import GANG_SCHEDULING, UNSCHEDULABLE_GROUP, GroupResult, PodResult
from kubesched.core.scheduling.outcomes import SCHEDULER_ERROR, UNSCHEDULABLE, Failed, PodAttempt


def failures_of(pods: Sequence[PodAttempt], result: GroupResult) -> list[Failed]:
    """Return the failure of each pod of a group that cannot be placed; a victim is evicted for one of them alone."""
    # differs (D-050): the reference retries pods of groups after their backoff, without a limit; here a group without
    # any placed pod waits for events that may help one of its pods
    blamed = _blamed(result)
    going: set[str] = set()
    return [
        _failure(attempt, result.pods[index] if index < len(result.pods) else None, result, blamed, going)
        for index, attempt in enumerate(pods)
    ]


def _blamed(result: GroupResult) -> frozenset[str]:
    """Return the plugins that rejected a group; GangScheduling if too few pods have a node."""
    too_few = any(pod.node_name and not pod.permission.ok for pod in result.pods)
    return result.blamed | {GANG_SCHEDULING} if too_few or not result.blamed else result.blamed


def _failure(
    attempt: PodAttempt, pod: PodResult | None, result: GroupResult, blamed: frozenset[str], going: set[str]
) -> Failed:
    """Return the failure of one pod of a group that cannot be placed; `going` are victims of the pods before it."""
    status = result.status
    failure = pod.failure if pod is not None else None
    if not status.rejected:
        own = failure is not None and failure.reason == SCHEDULER_ERROR
        return failure if own and failure is not None else Failed(attempt, SCHEDULER_ERROR, status.message)
    if pod is None:
        return Failed(attempt, UNSCHEDULABLE, status.message, blamed)
    if failure is None and result.waits_for_preemption:
        return Failed(attempt, UNSCHEDULABLE, status.message, blamed, nominated_node_name=pod.node_name)
    if failure is None or (pod.needs_preemption and not result.waits_for_preemption):
        # differs (D-053): the reference evicts victims for a pod even if its group does not fit
        message = f"{UNSCHEDULABLE_GROUP}, {pod.permission.message}"
        return Failed(attempt, UNSCHEDULABLE, message, blamed)
    return _evicting_once(msgspec.structs.replace(failure, unschedulable_plugins=blamed), going)


def _evicting_once(failure: Failed, going: set[str]) -> Failed:
    """Return a failure without the victims that are evicted for another pod of the group already."""
    preemption = failure.preemption
    if preemption is None:
        return failure
    victims = tuple(victim for victim in preemption.victims if victim.uid not in going)
    going.update(victim.uid for victim in victims)
    left = msgspec.structs.replace(preemption, victims=victims) if victims else None
    return msgspec.structs.replace(failure, preemption=left)
