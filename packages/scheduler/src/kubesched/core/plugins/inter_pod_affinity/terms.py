"""The pods that the incoming pod's terms select, and the carried terms that select the incoming pod.

From affinity terms to counts of the cluster: the incoming pod's terms become `PodMatch` questions, once per template
and list of namespaces; the carried terms that select pods of one kind are found once per change of the set of carried
terms.
"""

# upstream: interpodaffinity/plugin.go (v1.36)

from collections.abc import Collection, Mapping

from kubesched.api.nodes import Namespace
from kubesched.core.cluster.affinity_terms import NO_LABELS, AffinityTerm
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_counts import ALL_NAMESPACES, Carried, CarriedTerm
from kubesched.core.cluster.pod_matches import PodMatch


def namespaces_of(term: AffinityTerm, cluster: ClusterState) -> frozenset[str] | None:
    """Return the namespaces that an incoming pod's term covers; None for all of them.

    The reference lists the namespaces that the selector matches and then matches the selector itself with empty labels:
    a selector that only forbids labels therefore covers every namespace, existing or not.
    """
    selector = term.namespace_selector
    if selector.matches(NO_LABELS):
        return ALL_NAMESPACES
    if selector.matches_nothing:
        return term.namespaces
    listed = (space.name for space in cluster.objects.of(Namespace) if selector.matches(space.metadata.labels))
    return term.namespaces.union(listed)


def match_of(term: AffinityTerm, cluster: ClusterState) -> PodMatch:
    """Return the counts of the pods that an incoming pod's term selects."""
    return cluster.table.counts.match(namespaces_of(term, cluster), (term.selector,), live_only=False)


def match_of_all(terms: Collection[AffinityTerm], cluster: ClusterState) -> PodMatch:
    """Return the counts of the pods that every one of an incoming pod's terms selects."""
    common = ALL_NAMESPACES
    for term in terms:
        namespaces = namespaces_of(term, cluster)
        if namespaces is not None:
            common = namespaces if common is None else common & namespaces
    selectors = tuple(dict.fromkeys(term.selector for term in terms))
    return cluster.table.counts.match(common, selectors, live_only=False)


class SelectingTerms:
    """The carried terms of some kinds that select pods in a namespace with certain labels.

    The labels are the ones in carried terms (`PodCounts.mentioned`), so that the answer holds for every pod
    with these labels.
    """

    __slots__ = ("_cluster", "_kinds", "_version", "labels", "namespace", "terms")

    def __init__(
        self, cluster: ClusterState, namespace: str, labels: Mapping[str, str], kinds: Collection[Carried]
    ) -> None:
        self._cluster = cluster
        self._kinds = kinds
        self.namespace = namespace
        self.labels = labels
        self.terms: list[CarriedTerm] = []
        self._version = (-1, -1)

    @property
    def surely_none(self) -> bool:
        """Return True if there is surely no such term; False if there may be one."""
        return not self.terms and self._version == self._newest()

    def refresh(self) -> bool:
        """Find the terms again if they may have changed; return whether they have."""
        newest = self._newest()
        if self._version == newest:
            return False
        self._version = newest
        carried = self._cluster.table.counts.terms(self._kinds)
        picked = [term for term in carried if self.matches(term.key.term)]
        changed = picked != self.terms
        self.terms = picked
        return changed

    def matches(self, term: AffinityTerm) -> bool:
        """Return whether a carried term selects such pods."""
        if term.namespace_selector.matches_nothing:
            return term.matches(self.namespace, self.labels, NO_LABELS)
        return term.matches(self.namespace, self.labels, self._cluster.namespace_labels(self.namespace))

    def _newest(self) -> tuple[int, int]:
        cluster = self._cluster
        return cluster.table.counts.terms_version, cluster.objects.versions.get("Namespace", 0)
