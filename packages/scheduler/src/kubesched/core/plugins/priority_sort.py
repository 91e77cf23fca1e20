"""PrioritySort: orders activeQ by priority, then by time.

From a pod and the time at which it entered the queue to the key it is popped by.
"""

# upstream: queuesort/priority_sort.go (v1.36)

from collections.abc import Sequence

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import QueueSortPlugin
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.queue_order import active_order


class PrioritySort(QueueSortPlugin):
    """Orders pods by priority, and pods of equal priority by their time in the queue."""

    name = "PrioritySort"

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        """Return (negated priority, time)."""
        return active_order(pod.priority, timestamp)

    def events_to_register(self) -> Sequence[Registration]:
        """Return nothing: it rejects no pod."""
        return ()
