"""A scheduler's record of a pod: its decisions, or why they are unknown.

From `sources`, which reads them from a scheduler, to `explain`. The decisions are those of `/debug/decisions`.
"""

from dataclasses import dataclass
from datetime import datetime

from kubesched.model.cluster_objects import Gap
from kubesched.serving.decisions.records import DecisionRecord


@dataclass(frozen=True, slots=True)
class PodRecords:
    """The decisions about the pods of one name, the newest first.

    `now` is the scheduler's time at the read, `since` the time of its oldest decision, None if it has none. `gap` is
    set if they could not be read.
    """

    decisions: tuple[DecisionRecord, ...] = ()
    now: datetime | None = None
    since: datetime | None = None
    gap: Gap | None = None

    def of(self, uid: str) -> tuple[DecisionRecord, ...]:
        """Return the decisions about one pod: an earlier pod may have had the same name."""
        return tuple(record for record in self.decisions if record.uid == uid)
