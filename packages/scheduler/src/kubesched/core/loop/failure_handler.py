"""Failed attempts: the pod is requeued, its condition, event and nomination are written, its preemption begins.

From a failure to the queue, and to effects that are carried out beside the loop.
"""

# upstream: schedule_one.go (handleSchedulingFailure) (v1.36)

from datetime import datetime
from typing import Any

import msgspec

from kubesched.common.notes import sampled
from kubesched.core.cluster.table import NodeTable
from kubesched.core.cluster.unreadable import UnreadableObjects
from kubesched.core.framework.observing import observer
from kubesched.core.framework.observing.decision_details import rejected_nodes
from kubesched.core.framework.observing.observer import FailedAttempt
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.effects import Effect, Emit, Patch
from kubesched.core.framework.values.preemption import Preemption
from kubesched.core.framework.values.texts import tidy
from kubesched.core.loop.conditions import condition_patch
from kubesched.core.loop.context import LoopContext
from kubesched.core.loop.evictions import Evictions, Preemptor
from kubesched.core.loop.status_writer import StatusWriter
from kubesched.core.queue.queued_pod import Place, QueuedPod
from kubesched.core.scheduling.outcomes import UNSCHEDULABLE, Failed

# the longest note of an event, in bytes
NOTE_LIMIT = 1024
CUT = " ..."


class FailureHandler:
    """Handles the failures of scheduling and binding cycles."""

    def __init__(self, context: LoopContext, evictions: Evictions) -> None:
        self._context = context
        self._evictions = evictions
        self.status_writer = StatusWriter(context.effects, context.tasks, sampled(context.note, context.now))

    def fail(self, failed: Failed) -> None:
        """Handle a failed attempt."""
        failed = written(failed, self._context.cluster.objects.unreadable)
        self.tell(failed)
        if failed.effects:
            self._context.effects.submit(*failed.effects)
        if failed.preemption is not None:
            self.begin_preemption(Preemptor.alone(failed.queued.pod), failed.preemption)
        effects = put_back(failed, self._context)
        if effects:
            self.status_writer.write(failed.queued.uid, effects)

    def tell(self, failed: Failed) -> None:
        """Report a failed attempt to observers."""
        queued, verdicts = failed.queued, failed.verdicts
        table = self._context.cluster.table
        self._context.observers.attempt_failed(
            FailedAttempt(
                queued.pod,
                queued.pod.spec.scheduler_name,
                observer.UNSCHEDULABLE if failed.reason == UNSCHEDULABLE else observer.ERROR,
                failed.message,
                failed.unschedulable_plugins | failed.pending_plugins,
                failed.attempt.stopwatch.seconds,
                queued.attempts,
                _judged_nodes(verdicts, table),
                failed.nominated_node_name or "",
                None if verdicts is None else lambda: rejected_nodes(verdicts, table),
                failed.attempt.generation,
                failed.point,
            )
        )

    def begin_preemption(self, preemptor: Preemptor, preemption: Preemption) -> None:
        """Start to evict the victims; from now on the preemptor is gated until they are terminating."""
        work = self._evictions.begin(preemptor, preemption)
        if work is not None:
            self._context.tasks.start(work)


def _judged_nodes(verdicts: NodeVerdicts | None, table: NodeTable) -> int:
    """Return how many nodes were judged."""
    if verdicts is None:
        return 0
    judged = verdicts.judged_count
    return table.node_count if judged is None else judged


def written(failed: Failed, unreadable: UnreadableObjects) -> Failed:
    """Return a failure whose message is fit for an object's status, and names objects that could not be decoded."""
    message = tidy(unreadable.explained(failed.message, failed.queued.pod.namespace))
    return failed if message is failed.message else msgspec.structs.replace(failed, message=message)


def put_back(failed: Failed, context: LoopContext) -> list[Effect]:
    """Requeue a pod after a failed attempt; return the event and the status patch to write."""
    queued = failed.queued
    if queued.place is Place.GONE:
        # deleted meanwhile
        return []
    queued.unschedulable_plugins = set(failed.unschedulable_plugins)
    queued.pending_plugins = set(failed.pending_plugins)
    context.queue.fail(queued, context.now(), again=failed.again)
    if queued.pod.spec.scheduler_name not in context.engine.profiles:
        # the profile was removed from the configuration during the attempt: another scheduler may handle the pod now
        return []
    pod = queued.pod
    nominated = failed.nominated_node_name
    if nominated is not None:
        context.cluster.nominate(pod, nominated)
    event = Emit(pod.pod, "Warning", "FailedScheduling", "Scheduling", truncated(failed.message))
    patch = _status_patch(queued, failed, context.date())
    return [event] if patch is None else [event, patch]


def truncated(message: str) -> str:
    """Return a message truncated to the longest note of an event."""
    encoded = message.encode()
    if len(encoded) <= NOTE_LIMIT:
        return message
    return encoded[: NOTE_LIMIT - len(CUT)].decode(errors="ignore") + CUT


def _status_patch(queued: QueuedPod, failed: Failed, date: datetime) -> Patch | None:
    """Return the patch of the pod's status, None if it would change nothing."""
    pod = queued.pod
    status: dict[str, Any] = {}
    condition = {"type": "PodScheduled", "status": "False", "reason": failed.reason, "message": failed.message}
    known = next((c for c in pod.status.conditions if c.type == "PodScheduled"), None)
    wanted = ("False", failed.reason, failed.message)
    if known is None or {wanted} != {(known.status, known.reason, known.message), queued.written_condition or wanted}:
        # the condition that was written last may not be reported yet
        queued.written_condition = wanted
        status |= condition_patch(pod, condition, date)
    nominated = failed.nominated_node_name
    if nominated is not None and {nominated} != {pod.status.nominated_node_name, queued.written_nomination}:
        status["nominatedNodeName"] = queued.written_nomination = nominated
    # the UID guards against a pod that was created again under the name
    body = {"metadata": {"uid": pod.uid}, "status": status}
    return Patch("Pod", pod.namespace, pod.name, body, "status") if status else None
