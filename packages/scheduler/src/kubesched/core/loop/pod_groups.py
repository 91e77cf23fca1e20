"""Pod groups in the loop: the pods of a group are scheduled, and bound or requeued, as a whole.

From a popped pod to all waiting pods of its group, through the group's scheduling cycle, and on to binding cycles or
back into the queue. The group's condition PodGroupScheduled is written.
"""

# upstream: schedule_one_podgroup.go (scheduleOnePodGroup, podGroupInfoForPod, submitPodGroupAlgorithmResult,
# updatePodGroupCondition) (v1.36)

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from kubesched.api.scheduling import PodGroup
from kubesched.core.binding.cancellation import is_called_off
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing import observer
from kubesched.core.framework.results.outcomes import GroupAttempt
from kubesched.core.framework.values.cycle import PODS_TO_ACTIVATE
from kubesched.core.framework.values.effects import Patch
from kubesched.core.framework.values.preemption import Preemption
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.values.texts import described
from kubesched.core.loop.bindings import Bindings
from kubesched.core.loop.context import LoopContext
from kubesched.core.loop.evictions import Preemptor
from kubesched.core.loop.failure_handler import FailureHandler
from kubesched.core.loop.slow_cycles import note_duration
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.commit import commit
from kubesched.core.scheduling.cycle import CycleContext, commit_failure
from kubesched.core.scheduling.extender_calls import Asking
from kubesched.core.scheduling.groups.cycle import profile_of, schedule_group
from kubesched.core.scheduling.groups.failures import failures_of
from kubesched.core.scheduling.groups.results import GroupResult, PodResult
from kubesched.core.scheduling.outcomes import SCHEDULER_ERROR, UNSCHEDULABLE, Failed, Placed, PodAttempt, begin_attempt

CONDITION = "PodGroupScheduled"
# the node name for the preemption of a pod group, which is not limited to one node
CLUSTER = "cluster"

# runs the cycle of a list of pods, and calls extenders for it
Run = Callable[[Asking[GroupResult], int], Awaitable[GroupResult]]


class PodGroupScheduler:
    """Schedules pod groups."""

    def __init__(
        self, loop: LoopContext, context: CycleContext, bindings: Bindings, failures: FailureHandler, run: Run
    ) -> None:
        self._loop = loop
        # of the configuration that is in force
        self.context = context
        self._bindings = bindings
        self._failures = failures
        self._run = run

    async def attempt(self, popped: QueuedPod) -> None:
        """Schedule all waiting pods of a popped pod's group."""
        gathered = [queued for queued in self._gathered(popped) if not self._skipped(queued)]
        if not gathered:
            return
        pods = [begin_attempt(queued, self._loop.observers, self._loop.engine.generation) for queued in gathered]
        profile = profile_of(self.context, gathered)
        if isinstance(profile, Status):
            for pod in pods:
                self._failures.fail(Failed(pod, SCHEDULER_ERROR, profile.message))
            return
        began, began_at = self._loop.observers.clock(), self._loop.busy_time()
        try:
            result = await self._cycle(profile, pods)
        except BaseException as raised:
            if is_called_off(raised):
                raise
            # an internal error fails this group's attempt; the loop goes on
            note_duration(pods, self._loop.busy_time() - began_at, self._loop.note)
            for pod in pods:
                self._failures.fail(Failed(pod, SCHEDULER_ERROR, f"internal error: {described(raised)}"))
            return
        ended = self._loop.observers.clock()
        note_duration(pods, self._loop.busy_time() - began_at, self._loop.note)
        scheduled = self._bind(profile, pods, result) if result.status.ok else self._put_back(profile, pods, result)
        self._tell_of_group(pods, result.status)
        self._loop.observers.group_attempted(
            GroupAttempt(
                "/".join(group_of(popped.pod) or ()),
                profile.scheduler_name,
                _outcome(result),
                result.status.message,
                scheduled,
                len(pods) - scheduled,
                ended - began,
                self._loop.observers.clock() - began,
            )
        )

    def _gathered(self, popped: QueuedPod) -> list[QueuedPod]:
        """Pop all waiting pods of a group; return them by priority, then age."""
        key = group_of(popped.pod)
        state = self._loop.cluster.pod_groups.state(key) if key is not None else None
        pods = [popped]
        for uid in list(state.unscheduled) if state is not None else ():
            queued = self._loop.queue.pop_specific(uid, self._loop.now())
            if queued is not None:
                pods.append(queued)
        return sorted(pods, key=lambda queued: (-queued.pod.priority, queued.initial_attempt_at or 0.0))

    def _skipped(self, queued: QueuedPod) -> bool:
        """Drop a pod that is terminating or assumed already; return whether it was dropped."""
        pod = queued.pod
        if not pod.terminating and pod.uid not in self._loop.cluster.table.pods:
            return False
        self._loop.queue.done(pod.uid)
        self._loop.observers.attempt_skipped(pod)
        return True

    async def _cycle(self, profile: Profile, pods: Sequence[PodAttempt]) -> GroupResult:
        observers = self.context.observers
        observers.group_attempt_began("/".join(group_of(pods[0].queued.pod) or ()))
        for pod in pods:
            observers.attempt_began(pod.queued.pod)
        result = await self._run(schedule_group(self.context, profile, pods), len(pods))
        for pod in pods:
            observers.algorithm_ran(pod.stopwatch.seconds)
            pod.stopwatch.tell()
        return result

    # -- a group that can be placed

    def _bind(self, profile: Profile, pods: Sequence[PodAttempt], result: GroupResult) -> int:
        """Assume the pods and start their binding cycles; return how many.

        Pods without a node are retried: the rest of the group may preempt alone. Each such attempt binds at least
        one pod or is the last.
        """
        uids = {each.queued.uid for each in pods}
        failures = [
            failure
            for pod in result.pods
            if (failure := pod.failure or self._begin_binding(profile, pod, uids)) is not None
        ]
        scheduled = len(pods) - len(failures)
        for failure in failures:
            self._failures.fail(msgspec.structs.replace(failure, again=scheduled > 0))
        return scheduled

    def _begin_binding(self, profile: Profile, pod: PodResult, in_this_cycle: set[str]) -> Failed | None:
        (queued, stopwatch, _), cycle = pod.attempt, pod.cycle
        assert cycle is not None, "a pod with a node has a cycle"
        # the group's cycle is over
        cycle.group = None
        taken = commit(self._loop.cluster, profile, cycle, queued.pod, pod.node_name, stopwatch)
        if taken.failure is not None:
            return commit_failure(pod.attempt, taken.failure, taken.point)
        named = cycle.get(PODS_TO_ACTIVATE)
        if named:
            # these have just been attempted
            named -= in_this_cycle
        self._bindings.begin(
            Placed(
                pod.attempt,
                taken.pod,
                pod.node_name,
                profile,
                cycle,
                taken.waits,
                pod.feasible_nodes,
                pod.evaluated_nodes,
            )
        )
        return None

    # -- a group that cannot

    def _put_back(self, profile: Profile, pods: Sequence[PodAttempt], result: GroupResult) -> int:
        """Requeue all pods of a group; return 0, the number of scheduled pods."""
        found = result.preemption
        if found is not None and found.status.ok:
            plugin = profile.pod_group_post_filter[0].name
            self._evict_for_group(pods, Preemption(plugin, CLUSTER, found.victims))
        for failure in failures_of(pods, result):
            self._failures.fail(failure)
        return 0

    def _evict_for_group(self, pods: Sequence[PodAttempt], preemption: Preemption) -> None:
        group = self._group(pods)
        if group is not None:
            uids = tuple(pod.queued.uid for pod in pods)
            preemptor = Preemptor(pods[0].queued.pod, group.uid, group.spec.priority or 0, uids, "podgroup")
            self._failures.begin_preemption(preemptor, preemption)

    # -- the group's status

    def _group(self, pods: Sequence[PodAttempt]) -> PodGroup | None:
        key = group_of(pods[0].queued.pod)
        return self._loop.cluster.objects.get(PodGroup, "/".join(key)) if key is not None else None

    def _tell_of_group(self, pods: Sequence[PodAttempt], status: Status) -> None:
        """Write the group's condition."""
        group = self._group(pods)
        if group is None:
            return
        known = next((each for each in group.status.conditions if each.type == CONDITION), None)
        wanted = ("True" if status.ok else "False", _reason(status), status.message)
        if known is not None:
            # a scheduled group stays scheduled, even if pods that were added later do not fit
            overruled = known.status == "True" and wanted[0] != "True"
            if overruled or (known.status, known.reason, known.message) == wanted:
                return
        since = known.last_transition_time if known is not None and known.status == wanted[0] else None
        condition = {
            "type": CONDITION,
            "status": wanted[0],
            "reason": wanted[1],
            "message": wanted[2],
            "observedGeneration": group.metadata.generation,
            "lastTransitionTime": (since or self._loop.date()).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        body = {"metadata": {"uid": group.uid}, "status": {"conditions": [condition]}}
        self._failures.status_writer.write(group.uid, [Patch("PodGroup", group.namespace, group.name, body, "status")])


def _outcome(result: GroupResult) -> str:
    if result.status.ok:
        return observer.SCHEDULED
    if not result.status.rejected:
        return observer.ERROR
    return observer.WAITS_FOR_PREEMPTION if result.waits_for_preemption else observer.UNSCHEDULABLE


def _reason(status: Status) -> str:
    if status.ok:
        return "Scheduled"
    return UNSCHEDULABLE if status.rejected else SCHEDULER_ERROR
