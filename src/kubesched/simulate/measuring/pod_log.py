"""What became of each pod: when it arrived, where and when it was bound, how it left.

From the simulated cluster to records, in the order in which pods leave; those that are still there come last. A writer
gets each record at once, so that nothing is kept.
"""

from collections.abc import Callable
from typing import NamedTuple

from kubesched.api.pods import Pod

ENDED, LOST, RUNNING, PENDING = "ended", "lost", "running", "pending"


class PodRecord(NamedTuple):
    """One life of a pod; times are simulated seconds, None for what did not happen."""

    namespace: str
    name: str
    node: str
    arrived: float
    bound: float | None
    left: float | None
    end: str


class PodLog:
    """Records of pods; `write` is called with each, otherwise they are kept."""

    def __init__(self, write: Callable[[PodRecord], None] | None = None) -> None:
        self.records: list[PodRecord] = []
        self._write = write or self.records.append

    def left(self, pod: Pod, arrived: float, bound: float | None, now: float, end: str) -> None:
        """Record a pod that left."""
        self._write(PodRecord(pod.namespace, pod.name, pod.spec.node_name, arrived, bound, now, end))

    def stayed(self, pod: Pod, arrived: float, bound: float | None) -> None:
        """Record a pod that is there at the end."""
        end = RUNNING if pod.spec.node_name else PENDING
        self._write(PodRecord(pod.namespace, pod.name, pod.spec.node_name, arrived, bound, None, end))
