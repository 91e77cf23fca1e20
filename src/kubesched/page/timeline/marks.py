"""Marks on the time line of a simulation: pods that are bound, fail or are preempted, nodes that change, actions.

From the scheduler's observations and the simulated cluster's to values in the order of their times.
"""

from collections.abc import Callable

import msgspec

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observer import Bound, FailedAttempt, Observer

BOUND, FAILED, PREEMPTED, NODE, ACTION = "bound", "failed", "preempted", "node", "action"
# a run has at most so many marks; the last ones are missing
MOST_MARKS = 500_000
MOST_CHARACTERS = 500


class TimelineMark(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Something that happened: when, in or after which scheduling cycle, to which pod (`namespace/name`) or node."""

    at: float
    kind: str
    cycle: int = 0
    pod: str = ""
    node: str = ""
    message: str = ""


class MarkRecorder(Observer):
    """Gathers the marks of one run; is told of nodes by the simulated cluster."""

    def __init__(self, now: Callable[[], float], cycle: Callable[[], int]) -> None:
        self._now = now
        self._cycle = cycle
        self.marks: list[TimelineMark] = []
        # when a pod arrived or was bound, a node changed, or somebody acted last
        self.stirred = 0.0

    def mark(self, kind: str, pod: str = "", node: str = "", message: str = "") -> None:
        """Add a mark at this time."""
        if kind != FAILED:
            self.stirred = self._now()
        if len(self.marks) < MOST_MARKS:
            self.marks.append(TimelineMark(self._now(), kind, self._cycle(), pod, node, message[:MOST_CHARACTERS]))

    # -- the scheduler

    def pod_bound(self, bound: Bound) -> None:
        """Mark a pod that is bound."""
        self.mark(BOUND, bound.pod.full_name, bound.node_name)

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Mark an attempt that failed."""
        self.mark(FAILED, failed.pod.full_name, failed.nominated_node_name, failed.message)

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Mark a pod that is preempted."""
        self.mark(PREEMPTED, victim.full_name, node_name, f"preempted by {preemptor.full_name}")

    # -- the cluster

    def arrived(self, pod: Pod) -> None:
        """Pods that arrive have no mark."""
        self.stirred = self._now()

    def bound(self, pod: Pod) -> None:
        """The scheduler tells of pods that it binds."""

    def ended(self, pod: Pod) -> None:
        """Pods that end have no mark."""

    def lost(self, pod: Pod) -> None:
        """The scheduler tells of those that it preempts, the node's mark of the others."""

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Mark a node that joined or left after the beginning, or was cordoned or uncordoned."""
        node, message = new or old, node_mark(old, new)
        if node is not None and message and (old is not None or self._now() > 0):
            self.mark(NODE, node=node.name, message=message)


def node_mark(old: Node | None, new: Node | None) -> str:
    """Return what became of a node, an empty text if its mark would say nothing."""
    if old is None or new is None:
        return "left" if new is None else "joined"
    if old.spec.unschedulable != new.spec.unschedulable:
        return "cordoned" if new.spec.unschedulable else "uncordoned"
    return ""
