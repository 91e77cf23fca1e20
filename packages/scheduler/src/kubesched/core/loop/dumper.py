"""The dump: the scheduler's cache and queue, as text for people.

From the table and the queue to the text of the reference's debugger. Call it between cycles.
"""

# upstream: backend/cache/debugger/dumper.go, backend/queue/scheduling_queue.go (PendingPods) (v1.36)

import numpy as np
from numpy.typing import NDArray

from kubesched.api.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NATIVE
from kubesched.core.queue.queued_pod import Place
from kubesched.core.queue.scheduling_queue import SchedulingQueue

_FIELDS = {"MilliCPU": CPU, "Memory": MEMORY, "EphemeralStorage": EPHEMERAL_STORAGE}


def nodes_text(cluster: ClusterState) -> str:
    """Return every node with its resources, its pods and the pods that are nominated to it."""
    return "\n\n".join(_node_text(cluster, name) for name in sorted(cluster.table.row_of))


def queue_summary(queue: SchedulingQueue) -> str:
    """Return the number of pods in each queue."""
    counts = queue.counts()
    parked = counts[Place.UNSCHEDULABLE] + counts[Place.GATED]
    return f"activeQ:{counts[Place.ACTIVE]}; backoffQ:{counts[Place.BACKOFF]}; unschedulablePods:{parked}"


def queue_text(queue: SchedulingQueue) -> str:
    """Return the waiting pods: activeQ first, then backoffQ, unschedulable and gated pods."""
    order = (Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED)
    waiting = (queued.pod for place in order for queued in queue.pods() if queued.place is place)
    return "".join(map(_pod_text, waiting))


def _node_text(cluster: ClusterState, name: str) -> str:
    table = cluster.table
    row = table.row_of[name]
    pods = table.pods_on[row].values()
    nominated = cluster.nominations.on(name)
    allowed_pods = int(table.allowed_pods[row])
    lines = [
        f"Node name: {name}\n",
        f"Deleted: {str(table.nodes[row] is None).lower()}\n",
        f"Requested Resources: {_amounts(table.requested, row, 0, table.scalars.asked[row])}\n",
        f"Allocatable Resources:{_amounts(table.allocatable, row, allowed_pods, table.scalars.offered[row])}\n",
        f"Scheduled Pods(number: {len(pods)}):\n",
        *map(_pod_text, pods),
    ]
    if nominated:
        lines += [f"Nominated Pods(number: {len(nominated)}):\n", *map(_pod_text, nominated)]
    return "".join(lines)


def _amounts(matrix: NDArray[np.int64], row: int, allowed_pods: int, scalars: dict[str, int]) -> str:
    """Format a node's resources as Go's %+v prints framework.Resource."""
    native = " ".join(f"{field}:{matrix[NATIVE.index(name), row]}" for field, name in _FIELDS.items())
    scalar = " ".join(f"{name}:{amount}" for name, amount in sorted(scalars.items()))
    return f"&{{{native} AllowedPodNumber:{allowed_pods} ScalarResources:map[{scalar}]}}"


def _pod_text(pod: PodInfo) -> str:
    status = pod.status
    return (
        f"name: {pod.name}, namespace: {pod.namespace}, uid: {pod.uid}, phase: {status.phase}, "
        f"nominated node: {status.nominated_node_name}\n"
    )
