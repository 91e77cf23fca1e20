"""The verdict column: the nodes on which the pod would exceed the skew.

From a `SpreadKey` and the table to a status per row. Every constraint has a status per domain; a row's verdict is the
first rejection among its domains. A pod that is added or removed changes one domain's total and perhaps the minimum,
so that rows change their verdict by whole domains.
"""

# upstream: podtopologyspread/filtering.go (v1.36)

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Changes, Reads
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.columns.questions import FilterQuestion
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.status import StatusTable, error
from kubesched.core.plugins.pod_topology_spread.constraints import SpreadKey
from kubesched.core.plugins.pod_topology_spread.domains import DomainTotals, included_rows, match_of, nodes_read
from kubesched.core.plugins.pod_topology_spread.hard_constraint import MISSING_LABEL, TOO_UNEVEN, HardConstraint
from kubesched.core.plugins.pod_topology_spread.worlds import SpreadWorlds


class SpreadFilterQuestion(FilterQuestion):
    """The results of PreFilter and Filter for one key."""

    def __init__(
        self,
        plugin: FilterPlugin,
        pod: PodInfo,
        table: NodeTable,
        statuses: StatusTable,
        key: SpreadKey,
        *,
        comparison: bool,
    ) -> None:
        super().__init__(plugin, pod, table, statuses, nodes_read(key) | Reads.PODS)
        self._of_nodes = nodes_read(key)
        self.key = key
        self._comparison = comparison
        self.hard: list[HardConstraint] = []
        if key.failure:
            self.reject(error(f"get constraints from pod: {key.failure}"))
        self.skip = not key.constraints and not key.failure

    def evaluate(self) -> None:
        """Count all pods and judge every row."""
        table, key = self.table, self.key
        uneven, missing = self.statuses.intern_all((TOO_UNEVEN, MISSING_LABEL), self.plugin.name)
        masks = included_rows(table, key, comparison=self._comparison)
        # a node that lacks the label of a constraint is rejected, whatever later constraints say
        judging = _first_missing(table, key)
        self.hard = [
            HardConstraint(
                constraint,
                self_match,
                DomainTotals(table, constraint.topology_key, match_of(table, key.namespace, constraint), mask),
                uneven,
                missing,
            )
            for constraint, self_match, mask in islice(
                zip(key.constraints, key.self_matches, masks, strict=True), judging
            )
        ]
        self._gather()

    def catch_up(self, changes: Changes) -> None:
        """Count the changed rows again, and judge the rows of the domains whose status changed."""
        if changes.groups & self._of_nodes:
            self._start_again()
            return
        single: list[int] = []
        gather = False
        for hard in self.hard:
            moves = hard.counted.update()
            if moves is None:
                self._start_again()
                return
            if moves:
                domains = hard.follow(moves)
                if domains is None or any(hard.counted.column.counts[domain] > 1 for domain in domains):
                    gather = True
                elif domains:
                    # each of these domains has a single row, which is among the changed ones
                    single += [move.row for move in moves if move.domain in domains]
        if gather:
            self._gather()
            self.generation += 1
        else:
            for row in single:
                self._judge_row(row)

    def _start_again(self) -> None:
        self.evaluate()
        self.generation += 1

    def _gather(self) -> None:
        """Give every row the first rejection among the statuses of its domains."""
        size = self.table.size
        ids = np.zeros(size, np.int16)
        for index, hard in enumerate(self.hard):
            found = hard.statuses.take(hard.counted.column.codes[:size])
            if index == 0:
                ids = found
            else:
                np.copyto(ids, found, where=ids == 0)
        self.ids = ids
        self.passes_everywhere = not ids.any()

    def _judge_row(self, row: int) -> None:
        for hard in self.hard:
            status = int(hard.statuses[hard.counted.column.codes[row]])
            if status:
                self.ids[row] = status
                self.passes_everywhere = False
                return
        self.ids[row] = 0

    def judge(self, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Return status indices for some rows; they depend on all rows, so the whole column is brought up to date."""
        self.refresh()
        return self.ids[rows]

    def worlds(self, rows: NDArray[np.intp]) -> SpreadWorlds:
        """Return worlds in which pods are added to and removed from one row each."""
        self.refresh()
        return SpreadWorlds.of_rows(self.table, self.key.namespace, self.hard, rows)


def _first_missing(table: NodeTable, key: SpreadKey) -> int:
    """Return how many constraints there are up to the first one with a topology key that no node has."""
    for count, constraint in enumerate(key.constraints, 1):
        if not table.labels.exists(constraint.topology_key):
            return count
    return len(key.constraints)
