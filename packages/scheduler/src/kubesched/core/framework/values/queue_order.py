"""The order of activeQ under PrioritySort.

From a pod's priority and the time at which it entered the queue to the key that it is popped by.
"""

# upstream: queuesort/priority_sort.go (v1.36)


def active_order(priority: int, timestamp: float) -> tuple[int, float]:
    """Return the key: higher priority first, and of equal priority the pod that waits longest."""
    return -priority, timestamp
