"""Reads a scheduler's queue.

From the queue, its clock and the date to a `QueuePage`. Call it between cycles; it looks at few pods more than it
returns.
"""

from datetime import datetime, timedelta
from math import isfinite

from kubesched.core.queue.queued_pod import Place, QueuedPod
from kubesched.core.queue.scheduling_queue import SchedulingQueue
from kubesched.serving.queue.records import (
    ACTIVE,
    BACKOFF,
    GATED,
    IN_FLIGHT,
    UNSCHEDULABLE,
    VERSION,
    MoveCount,
    QueuedPodRecord,
    QueuePage,
)

# the pods of each place that are named
MOST_PODS = 20
NAMES = {
    Place.ACTIVE: ACTIVE,
    Place.BACKOFF: BACKOFF,
    Place.UNSCHEDULABLE: UNSCHEDULABLE,
    Place.GATED: GATED,
    Place.IN_FLIGHT: IN_FLIGHT,
}


def read_queue(queue: SchedulingQueue, now: float, date: datetime, limit: int = MOST_PODS) -> QueuePage:
    """Return the queue as it is; `now` is the time on the queue's clock, `date` the same moment for people."""

    def at(seconds: float | None) -> datetime | None:
        return None if seconds is None or not isfinite(seconds) else date + timedelta(seconds=seconds - now)

    def waiting(queued: QueuedPod) -> QueuedPodRecord:
        pod = queued.pod
        return QueuedPodRecord(
            pod=pod.full_name,
            uid=queued.uid,
            place=NAMES[queued.place],
            priority=pod.priority,
            attempts=queued.attempts,
            since=at(queued.timestamp),
            backoff_until=at(queued.backoff_expiry) if queued.place is Place.BACKOFF else None,
            rejected_by=tuple(sorted(queued.rejected_by)),
            gated_by=queued.gating_plugin,
        )

    counts = queue.counts()
    return QueuePage(
        version=VERSION,
        now=date,
        counts={name: counts[place] for place, name in NAMES.items()},
        first=tuple(waiting(queued) for queued_pods in queue.first(limit).values() for queued in queued_pods),
        moves=tuple(
            MoveCount(event=event, from_place=NAMES[before], to_place=NAMES[place], pods=pods)
            for (event, before, place), pods in queue.moves.items()
        ),
    )
