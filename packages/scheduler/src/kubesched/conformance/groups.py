"""Answers about pod groups: the group's cycle in the corpus' form.

From `group:namespace/name` in a scenario to an entry of `groups`. Ties between nodes go to the first name. Extenders
are not asked.
"""

from typing import Any

from kubesched.conformance.results import Result, held_back, status_form
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.values.status import Status
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.commit import commit
from kubesched.core.scheduling.cycle import CycleContext
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.extender_calls import finished
from kubesched.core.scheduling.groups.cycle import profile_of, schedule_group
from kubesched.core.scheduling.groups.results import GroupResult, PodResult
from kubesched.core.scheduling.outcomes import PodAttempt

PREFIX = "group:"


class GroupJudge:
    """Judges groups on an engine's cluster; in a sequence, the pods of fitting groups are placed."""

    def __init__(self, engine: Engine, *, sequence: bool) -> None:
        self._engine = engine
        self._sequence = sequence
        self._context = CycleContext(engine, lambda count: 0)

    def judge(self, name: str) -> Result:
        """Return the entry of the group `namespace/name`."""
        members = self._members(name)
        entries: dict[str, Result] = {queued.uid: {"pod": queued.pod.full_name} for queued in members}
        ready = [queued for queued in members if not self._held_back(queued, entries[queued.uid])]
        entry: Result = {"group": name, "pods": list(entries.values())}
        if not ready:
            return entry
        profile = profile_of(self._context, ready)
        if isinstance(profile, Status):
            return {**entry, "error": profile.message}
        result = finished(schedule_group(self._context, profile, [PodAttempt(queued) for queued in ready]))
        for pod in result.pods:
            entries[pod.attempt.queued.uid].update(pod_form(pod))
        if self._sequence and result.status.ok:
            self._place_pods(profile, result)
        return {**entry, **group_form(result)}

    def _members(self, name: str) -> list[QueuedPod]:
        """Return the waiting pods of a group in the order of their attempts."""
        pods = [pod for pod in self._engine.cluster.pending.values() if "/".join(group_of(pod) or ()) == name]
        return [QueuedPod(pod, 0.0) for pod in sorted(pods, key=lambda pod: (-pod.priority, pod.name))]

    def _held_back(self, queued: QueuedPod, entry: Result) -> bool:
        profile = self._engine.profiles.get(queued.pod.spec.scheduler_name)
        refusals = held_back(profile.pre_enqueue, queued.pod) if profile is not None else {}
        if refusals:
            entry["preEnqueue"] = refusals
        return bool(refusals)

    def _place_pods(self, profile: Profile, result: GroupResult) -> None:
        """Assume and reserve the pods of a group that has a placement."""
        for pod in result.pods:
            if pod.failure is None and pod.cycle is not None:
                pod.cycle.group = None
                commit(self._engine.cluster, profile, pod.cycle, pod.attempt.queued.pod, pod.node_name)


def pod_form(pod: PodResult) -> Result:
    """Return the result of one pod of a group in the corpus' form."""
    form: Result = {}
    if pod.node_name:
        form["node"] = pod.node_name
    failure = pod.failure
    if failure is not None:
        form["status"] = {"code": failure.reason if failure.reason == "Unschedulable" else "Error"}
        form["message"] = failure.message
    if not pod.permission.ok:
        form["permit"] = status_form(pod.permission, with_plugin=False)
    if pod.needs_preemption and failure is not None:
        form["requiresPreemption"] = True
        victims = failure.preemption.victims if failure.preemption is not None else ()
        form["victims"] = sorted(victim.full_name for victim in victims)
    return form


def group_form(result: GroupResult) -> Result:
    """Return the result of a whole group in the corpus' form."""
    form: dict[str, Any] = {"code": result.status.code.text}
    if result.status.message:
        form["message"] = result.status.message
    if result.waits_for_preemption:
        form["waitingOnPreemption"] = True
    if result.preemption is not None:
        form["workloadPreemption"] = status_form(result.preemption.status, with_plugin=False)
        if result.preemption.victims:
            form["victims"] = sorted(victim.full_name for victim in result.preemption.victims)
    return form
