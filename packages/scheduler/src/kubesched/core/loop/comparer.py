"""The comparer: compares the scheduler's cache with the objects of the informers.

From the objects of the informers, and a running scheduler, to lines that name each difference. A new table is built
from the objects and the assumed pods, and compared with the table that was updated change by change; the queue
has to hold exactly the pods that wait. Call it between cycles, when the inbox is empty: there should never be a line.
"""

# upstream: backend/cache/debugger/comparer.go (v1.36)

from collections.abc import Collection, Iterable, Iterator

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences
from kubesched.core.queue.scheduling_queue import SchedulingQueue

# The parts of the table that depend only on objects.
COMPARED = ("nodes", "node count", "label groups", "carried terms")


def compare(
    objects: Iterable[ApiObject], cluster: ClusterState, queue: SchedulingQueue, schedulers: Collection[str]
) -> list[str]:
    """Return a line for each difference between the objects and the scheduler's cluster and queue."""
    fresh = ClusterState(cluster.reader.options)
    waiting: dict[str, Pod] = {}
    for obj in objects:
        if not isinstance(obj, Pod):
            fresh.add(obj)
        elif obj.terminal:
            continue
        elif obj.spec.node_name:
            fresh.add(obj)
        elif (assumed := cluster.table.pods.get(obj.uid)) is not None:
            fresh.add(assumed.pod)
        elif obj.spec.scheduler_name in schedulers:
            waiting[obj.uid] = obj
    for queued in queue.pods():
        # nominated pods are part of the counts
        fresh.nominate(fresh.reader.read(queued.pod.pod), cluster.nominations.node_of(queued.uid))
    for column in cluster.table.label_columns():
        # label columns are made on demand
        fresh.table.label(column.key)
    return [*_table_differences(fresh, cluster), *_queue_differences(waiting, queue)]


def _table_differences(fresh: ClusterState, cluster: ClusterState) -> Iterator[str]:
    reported, believed = content(fresh), content(cluster)
    for part in COMPARED:
        for line in differences({part: reported[part]}, {part: believed[part]}):
            yield f"{line} (reported != believed)"


def _queue_differences(waiting: dict[str, Pod], queue: SchedulingQueue) -> Iterator[str]:
    queued = {pod.uid: pod for pod in queue.pods()}
    for uid, pod in waiting.items():
        if uid not in queued:
            yield f"pod {pod.full_name} (UID {uid}) waits for a node but is not queued"
    for uid, held in queued.items():
        if uid not in waiting:
            yield f"pod {held.pod.full_name} (UID {uid}) is queued but does not wait for a node, or is gone"
