"""Rejection as a value: codes, statuses, and the table that turns statuses into small integers.

From plugins to all other rooms. A status column holds indices into a `StatusTable`; 0 is success.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

import msgspec


class Code(IntEnum):
    """The codes of a plugin's answer, under the reference's names, and their effect on the pod.

    * SUCCESS: the next plugin is asked.
    * ERROR: the attempt ends; the plugin is not blamed. The pod is tried again after its backoff, which grows with the
      number of errors in a row.
    * UNSCHEDULABLE: the plugin rejects the pod (in Filter: on this node). Preemption may help. The pod waits among the
      unschedulable ones until an event for which the plugin's hint says QUEUE, then for the rest of its backoff.
    * UNSCHEDULABLE_AND_UNRESOLVABLE: the same, but evicting pods cannot help: preemption leaves the node out.
    * WAIT (Permit only): the pod keeps its place on the node and waits for `waiting_pods` or the timeout.
    * SKIP: PreFilter and PreScore leave the plugin's Filter and Score out for this pod; Bind leaves it to the next one.
    * PENDING (PreFilter, Filter, Reserve, Permit): the plugin rejects the pod until a component outside has done its
      part. An event for which its hint says QUEUE puts the pod into the active queue at once, without backoff.
    """

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def text(self) -> str:
        """Return the code as the reference writes it."""
        return _TEXTS[self]


_TEXTS = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}
REJECTIONS = frozenset((Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING))


class Status(msgspec.Struct, frozen=True, gc=False):
    """A code with its reasons; `plugin` is filled in by the framework."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def ok(self) -> bool:
        """Return whether this is success."""
        return self.code is Code.SUCCESS

    @property
    def rejected(self) -> bool:
        """Return whether the pod was rejected (not an error)."""
        return self.code in REJECTIONS

    @property
    def message(self) -> str:
        """Return the reasons as one text."""
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> "Status":
        """Return the same status with the plugin's name on it."""
        return self if self.plugin == plugin else Status(self.code, self.reasons, plugin)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Return a rejection that preemption might resolve."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a rejection that preemption cannot resolve."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """Return an internal error."""
    return Status(Code.ERROR, reasons)


# So many reasons may there be in all statuses of a table.
REASONS = 100_000
# columns refer to statuses by 16-bit integers: the most statuses of a table before a new one is needed
STATUSES: Final = 30_000


class StatusTable:
    """Statuses by small integer. Entry 0 is success; entries are never dropped while columns refer to them.

    A table that is `full` takes more statuses for a while, but should be replaced with everything that refers to it.
    """

    __slots__ = ("_codes", "errors", "full", "reasons", "statuses")

    def __init__(self) -> None:
        # the number of interned internal errors
        self.errors = 0
        # the number of reasons of all entries
        self.reasons = 0
        self.full = False
        self.statuses: list[Status] = [SUCCESS]
        self._codes: dict[Status, int] = {SUCCESS: 0}

    def __len__(self) -> int:
        return len(self.statuses)

    def __getitem__(self, index: int) -> Status:
        return self.statuses[index]

    def intern(self, status: Status | None, plugin: str) -> int:
        """Return the index of a plugin's status; None and success are 0."""
        if status is None or status.code is Code.SUCCESS:
            return 0
        if status.code is Code.ERROR:
            self.errors += 1
        status = status.by(plugin)
        index = self._codes.get(status)
        if index is None:
            index = self._codes[status] = len(self.statuses)
            self.statuses.append(status)
            self.reasons += len(status.reasons)
            self.full = index > STATUSES or self.reasons > REASONS
        return index

    def intern_all(self, statuses: Iterable[Status | None], plugin: str) -> list[int]:
        """Return the indices of several statuses."""
        return [self.intern(status, plugin) for status in statuses]
