"""The scheduler's gauges: pods by queue, and running work.

From the scheduler to numbers, which are counted when the metrics page is fetched: no counter has to be kept up to date.
Safe to call from another thread; the numbers may then be of slightly different moments.
"""

from collections.abc import Mapping

import msgspec

from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place

# The label for a pod in flight in the gauge of kept events.
POD_POPPED = "PodPopped"


class Gauges(msgspec.Struct, frozen=True):
    """Pods by place, rejections by plugin and profile, kept events by label, sizes, and running work."""

    pending: Mapping[str, int]
    rejections: Mapping[tuple[str, str], int]
    kept_events: Mapping[str, int]
    cache: Mapping[str, int]
    operations: Mapping[str, int]


def read_gauges(scheduler: Scheduler) -> Gauges:
    """Return the current gauges."""
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
