"""The time line of a followed cluster: events since the page began, and the decisions that its scheduler has on record.

From changes of pods and nodes, and from decisions on record, to marks. Times are seconds since the page began; earlier
decisions have negative times.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.serving.decisions import records as recorded
from kubesched.serving.decisions.records import DecisionRecord
from kubesched_lab.page.timeline.mark_series import MarkSeries
from kubesched_lab.page.timeline.marks import BOUND, FAILED, NODE, PREEMPTED, TimelineMark, node_mark

# limit of marks; beyond it the oldest are dropped
MOST_SEEN: Final = 100_000
PREEMPTION: Final = "PreemptionByScheduler"


class SeenMarks:
    """Marks of the changes since the page began."""

    def __init__(self, began: datetime | None = None) -> None:
        self.began = began or datetime.now(UTC)
        self.marks: list[TimelineMark] = []

    def __call__(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Add the marks of a change of an object; None means that it does not exist."""
        found = list(_marks_of(self.seconds(datetime.now(UTC)), old, new))
        self.marks.extend(found)
        if len(self.marks) > MOST_SEEN:
            del self.marks[: MOST_SEEN // 10]

    def seconds(self, date: datetime) -> float:
        """Return a date as seconds since the page began."""
        return round((date - self.began).total_seconds(), 3)

    def series(self, decisions: Iterable[DecisionRecord] = ()) -> MarkSeries:
        """Return all marks; if a scheduler has a record of its decisions, marks of pods come from that record."""
        remembered = [mark for decision in decisions for mark in self._marks_of_decision(decision)]
        seen = [mark for mark in self.marks if not remembered or mark.kind == NODE]
        return MarkSeries(sorted((*remembered, *seen), key=lambda mark: mark.at))

    def _marks_of_decision(self, decision: DecisionRecord) -> Iterator[TimelineMark]:
        at = self.seconds(decision.time)
        if decision.outcome == recorded.BOUND:
            yield TimelineMark(self.seconds(decision.bound_at or decision.time), BOUND, 0, decision.pod, decision.node)
        elif decision.outcome in (recorded.UNSCHEDULABLE, recorded.ERROR):
            yield TimelineMark(at, FAILED, 0, decision.pod, decision.nominated_node, decision.message)
        if decision.preemption is not None:
            for victim in decision.preemption.evicted:
                yield TimelineMark(at, PREEMPTED, 0, victim, decision.preemption.node, f"preempted by {decision.pod}")


def _marks_of(at: float, old: ApiObject | None, new: ApiObject | None) -> Iterator[TimelineMark]:
    if isinstance(old, Node | None) and isinstance(new, Node | None):
        node, message = new or old, node_mark(old, new)
        if node is not None and message:
            yield TimelineMark(at, NODE, node=node.name, message=message)
    elif isinstance(new, Pod):
        before = old if isinstance(old, Pod) and old.uid == new.uid else None
        if new.spec.node_name and before is not None and not before.spec.node_name:
            yield TimelineMark(at, BOUND, 0, new.full_name, new.spec.node_name)
        message = _failure(new)
        if message and (before is None or _failure(before) != message):
            yield TimelineMark(at, FAILED, 0, new.full_name, new.status.nominated_node_name, message)
        if _preempted(new) and (before is None or not _preempted(before)):
            yield TimelineMark(at, PREEMPTED, 0, new.full_name, new.spec.node_name, _preempted(new))


def _failure(pod: Pod) -> str:
    """Return why a pod has no node, as its condition says."""
    return next(
        (each.message for each in pod.status.conditions if each.type == "PodScheduled" and each.status == "False"), ""
    )


def _preempted(pod: Pod) -> str:
    """Return the message in the condition of a preempted pod, an empty text without one."""
    return next((each.message for each in pod.status.conditions if each.reason == PREEMPTION), "")
