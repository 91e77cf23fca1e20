"""The lives of pods: when each arrived, where and when it was bound, how it left.

From the simulated cluster to records, in the order in which pods leave; pods that still exist at the end come last. A
writer gets each record at once, so that records need no memory.
"""

from collections.abc import Callable
from typing import NamedTuple

ENDED, LOST, RUNNING, PENDING = "ended", "lost", "running", "pending"


class PodRecord(NamedTuple):
    """One life of a pod; times are simulated seconds, None if the event did not happen. CPU is in thousandths."""

    namespace: str
    name: str
    node: str
    arrived: float
    bound: float | None
    left: float | None
    end: str
    priority: int
    requests: dict[str, int]
    attempts: int


class PodLog:
    """Records of pods; `write` is called with each record, without it they are collected."""

    def __init__(self, write: Callable[[PodRecord], None] | None = None) -> None:
        self.records: list[PodRecord] = []
        self.write = write or self.records.append
