"""What follows a failed attempt: back into the queue, a condition, an event, a nomination, a preemption.

From a failure to the queue and to effects as values, which are carried out beside the loop.
"""

# upstream: schedule_one.go (handleSchedulingFailure) (v1.36)

from datetime import datetime
from typing import Any

import msgspec

from kubesched.common.notes import sampled
from kubesched.core.cluster.unreadable import UnreadableObjects
from kubesched.core.framework import observer
from kubesched.core.framework.effects import Effect, Emit, Patch
from kubesched.core.framework.observer import FailedAttempt
from kubesched.core.framework.preemption import Preemption
from kubesched.core.framework.texts import tidy
from kubesched.core.loop.conditions import said_in_status
from kubesched.core.loop.ground import Ground
from kubesched.core.loop.preempting import Preempting, Preemptor
from kubesched.core.loop.telling import Telling
from kubesched.core.queue.queued_pod import Place, QueuedPod
from kubesched.core.scheduling.outcomes import UNSCHEDULABLE, Failed

# what an event's note may hold, in bytes
NOTE_LIMIT = 1024
CUT = " ..."


class Failing:
    """Puts pods back whose attempt failed, and tells the world."""

    def __init__(self, ground: Ground, preempting: Preempting) -> None:
        self._ground = ground
        self._preempting = preempting
        self.telling = Telling(ground.effects, ground.tasks, sampled(ground.note, ground.now))

    def fail(self, failed: Failed) -> None:
        """Take in a failed attempt."""
        failed = written(failed, self._ground.cluster.objects.unreadable)
        self.tell(failed)
        pending = self._ground.cluster.pending
        if failed.queued.uid in pending:
            # it may have been reported anew while it had a place
            pending[failed.queued.uid] = failed.queued.pod
        if failed.effects:
            self._ground.effects.submit(*failed.effects)
        if failed.preemption is not None:
            self.begin_preemption(Preemptor.alone(failed.queued.pod), failed.preemption)
        effects = put_back(failed, self._ground)
        if effects:
            self.telling.say(failed.queued.uid, effects)

    def tell(self, failed: Failed) -> None:
        """Tell observers of a failed attempt."""
        queued = failed.queued
        self._ground.observers.attempt_failed(
            FailedAttempt(
                queued.pod,
                queued.pod.spec.scheduler_name,
                observer.UNSCHEDULABLE if failed.reason == UNSCHEDULABLE else observer.ERROR,
                failed.message,
                failed.unschedulable_plugins | failed.pending_plugins,
                queued.stopwatch.seconds,
            )
        )

    def begin_preemption(self, preemptor: Preemptor, preemption: Preemption) -> None:
        """Start to evict the victims; from now on the preemptor is held until they are terminating."""
        work = self._preempting.begin(preemptor, preemption)
        if work is not None:
            self._ground.tasks.start(work)


def written(failed: Failed, unreadable: UnreadableObjects) -> Failed:
    """Return a failure whose message can be written, and says which objects cannot be read."""
    message = tidy(unreadable.explained(failed.message, failed.queued.pod.namespace))
    return failed if message is failed.message else msgspec.structs.replace(failed, message=message)


def put_back(failed: Failed, ground: Ground) -> list[Effect]:
    """Return a pod to the queue after a failed attempt; return what the world is to know about it."""
    queued = failed.queued
    if queued.place is Place.GONE:
        # deleted meanwhile: nobody to tell
        return []
    queued.unschedulable_plugins = set(failed.unschedulable_plugins)
    queued.pending_plugins = set(failed.pending_plugins)
    ground.queue.fail(queued, ground.now(), again=failed.again)
    pod = queued.pod
    nominated = failed.nominated_node_name
    if nominated is not None:
        ground.cluster.nominations.add(pod, nominated)
    event = Emit(pod.pod, "Warning", "FailedScheduling", "Scheduling", truncated(failed.message))
    patch = _status_patch(queued, failed, ground.date())
    return [event] if patch is None else [event, patch]


def truncated(message: str) -> str:
    """Return a message cut to what an event's note may hold."""
    encoded = message.encode()
    if len(encoded) <= NOTE_LIMIT:
        return message
    return encoded[: NOTE_LIMIT - len(CUT)].decode(errors="ignore") + CUT


def _status_patch(queued: QueuedPod, failed: Failed, date: datetime) -> Patch | None:
    """Return the change of the pod's status, or None if it says so already."""
    pod = queued.pod
    status: dict[str, Any] = {}
    condition = {"type": "PodScheduled", "status": "False", "reason": failed.reason, "message": failed.message}
    known = next((c for c in pod.status.conditions if c.type == "PodScheduled"), None)
    said = ("False", failed.reason, failed.message)
    if known is None or {said} != {(known.status, known.reason, known.message), queued.told_condition or said}:
        # what was written last may not be reported yet
        queued.told_condition = said
        status |= said_in_status(pod, condition, date)
    nominated = failed.nominated_node_name
    if nominated is not None and {nominated} != {pod.status.nominated_node_name, queued.told_nomination}:
        status["nominatedNodeName"] = queued.told_nomination = nominated
    # the UID guards against a pod that was created again under the name
    body = {"metadata": {"uid": pod.uid}, "status": status}
    return Patch("Pod", pod.namespace, pod.name, body, "status") if status else None
