"""Pod affinity terms, parsed once per pod template.

From `spec.affinity` to immutable terms with compiled selectors. A list of terms with one malformed selector is empty
as a whole, and its error is kept, as in upstream's PodInfo.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kubesched.api.labels import InvalidSelectorError, Selector, from_label_selector
from kubesched.api.pods import PodAffinity, PodAffinityTerm, PodSpec, WeightedPodAffinityTerm

NO_LABELS: Mapping[str, str] = {}


class AffinityTerm(NamedTuple):
    """A term of pod (anti-)affinity: its selector, namespaces and topology key."""

    namespaces: frozenset[str]
    namespace_selector: Selector
    selector: Selector
    topology_key: str

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Return whether the term selects a pod with `labels` in `namespace`."""
        if namespace in self.namespaces or self.namespace_selector.matches(namespace_labels):
            return self.selector.matches(labels)
        return False


class WeightedTerm(NamedTuple):
    """A preferred term with its weight."""

    term: AffinityTerm
    weight: int


class AffinityTerms(NamedTuple):
    """All terms of a pod; `errors` names the lists that could not be parsed."""

    required_affinity: tuple[AffinityTerm, ...] = ()
    required_anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[WeightedTerm, ...] = ()
    preferred_anti_affinity: tuple[WeightedTerm, ...] = ()
    errors: tuple[str, ...] = ()


NO_TERMS = AffinityTerms()


def matches_all(terms: Iterable[AffinityTerm], namespace: str, labels: Mapping[str, str]) -> bool:
    """Return whether there are terms and all of them select a pod; namespace selectors are matched with no labels."""
    some = False
    for term in terms:
        if not term.matches(namespace, labels, NO_LABELS):
            return False
        some = True
    return some


# upstream: kube-scheduler/framework/types.go, newAffinityTerm (v1.36)
def parse_term(namespace: str, term: PodAffinityTerm) -> AffinityTerm:
    """Return the compiled term of a pod in `namespace`; raises InvalidSelectorError for a malformed selector."""
    selector = from_label_selector(term.label_selector)
    if not term.namespaces and term.namespace_selector is None:
        namespaces = frozenset((namespace,))
    else:
        namespaces = frozenset(term.namespaces)
    return AffinityTerm(namespaces, from_label_selector(term.namespace_selector), selector, term.topology_key)


def parse_affinity_terms(spec: PodSpec, namespace: str) -> AffinityTerms:
    """Return all affinity terms of a pod with `spec` in `namespace`."""
    affinity = spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return NO_TERMS
    errors: list[str] = []

    def required(part: PodAffinity | None, what: str) -> tuple[AffinityTerm, ...]:
        terms = part.required_during_scheduling_ignored_during_execution if part else ()
        try:
            return tuple(parse_term(namespace, term) for term in terms)
        except InvalidSelectorError as error:
            errors.append(f"{what}: {error}")
            return ()

    def preferred(part: PodAffinity | None, what: str) -> tuple[WeightedTerm, ...]:
        terms: tuple[WeightedPodAffinityTerm, ...] = (
            part.preferred_during_scheduling_ignored_during_execution if part else ()
        )
        try:
            return tuple(WeightedTerm(parse_term(namespace, term.pod_affinity_term), term.weight) for term in terms)
        except InvalidSelectorError as error:
            errors.append(f"{what}: {error}")
            return ()

    return AffinityTerms(
        required(affinity.pod_affinity, "requiredAffinityTerms"),
        required(affinity.pod_anti_affinity, "requiredAntiAffinityTerms"),
        preferred(affinity.pod_affinity, "preferredAffinityTerms"),
        preferred(affinity.pod_anti_affinity, "preferredAntiAffinityTerms"),
        tuple(errors),
    )
