"""The score column: how crowded a node's domains are with matching pods.

From a `SpreadKey`, the table and the feasible rows to raw and normalised scores. Rows in the same domains, and with the
same number of matching pods if hosts are counted, share a *signature*; there are few signatures, so that scores are
computed and normalised per signature and gathered once. A pod that is added or removed gives one row another signature
and changes one domain's total.

PreScore weighs constraints by the number of domains of the feasible rows, which is counted in feasible rows per
signature. Signature 0 is for rows that do not count: their score is 0.
"""

# upstream: podtopologyspread/scoring.go (v1.36)

import math
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kubesched.core.cluster.changes import Changes, Reads
from kubesched.core.cluster.columns import ABSENT
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_matches import PodMatch
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.columns.normalizing import invalid_score, truncated_quotient
from kubesched.core.framework.columns.questions import Feasible, ScoreQuestion
from kubesched.core.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE, ScorePlugin
from kubesched.core.framework.values.status import Status, error
from kubesched.core.plugins.pod_topology_spread.constraints import SpreadConstraint, SpreadKey
from kubesched.core.plugins.pod_topology_spread.domains import (
    DomainTotals,
    all_keys_exist,
    included_rows,
    match_of,
    nodes_read,
    rows_with_keys,
)
from kubesched.core.plugins.pod_topology_spread.signatures import LEFT_OUT, Signatures

HOSTNAME: Final = "kubernetes.io/hostname"
# The reference marks ignored nodes by this score, and takes other nodes with the same score for ignored.
_INVALID = -1
_SPARE_PODS = 16


class SoftConstraint:
    """One constraint: its part of a signature, and the score of each value of that part."""

    def __init__(self, constraint: SpreadConstraint) -> None:
        self._constant = float(constraint.max_skew - 1)
        self._weight = 0.0
        self.topology_key = constraint.topology_key

    def weigh(self, parts: NDArray[np.int64], feasible: NDArray[np.int64]) -> None:
        """Set the weight from the number of feasible rows per signature."""
        self._weight = math.log(self._size(parts, feasible) + 2)

    def _size(self, parts: NDArray[np.int64], feasible: NDArray[np.int64]) -> int:
        raise NotImplementedError

    def update(self, signatures: Signatures, index: int) -> bool | None:
        """Follow the counts of pods; return whether scores may differ, None if too many rows changed."""
        raise NotImplementedError

    def column(self, table: NodeTable) -> NDArray[Any]:
        """Return each row's component of the signature: pods on it + 1, 0 without the label."""
        raise NotImplementedError

    def scores(self, parts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every signature; 0 if the node lacks the topology key."""
        raise NotImplementedError


class PerHost(SoftConstraint):
    """Counts pods per node; a part is one more than the pods on the node, or 0 without the label."""

    def __init__(self, constraint: SpreadConstraint, match: PodMatch | None) -> None:
        super().__init__(constraint)
        self.match = match
        # how many changes of the match are counted
        self._changes = match.changes if match is not None else 0
        self._scores: NDArray[np.float64] = np.zeros(0)

    def update(self, signatures: Signatures, index: int) -> bool | None:
        """Give the changed rows their new parts; return whether any signature changed, None if too many rows did."""
        match = self.match
        if match is None or self._changes == match.changes:
            return False
        rows = match.changed_since(self._changes)
        if rows is None:
            return None
        self._changes = match.changes
        counts, changed = match.rows, False
        for row in rows:
            if signatures.replace(row, index, 1 + counts.get(row, 0)):
                changed = True
        return changed

    def column(self, table: NodeTable) -> NDArray[np.int64]:
        """Return each row's component of the signature: pods on it + 1, 0 without the label."""
        labelled = table.label(self.topology_key).codes[: table.size] != ABSENT
        pods = 0 if self.match is None else self.match.column(table.size)
        parts: NDArray[np.int64] = (1 + pods) * labelled
        return parts

    def weigh(self, parts: NDArray[np.int64], feasible: NDArray[np.int64]) -> None:
        """Set the weight, and the score for every number of pods."""
        super().weigh(parts, feasible)
        self._tabulate(int(parts.max()))

    def _tabulate(self, highest: int) -> None:
        self._scores = np.arange(-1.0, highest + _SPARE_PODS) * self._weight + self._constant
        self._scores[0] = 0.0

    def _size(self, parts: NDArray[np.int64], feasible: NDArray[np.int64]) -> int:
        return int(feasible.sum())

    def scores(self, parts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every signature."""
        highest = int(np.maximum.reduce(parts))
        if highest >= len(self._scores):
            self._tabulate(highest)
        return self._scores.take(parts)


class PerDomain(SoftConstraint):
    """Counts pods per domain; a part is the domain's code."""

    def __init__(self, constraint: SpreadConstraint, counted: DomainTotals) -> None:
        super().__init__(constraint)
        self.counted = counted
        # A node without the label is in the same domain as a node with an empty label, but gets no score for it.
        self._blank = counted.column.of_value.get("", ABSENT)

    def update(self, signatures: Signatures, index: int) -> bool | None:
        """Count the changed rows again; return whether any total changed, None if too many rows did."""
        moves = self.counted.update()
        return None if moves is None else bool(moves)

    def column(self, table: NodeTable) -> NDArray[np.int32]:
        """Return each row's component of the signature: pods on it + 1, 0 without the label."""
        return self.counted.column.codes[: table.size]

    def _size(self, parts: NDArray[np.int64], feasible: NDArray[np.int64]) -> int:
        rows = np.bincount(parts, feasible, len(self.counted.totals))
        both = self._blank != ABSENT and rows[self._blank] and rows[ABSENT]
        return int(np.count_nonzero(rows)) - (1 if both else 0)

    def scores(self, parts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every signature."""
        totals = self.counted.totals
        scores = np.asarray(totals * self._weight + self._constant, np.float64)
        if self._blank != ABSENT:
            scores[self._blank] = (totals[self._blank] + totals[ABSENT]) * self._weight + self._constant
        scores[ABSENT] = 0.0
        return scores.take(parts)


class SpreadScoreQuestion(ScoreQuestion):
    """The results of PreScore and Score for one key."""

    def __init__(
        self, plugin: ScorePlugin, pod: PodInfo, table: NodeTable, key: SpreadKey, *, comparison: bool
    ) -> None:
        super().__init__(plugin, pod, table, nodes_read(key) | Reads.PODS)
        self._of_nodes = nodes_read(key)
        self.key = key
        self._comparison = comparison
        if key.failure:
            self.failure = error(f"calculating preScoreState: {key.failure}").by(plugin.name)
        self.skip = not key.constraints and not key.failure
        self._soft: list[SoftConstraint] = []
        self._signatures = Signatures(0)
        self._feasible_version: object = None
        self._weighed = False
        self._scored = False
        # scores by signature
        self._raw_scores: NDArray[np.int64] = np.zeros(1, np.int64)
        self._final_scores: NDArray[np.int64] | int | Status = 0

    # -- keeping count

    def prepare(self, feasible: Feasible) -> None:
        """Bring the scores up to date for a set of feasible rows."""
        if self.skip or self.key.failure:
            return
        self.refresh()
        if self._feasible_version != feasible.version:
            if self._signatures.restrict(feasible.mask):
                self._weighed = False
            self._feasible_version = feasible.version
        if not self._weighed:
            self._weigh()
        if not self._scored:
            self._score()

    def evaluate(self) -> None:
        """Count all pods and find every row's signature."""
        table, key = self.table, self.key
        if key.require_all and not all_keys_exist(table, key):
            self._leave_all_out()
            return
        masks = included_rows(table, key, comparison=self._comparison)
        soft: list[SoftConstraint] = []
        for constraint, mask in zip(key.constraints, masks, strict=True):
            match = match_of(table, key.namespace, constraint)
            if constraint.topology_key == HOSTNAME:
                soft.append(PerHost(constraint, match))
            else:
                counted = DomainTotals(table, constraint.topology_key, match, mask)
                soft.append(PerDomain(constraint, counted))
        # the counts live as long as a constraint refers to them: the old ones go after the new ones are found
        self._soft = soft
        self._signatures = Signatures(len(self._soft))
        self._signatures.assign(rows_with_keys(table, key), [soft.column(table) for soft in self._soft])
        self._feasible_version = None
        self._weighed = self._scored = False

    def _leave_all_out(self) -> None:
        """Score no row: no node has all topology keys, so that no constraint needs to be counted."""
        self._soft = []
        self._signatures = Signatures(0)
        self._signatures.assign(np.zeros(self.table.size, np.bool_), ())
        self._feasible_version = None
        self._weighed = self._scored = False

    def catch_up(self, changes: Changes) -> None:
        """Count the changed rows again."""
        signatures = self._signatures
        again = bool(changes.groups & self._of_nodes) or signatures.crowded
        for index, soft in enumerate(() if again else self._soft):
            changed = soft.update(signatures, index)
            if changed is None:
                again = True
                break
            if changed:
                self._scored = False
        if again:
            self.evaluate()
        if not self._scored:
            self.generation += 1

    # -- scoring

    @property
    def raw(self) -> NDArray[np.int64]:
        """Return the raw score of every row, gathered on demand: scheduling reads only the final ones."""
        return self._raw_scores.take(self._signatures.of_row)

    def scores(self, feasible: Feasible) -> NDArray[Any] | int | Status:
        """Return the final score of every feasible row."""
        final = self._final_scores
        return final.take(self._signatures.of_row) if isinstance(final, np.ndarray) else final

    def weighted_scores(self, feasible: Feasible, weight: int, dtype: DTypeLike) -> NDArray[Any] | int | Status:
        """Return the final scores times a weight: signatures are fewer than rows, so they are multiplied."""
        final = self._final_scores
        if isinstance(final, np.ndarray):
            return np.multiply(final, weight, dtype=dtype).take(self._signatures.of_row)
        return super().weighted_scores(feasible, weight, dtype)

    def _weigh(self) -> None:
        signatures = self._signatures
        for index, soft in enumerate(self._soft):
            soft.weigh(signatures.part(index), signatures.feasible)
        self._weighed = True
        self._scored = False

    def _score(self) -> None:
        signatures = self._signatures
        sums = np.zeros(len(signatures), np.float64)
        for index, soft in enumerate(self._soft):
            sums += soft.scores(signatures.part(index))
        # Rounded to the nearest; no sum lies halfway between integers, being an integer plus multiples of logarithms.
        raw = np.floor(sums + 0.5).astype(np.int64)
        raw[LEFT_OUT] = 0
        self._raw_scores = raw
        self._final_scores = self._normalized(raw)
        self._scored = True

    def _normalized(self, raw: NDArray[np.int64]) -> NDArray[np.int64] | int | Status:
        """Return the final score of every signature, or one for all: less crowded domains score higher."""
        alive = self._signatures.feasible > 0
        scored = raw[alive]
        if not len(scored):
            return 0
        lowest, highest = int(np.minimum.reduce(scored)), max(int(np.maximum.reduce(scored)), 0)
        if lowest == highest and not self._signatures.left_out:
            return MAX_NODE_SCORE
        if highest == 0:
            final = np.full(len(raw), MAX_NODE_SCORE)
        else:
            ahead = MAX_NODE_SCORE * (highest + lowest - raw)
            final = truncated_quotient(ahead, highest) if lowest < 0 else ahead // highest
        final[LEFT_OUT] = 0
        if lowest < 0:
            # only with a skew that no API server accepts
            final[raw == _INVALID] = 0
            wrong = final[alive & ((final < MIN_NODE_SCORE) | (final > MAX_NODE_SCORE))]
            if len(wrong):
                return invalid_score(self.plugin.name, int(wrong[0]))
        return final
