"""What follows a failed attempt: back into the queue, a condition, an event, a nomination.

From a failure to the queue and to effects as values.
"""

# upstream: schedule_one.go (handleSchedulingFailure) (v1.36)

from typing import Any

from kubesched.cluster.nominations import Nominations
from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.effects import Effect, Emit, Patch
from kubesched.queue.queued_pod import Place
from kubesched.queue.scheduling_queue import SchedulingQueue
from kubesched.scheduling.outcomes import Failed

# what an event's note may hold, in bytes
NOTE_LIMIT = 1024
CUT = " ..."


def put_back(failed: Failed, queue: SchedulingQueue, nominations: Nominations, now: float) -> list[Effect]:
    """Return a pod to the queue after a failed attempt; return what the world is to know about it."""
    queued = failed.queued
    if queued.place is Place.GONE:
        # deleted meanwhile: nobody to tell
        return []
    queued.unschedulable_plugins = set(failed.unschedulable_plugins)
    queued.pending_plugins = set(failed.pending_plugins)
    queue.fail(queued, now)
    pod = queued.pod
    nominated = failed.nominated_node_name
    if nominated is not None and queued.place is not Place.GATED:
        nominations.add(pod, nominated)
    event = Emit(pod.pod, "Warning", "FailedScheduling", "Scheduling", truncated(failed.message))
    patch = _status_patch(pod, failed)
    return [event] if patch is None else [event, patch]


def truncated(message: str) -> str:
    """Return a message cut to what an event's note may hold."""
    encoded = message.encode()
    if len(encoded) <= NOTE_LIMIT:
        return message
    return encoded[: NOTE_LIMIT - len(CUT)].decode(errors="ignore") + CUT


def _status_patch(pod: PodInfo, failed: Failed) -> Patch | None:
    """Return the change of the pod's status, or None if it says so already."""
    status: dict[str, Any] = {}
    condition = {"type": "PodScheduled", "status": "False", "reason": failed.reason, "message": failed.message}
    known = next((c for c in pod.status.conditions if c.type == "PodScheduled"), None)
    if known is None or (known.status, known.reason, known.message) != ("False", failed.reason, failed.message):
        status["conditions"] = [{**condition, "observedGeneration": pod.metadata.generation}]
    nominated = failed.nominated_node_name
    if nominated is not None and nominated != pod.status.nominated_node_name:
        status["nominatedNodeName"] = nominated
    # the UID guards against a pod that was created again under the name
    body = {"metadata": {"uid": pod.uid}, "status": status}
    return Patch("Pod", pod.namespace, pod.name, body, "status") if status else None
