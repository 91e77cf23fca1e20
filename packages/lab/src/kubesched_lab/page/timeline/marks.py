"""Marks on the time line of a simulation: pods that are bound, fail or are preempted, nodes that change, actions.

From the scheduler's observations and the simulated cluster's to values in the order of their times.
"""

from collections.abc import Callable

import msgspec

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import Bound, FailedAttempt, Observer

BOUND, FAILED, PREEMPTED, NODE, ACTION = "bound", "failed", "preempted", "node", "action"
# limit of marks of a run; later ones are dropped
MOST_MARKS = 500_000
MOST_CHARACTERS = 500


class TimelineMark(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An event: its time, its scheduling cycle (present or last), and its pod (`namespace/name`) or node."""

    at: float
    kind: str
    cycle: int = 0
    pod: str = ""
    node: str = ""
    message: str = ""


class MarkRecorder(Observer):
    """Collects the marks of one run; the simulated cluster reports changes of nodes."""

    def __init__(self, now: Callable[[], float], cycle: Callable[[], int]) -> None:
        self._now = now
        self._cycle = cycle
        self.marks: list[TimelineMark] = []
        # the time of the last event: an arrival, a binding, a change of a node, an action
        self.stirred = 0.0

    def mark(self, kind: str, pod: str = "", node: str = "", message: str = "") -> None:
        """Add a mark at this time."""
        if kind != FAILED:
            self.stirred = self._now()
        if len(self.marks) < MOST_MARKS:
            self.marks.append(TimelineMark(self._now(), kind, self._cycle(), pod, node, message[:MOST_CHARACTERS]))

    # -- the scheduler

    def pod_bound(self, bound: Bound) -> None:
        """Add a mark for a bound pod."""
        self.mark(BOUND, bound.pod.full_name, bound.node_name)

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Add a mark for an attempt that failed."""
        self.mark(FAILED, failed.pod.full_name, failed.nominated_node_name, failed.message)

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Add a mark for a preempted pod."""
        self.mark(PREEMPTED, victim.full_name, node_name, f"preempted by {preemptor.full_name}")

    # -- the cluster

    def arrived(self, pod: Pod) -> None:
        """Do nothing: pods that arrive have no mark."""
        self.stirred = self._now()

    def bound(self, pod: Pod) -> None:
        """Do nothing: the scheduler reports the pods that it binds."""

    def ended(self, pod: Pod) -> None:
        """Do nothing: pods that end have no mark."""

    def lost(self, pod: Pod) -> None:
        """Do nothing: the scheduler reports preempted pods, and the mark of the node stands for the rest."""

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Add a mark for a node that joined or left after the beginning, or was cordoned or uncordoned."""
        node, message = new or old, node_mark(old, new)
        if node is not None and message and (old is not None or self._now() > 0):
            self.mark(NODE, node=node.name, message=message)


def node_mark(old: Node | None, new: Node | None) -> str:
    """Return the kind of mark for a change of a node, an empty text for changes without a mark."""
    if old is None or new is None:
        return "left" if new is None else "joined"
    if old.spec.unschedulable != new.spec.unschedulable:
        return "cordoned" if new.spec.unschedulable else "uncordoned"
    return ""
