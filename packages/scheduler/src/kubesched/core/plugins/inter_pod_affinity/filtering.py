"""Required affinity and anti-affinity, in both directions, as one column.

From sums per domain to a status for every row. Three rules, in the order in which they are reported: the pods that the
incoming pod must be near (affinity), the pods it must not be near (anti-affinity), and the pods that must not be near
it (existing anti-affinity). A row's status depends only on whether its domains hold such pods, so that after a change
only the rows of domains which got their first or lost their last pod are judged again.
"""

# upstream: interpodaffinity/filtering.go (v1.36)

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from kubesched.api.field_errors import aggregate
from kubesched.core.cluster.affinity_terms import AffinityTerm
from kubesched.core.cluster.changes import Changes, Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import ABSENT, Rows
from kubesched.core.cluster.following import FEW_ROWS
from kubesched.core.cluster.pod_counts import Carried
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_matches import PodMatch
from kubesched.core.framework.columns.questions import FilterQuestion, FilterWorlds
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.status import Status, StatusTable, unresolvable, unschedulable
from kubesched.core.plugins.inter_pod_affinity.domains import (
    NO_ROW,
    OccupiedDomains,
    SourcesByKey,
    Tally,
    Touched,
    sources_by_key,
)
from kubesched.core.plugins.inter_pod_affinity.terms import SelectingTerms, match_of, match_of_all, namespaces_of
from kubesched.core.plugins.inter_pod_affinity.worlds import AffinityWorlds

AFFINITY = unresolvable("node(s) didn't match pod affinity rules")
ANTI_AFFINITY = unschedulable("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI_AFFINITY = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
# a row's objection is an index into these
OBJECTIONS: tuple[Status | None, ...] = (None, AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY)


def selects_itself(pod: PodInfo) -> bool:
    """Return whether the selectors of all required affinity terms match the pod's own labels."""
    return all(term.selector.matches(pod.labels) for term in pod.affinity.required_affinity)


class AffinityFilterQuestion(FilterQuestion):
    """The verdict for pods with certain terms, in a namespace, with certain labels that carried terms mention."""

    objections = OBJECTIONS

    def __init__(self, plugin: FilterPlugin, pod: PodInfo, cluster: ClusterState, statuses: StatusTable) -> None:
        table = cluster.table
        super().__init__(plugin, pod, table, statuses)
        self._cluster = cluster
        terms = pod.affinity
        self.affinity_terms = terms.required_affinity
        self._required_anti_affinity = terms.required_anti_affinity
        self.has_terms = bool(terms.required_affinity or terms.required_anti_affinity)
        # of the anti-affinity terms those whose topology key some node has, with the pods that each selects
        self.anti_affinity_terms: tuple[AffinityTerm, ...] = ()
        self.anti_affinity_matches: tuple[PodMatch, ...] = ()
        # whether an affinity term has a topology key that no node has, so that no node is near enough
        self.nowhere = False
        self._keys_version = -1
        self._selects_itself = bool(self.affinity_terms) and selects_itself(pod)
        if terms.errors:
            self.reject(unresolvable(f"parsing pod: {aggregate(terms.errors)}"))
        labels = dict(table.counts.mentioned(pod.labels))
        self.selecting = SelectingTerms(cluster, pod.namespace, labels, (Carried.REQUIRED_ANTI_AFFINITY,))
        self.affinity = Tally(table, OccupiedDomains)
        self.anti_affinity = Tally(table, OccupiedDomains)
        self.existing = Tally(table, OccupiedDomains)
        # the pods that all affinity terms select, if there are any
        self.affinity_match: PodMatch | None = None
        self.matches_itself = False
        self._first_of_its_kind = False
        self._indices = np.array(statuses.intern_all(OBJECTIONS, plugin.name), np.int16)

    def begin(self) -> None:
        """Decide whether to skip: a pod without terms has nothing to check unless a carried term selects it."""
        if self.has_terms or self.rejection is not None:
            return
        if self.selecting.surely_none:
            self.skip = True
            return
        self.refresh()
        self.skip = not self.existing.pods

    # -- the column

    def evaluate(self) -> None:
        """Judge every row; count only changed rows again if they are known."""
        changes = self.cursor.named()
        if self._take_matches() or changes is None:
            self.selecting.refresh()
            self.affinity.start(self._affinity_sources())
            self.anti_affinity.start(self._anti_affinity_sources())
            self.existing.start(self._existing_sources())
        else:
            self._count(changes.touching(self.reads))
        self._first_of_its_kind = self.first_of_its_kind(self.affinity.pods)
        self._assign_everywhere()

    def catch_up(self, changes: Changes) -> None:
        """Judge again the rows of domains in which the first pod appeared or the last one vanished."""
        if self._keys_version != self.table.labels.version:
            self.evaluate()
            self.generation += 1
            return
        rows = changes.touching(self.reads)
        touched = self._count(rows)
        stale = set(changes.touching(Reads.LABELS | Reads.PRESENCE))
        first = self.first_of_its_kind(self.affinity.pods)
        if len(touched) + len(stale) > FEW_ROWS or first != self._first_of_its_kind:
            self._first_of_its_kind = first
            self._assign_everywhere()
            self.generation += 1
            return
        for domain in touched:
            row = domain.only_row(rows)
            if row == NO_ROW:
                self._assign_rows(domain.rows(self.table.size))
                self.generation += 1
            else:
                stale.add(row)
        for row in stale:
            self._assign_row(row)

    def _count(self, rows: Collection[int]) -> list[Touched]:
        """Count some rows again; return the domains that became occupied or empty."""
        if self.selecting.refresh():
            self.existing.exchange(self._existing_sources())
        return [*self.affinity.update(rows), *self.anti_affinity.update(rows), *self.existing.update(rows)]

    def judge(self, rows: NDArray[np.intp]) -> NDArray[np.int16]:
        """Bring the column up to date; return it at some rows."""
        self.refresh()
        return self.ids[rows]

    def worlds(self, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return a batch of worlds over `rows`."""
        self.refresh()
        return AffinityWorlds(self, rows)

    # -- sources

    def _take_matches(self) -> bool:
        """Look up the counts of the pods that the pod's terms select; return whether other pods are counted now."""
        cluster, labels = self._cluster, self.table.labels
        other_keys, self._keys_version = self._keys_version != labels.version, labels.version
        self.nowhere = not all(labels.exists(term.topology_key) for term in self.affinity_terms)
        affinity = match_of_all(self.affinity_terms, cluster) if self.affinity_terms and not self.nowhere else None
        anti_affinity_terms = tuple(term for term in self._required_anti_affinity if labels.exists(term.topology_key))
        anti_affinity = tuple(match_of(term, cluster) for term in anti_affinity_terms)
        changed = other_keys or affinity is not self.affinity_match or anti_affinity != self.anti_affinity_matches
        self.affinity_match = affinity
        self.anti_affinity_terms, self.anti_affinity_matches = anti_affinity_terms, anti_affinity
        self.matches_itself = self._selects_itself and all(map(self._covers_its_namespace, self.affinity_terms))
        return changed

    def _covers_its_namespace(self, term: AffinityTerm) -> bool:
        namespaces = namespaces_of(term, self._cluster)
        return namespaces is None or self.selecting.namespace in namespaces

    def _affinity_sources(self) -> SourcesByKey:
        if self.affinity_match is None:
            return {}
        return {term.topology_key: [(self.affinity_match.rows, 1)] for term in self.affinity_terms}

    def _anti_affinity_sources(self) -> SourcesByKey:
        matches = zip(self.anti_affinity_terms, self.anti_affinity_matches, strict=True)
        return sources_by_key((term.topology_key, (match.rows, 1)) for term, match in matches)

    def _existing_sources(self) -> SourcesByKey:
        exists = self.table.labels.exists
        keys = ((carried.key.term.topology_key, carried) for carried in self.selecting.terms)
        return sources_by_key((key, (carried.rows, 1)) for key, carried in keys if exists(key))

    # -- objections

    def first_of_its_kind(self, matching_pods: int) -> bool:
        """Return whether the pod may go to any domain although no pod there matches its affinity terms.

        The first pod of its kind may: no pod in the cluster matches the terms, but the pod itself does.
        """
        return self.matches_itself and not matching_pods

    def _assign_everywhere(self) -> None:
        size = self.table.size
        self.ids = self._indices.take(self._objections(slice(0, size)))
        self.passes_everywhere = not self.ids.any()

    def _assign_rows(self, rows: NDArray[np.intp]) -> None:
        self.ids[rows] = ids = self._indices.take(self._objections(rows))
        self.passes_everywhere = self.passes_everywhere and not ids.any()

    def _assign_row(self, row: int) -> None:
        objection = self._objection(row)
        self.ids[row] = self._indices[objection]
        if objection:
            self.passes_everywhere = False

    def _objections(self, rows: Rows) -> NDArray[np.int8]:
        """Return an index into OBJECTIONS for some rows."""
        present = self.table.present[rows]
        objections = np.zeros(len(present), np.int8)
        for domains in self.existing:
            objections[domains.occupied(rows)] = 3
        for domains in self.anti_affinity:
            objections[domains.occupied(rows)] = 2
        for domains in self.affinity:
            if self._first_of_its_kind:
                unmet = domains.column.codes[rows] == ABSENT
            else:
                unmet = ~domains.occupied(rows)
            objections[unmet & present] = 1
        if self.nowhere:
            objections[present] = 1
        return objections

    def _objection(self, row: int) -> int:
        """Return an index into OBJECTIONS for one row."""
        if not self.table.present[row]:
            return 0
        if self.nowhere:
            return 1
        for domains in self.affinity:
            if self._first_of_its_kind:
                unmet = domains.column.codes[row] == ABSENT
            else:
                unmet = not domains.occupied_at(row)
            if unmet:
                return 1
        if any(domains.occupied_at(row) for domains in self.anti_affinity):
            return 2
        return 3 if any(domains.occupied_at(row) for domains in self.existing) else 0
