"""Results of extension points that are more than a status.

From plugins to the cycle and back: PreFilter's narrowing, the verdicts for PostFilter, and PostFilter's result.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.framework.values.effects import Effect
from kubesched.core.framework.values.preemption import Candidate
from kubesched.core.framework.values.status import Code, Status, StatusTable
from kubesched.core.framework.views.nodes import NodeRow, table_row


class PreFilterResult(NamedTuple):
    """The search is narrowed to these nodes, which need not exist; None means all nodes."""

    node_names: frozenset[str] | None = None


class NodeVerdicts(msgspec.Struct, frozen=True):
    """The argument of PostFilter: the status of the first rejection on each judged row.

    `judged` is None if every row with a node was; the other rows have the status `absent`. Pods of one class share
    their verdicts as long as the table does not change. `remembered` has answers that depend on nothing but the
    verdicts, the table and their key, so that the next pod with these verdicts gets them at once.
    """

    ids: NDArray[np.int16]
    judged: NDArray[np.bool_] | None
    absent: Status
    statuses: StatusTable
    remembered: dict[Hashable, Any] = msgspec.field(default_factory=dict)

    def rows_with(self, code: Code, present: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the rows, among those present, whose status has a code."""
        table = self.statuses.statuses
        wanted = np.array([status.code is code for status in table])
        mask = wanted[self.ids] & present
        if self.judged is not None:
            mask &= self.judged
            if self.absent.code is code:
                mask |= present & ~self.judged
        return np.flatnonzero(mask)

    @property
    def judged_count(self) -> int | None:
        """Return how many rows were judged, None if every row with a node was."""
        return None if self.judged is None else int(np.count_nonzero(self.judged))

    def of(self, node: NodeRow) -> Status:
        """Return a node's status."""
        return self.status(table_row(node)[1])

    def status(self, row: int) -> Status:
        """Return a row's status."""
        if self.judged is not None and not self.judged[row]:
            return self.absent
        return self.statuses[int(self.ids[row])]


class PostFilterResult(msgspec.Struct, frozen=True):
    """The result of PostFilter.

    With success `nominated_node_name` is the node to nominate; `""` (not None) clears an earlier nomination.
    `candidates` are the nodes on which a preemption would help; `effects` are carried out one after the other.
    """

    status: Status
    nominated_node_name: str | None = None
    candidates: Sequence[Candidate] = ()
    effects: Sequence[Effect] = ()


class GroupAttempt(NamedTuple):
    """What became of a group of pods, by a result of `observer`, and of how many pods."""

    group: str
    profile: str
    result: str
    message: str
    scheduled_pods: int
    other_pods: int
    algorithm_seconds: float
    seconds: float
