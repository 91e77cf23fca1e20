"""Preferred affinity and anti-affinity, in both directions, as a column of scores.

From weighted sums per domain to a raw score for every row: the weights of the incoming pod's preferences for pods in
the row's domains, of their preferences for it, and of their required affinity to it. After a change only the touched
domains' rows are scored again; the normalised column is reworked only when its extremes move.
"""

# upstream: interpodaffinity/scoring.go (v1.36)

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kubesched.api.field_errors import aggregate
from kubesched.config.args import InterPodAffinityArgs
from kubesched.core.cluster.affinity_terms import NO_TERMS, AffinityTerm
from kubesched.core.cluster.changes import Changes, Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.following import FEW_ROWS
from kubesched.core.cluster.pod_counts import Carried, TermKey
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_matches import PodMatch
from kubesched.core.framework.columns.questions import Feasible, ScoreQuestion
from kubesched.core.framework.plugin import MAX_NODE_SCORE, ScorePlugin
from kubesched.core.framework.values.status import Status, error
from kubesched.core.plugins.inter_pod_affinity.domains import (
    NO_ROW,
    Domains,
    SourcesByKey,
    Tally,
    Touched,
    sources_by_key,
)
from kubesched.core.plugins.inter_pod_affinity.terms import SelectingTerms, match_of


def has_preferences(pod: PodInfo) -> bool:
    """Return whether the pod lists preferred terms, well-formed or not."""
    affinity = pod.spec.affinity
    if affinity is None:
        return False
    return any(
        part is not None and bool(part.preferred_during_scheduling_ignored_during_execution)
        for part in (affinity.pod_affinity, affinity.pod_anti_affinity)
    )


def ignored(pod: PodInfo, args: InterPodAffinityArgs) -> bool:
    """Return whether the pod has no preferences and placed pods' preferences do not count."""
    if not args.ignore_preferred_terms_of_existing_pods:
        return False
    return pod.affinity is NO_TERMS or not pod.derive(has_preferences)


class AffinityScoreQuestion(ScoreQuestion):
    """The scores for pods with certain preferences, in a namespace, with certain labels that carried terms mention."""

    raw: NDArray[np.int64] = np.zeros(0, np.int64)

    def __init__(self, plugin: ScorePlugin, pod: PodInfo, cluster: ClusterState, args: InterPodAffinityArgs) -> None:
        table = cluster.table
        super().__init__(plugin, pod, table)
        self._cluster = cluster
        self._hard_weight = args.hard_pod_affinity_weight
        terms = pod.affinity
        self._terms = (
            *((weighted.term, weighted.weight) for weighted in terms.preferred_affinity),
            *((weighted.term, -weighted.weight) for weighted in terms.preferred_anti_affinity),
        )
        self._ignored = self.skip = ignored(pod, args)
        if terms.errors and not self._ignored:
            self.failure = error(f"failed to parse pod: {aggregate(terms.errors)}").by(plugin.name)
        kinds = [Carried.PREFERRED_AFFINITY, Carried.PREFERRED_ANTI_AFFINITY]
        if self._hard_weight > 0:
            kinds.append(Carried.REQUIRED_AFFINITY)
        labels = dict(table.counts.mentioned(pod.labels))
        self._selecting = SelectingTerms(cluster, pod.namespace, labels, kinds)
        # the terms whose topology key some node has, with their weights, and the pods that each selects
        self._counting: tuple[tuple[AffinityTerm, int], ...] = ()
        self._matches: tuple[PodMatch, ...] = ()
        self._keys_version = -1
        self._tally = Tally(table, Domains)
        self._scores: NDArray[np.int64] = np.zeros(0, np.int64)
        # the lowest and highest raw score that `_scores` was computed for, except these rows; None if not computed
        self._extremes: tuple[int, int] | None = None
        self._stale: set[int] = set()

    def prepare(self, feasible: Feasible) -> None:
        """Bring the raw scores up to date; skip if no pod counts, in either direction."""
        if self._ignored or self.failure is not None:
            return
        if not self._terms and self._selecting.surely_none:
            self.skip = True
            return
        self.refresh()
        self.skip = not self._tally.pods

    # -- raw scores

    def evaluate(self) -> None:
        """Score every row; count only changed rows again if they are known."""
        changes = self.cursor.named()
        labels = self.table.labels
        other_keys, self._keys_version = self._keys_version != labels.version, labels.version
        self._counting = tuple(each for each in self._terms if labels.exists(each[0].topology_key))
        matches = tuple(match_of(term, self._cluster) for term, _ in self._counting)
        if changes is None or other_keys or matches != self._matches:
            self._matches = matches
            self._selecting.refresh()
            self._tally.start(self._sources())
        else:
            self._count(changes.touching(self.reads))
        self._score_everywhere()

    def catch_up(self, changes: Changes) -> None:
        """Score again the rows of domains whose counted pods changed."""
        if self._keys_version != self.table.labels.version:
            self.evaluate()
            self.generation += 1
            return
        rows = changes.touching(self.reads)
        touched = self._count(rows)
        stale = set(changes.touching(Reads.LABELS | Reads.PRESENCE))
        if len(touched) + len(stale) <= FEW_ROWS:
            stale.update(domain.only_row(rows) for domain in touched)
        else:
            stale.add(NO_ROW)
        if NO_ROW in stale:
            self._score_everywhere()
            self.generation += 1
            return
        for row in stale:
            self.raw[row] = sum(domains.sum_at(row) for domains in self._tally)
        self._stale |= stale

    def _score_everywhere(self) -> None:
        rows = slice(0, self.table.size)
        self.raw = np.zeros(self.table.size, np.int64)
        for domains in self._tally:
            self.raw += domains.sums(rows)
        self._extremes = None

    def _count(self, rows: list[int]) -> list[Touched]:
        if self._selecting.refresh():
            self._tally.exchange(self._sources())
        return self._tally.update(rows)

    def _sources(self) -> SourcesByKey:
        own = ((term, match.rows, weight) for (term, weight), match in zip(self._counting, self._matches, strict=True))
        exists = self.table.labels.exists
        carried = (
            (each.key.term, each.rows, self._weight(each.key))
            for each in self._selecting.terms
            if exists(each.key.term.topology_key)
        )
        return sources_by_key((term.topology_key, (rows, weight)) for term, rows, weight in chain(own, carried))

    def _weight(self, key: TermKey) -> int:
        if key.kind is Carried.REQUIRED_AFFINITY:
            return self._hard_weight
        return key.weight if key.kind is Carried.PREFERRED_AFFINITY else -key.weight

    # -- normalised scores

    def scores(self, feasible: Feasible) -> NDArray[np.int64] | int | Status:
        """Return the raw scores stretched over the range from 0 to 100; where all are equal, 0."""
        if not feasible.count:
            return 0
        raw = self.raw[feasible.mask]
        low, high = int(raw.min()), int(raw.max())
        if low == high:
            return 0
        if self._extremes != (low, high):
            self._scores = (float(MAX_NODE_SCORE) * ((self.raw - low) / float(high - low))).astype(np.int64)
            self._extremes = (low, high)
        else:
            for row in self._stale:
                self._scores[row] = int(float(MAX_NODE_SCORE) * (float(self.raw.item(row) - low) / float(high - low)))
        self._stale.clear()
        return self._scores
