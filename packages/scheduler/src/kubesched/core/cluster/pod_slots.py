"""Pods as columns: the values that preemption reads of every pod, in arrays indexed by slot.

From placed (and nominated) pods to arrays of priority, start time, row and requests, so that victims of all candidate
nodes are found and compared at once. Slots are recycled.
"""

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.columns import grown
from kubesched.core.cluster.pod_info import PodInfo

NOWHERE = -1
# A pod without a start time counts as started now, later than any other.
NOT_STARTED = np.inf


class PodSlots:
    """Arrays over slots; `pods[slot]` is the pod."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self.size = 0
        self.pods: list[PodInfo | None] = []
        capacity = 64
        self.row: NDArray[np.int32] = np.full(capacity, NOWHERE, np.int32)
        self.priority: NDArray[np.int32] = np.zeros(capacity, np.int32)
        # the code of the pod's label group
        self.group: NDArray[np.int64] = np.zeros(capacity, np.int64)
        self.start: NDArray[np.float64] = np.zeros(capacity, np.float64)
        # grows with every pod that is placed
        self.arrival: NDArray[np.int64] = np.zeros(capacity, np.int64)
        self._arrivals = 0
        # of CPU, memory and ephemeral storage
        self.requests: NDArray[np.int64] = np.zeros((3, capacity), np.int64)

    def row_of(self, slot: int) -> int:
        """Return the row of a slot."""
        return int(self.row[slot])

    def place(self, pod: PodInfo, row: int, group: int) -> None:
        """Give a pod a slot and write its columns; a pod that is only nominated has the row NOWHERE."""
        slot = self._free.pop() if self._free else self._new_slot()
        pod.slot = slot
        self.pods[slot] = pod
        resources = pod.digest.resources
        self.row[slot] = row
        self.group[slot] = group
        self.priority[slot] = pod.priority
        self.start[slot] = _seconds(pod.status.start_time)
        self._arrivals += 1
        self.arrival[slot] = self._arrivals
        requests = self.requests
        requests[0, slot] = resources.milli_cpu
        requests[1, slot] = resources.memory
        requests[2, slot] = resources.ephemeral_storage

    def replace(self, old: PodInfo, new: PodInfo, group: int | None = None) -> None:
        """Give a pod's slot to another version of it, in another group if one is named.

        A version with another start time counts as placed later than all other pods.
        """
        slot = new.slot = old.slot
        self.pods[slot] = new
        if group is not None:
            self.group[slot] = group
        if new.status.start_time != old.status.start_time:
            self.start[slot] = _seconds(new.status.start_time)
            self._arrivals += 1
            self.arrival[slot] = self._arrivals

    def release(self, pod: PodInfo) -> None:
        """Free a pod's slot."""
        slot = pod.slot
        pod.slot = NOWHERE
        self.pods[slot] = None
        self.row[slot] = NOWHERE
        self._free.append(slot)

    def scalar_requests(self, slots: NDArray[np.intp], name: str) -> NDArray[np.int64]:
        """Return the requests of the pods in some slots for a scalar resource."""
        found = [pod.digest.resources.scalar.get(name, 0) if pod else 0 for pod in map(self.pods.__getitem__, slots)]
        return np.array(found, np.int64)

    def _new_slot(self) -> int:
        slot = self.size
        if slot == len(self.row):
            capacity = 2 * slot
            self.row = grown(self.row, capacity)
            self.priority = grown(self.priority, capacity)
            self.group = grown(self.group, capacity)
            self.start = grown(self.start, capacity)
            self.arrival = grown(self.arrival, capacity)
            self.requests = grown(self.requests, capacity)
        self.size += 1
        self.pods.append(None)
        return slot


def _seconds(time: datetime | None) -> float:
    return NOT_STARTED if time is None else time.timestamp()
