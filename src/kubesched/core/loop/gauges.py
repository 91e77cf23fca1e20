"""The scheduler's gauges: how many pods wait where, and what is under way.

From the scheduler to numbers, read when the metrics page is fetched: a number that is not kept cannot leak. Safe to
call from another thread; the numbers may then be of slightly different moments.
"""

from collections.abc import Mapping

import msgspec

from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place

# what stands for a pod among the events that are kept for pods in flight
POD_POPPED = "PodPopped"


class Gauges(msgspec.Struct, frozen=True):
    """Pods by place, rejections by plugin and profile, kept events by label, sizes, and what is under way."""

    pending: Mapping[str, int]
    rejections: Mapping[tuple[str, str], int]
    kept_events: Mapping[str, int]
    cache: Mapping[str, int]
    operations: Mapping[str, int]


def read_gauges(scheduler: Scheduler) -> Gauges:
    """Return the gauges as they are now."""
    # fault 19 (issues 135368, 135981, 138482): the reference's counters of gated, unschedulable and removed pods leaked
    queue, cluster = scheduler.queue, scheduler.cluster
    places = queue.counts()
    waiting = (Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED)
    return Gauges(
        pending={place.value: places[place] for place in waiting},
        rejections=queue.rejections(),
        kept_events={**queue.kept_events(), POD_POPPED: places[Place.IN_FLIGHT]},
        cache={
            "nodes": len(cluster.table.row_of),
            "pods": len(cluster.table.pods),
            "assumed_pods": cluster.assumed_count,
        },
        operations={"binding": scheduler.bindings.under_way, "prioritizing_extender": scheduler.prioritizing},
    )
