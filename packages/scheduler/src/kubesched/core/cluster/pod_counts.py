"""Counts of pods per row, by selector and by carried term, without looping over pods.

From added and removed pods to counts per row. Pods are grouped by namespace and labels; two kinds of interned
questions own counts:

* `PodMatch`: pods in these namespaces that all these selectors match, with or without terminating ones. A new question
  is matched with every group once; afterwards each added or removed pod updates the questions that select its group
  (`pod_matches`).
* `CarriedTerm`: pods that carry an affinity term, for the symmetric rules: which terms select an incoming pod.

Counts are sparse (row -> count). Questions exist as long as a plugin's question references them: the registry has weak
references.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple, TypeVar

from kubesched.api.labels import Selector
from kubesched.core.cluster.affinity_terms import NO_TERMS, AffinityTerm
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_matches import MatchKey, MatchRef, PodMatch, PodMatches

ALL_NAMESPACES: frozenset[str] | None = None
K = TypeVar("K")
Labels = tuple[tuple[str, str], ...]


class Carried(IntEnum):
    """Which of a pod's four affinity lists a term comes from."""

    REQUIRED_AFFINITY = 0
    REQUIRED_ANTI_AFFINITY = 1
    PREFERRED_AFFINITY = 2
    PREFERRED_ANTI_AFFINITY = 3


class TermKey(NamedTuple):
    """The identity of a carried term."""

    kind: Carried
    weight: int
    term: AffinityTerm


class CarriedTerm:
    """A term and the rows of the pods that carry it."""

    __slots__ = ("key", "rows")

    def __init__(self, key: TermKey) -> None:
        self.key = key
        self.rows: dict[int, int] = {}


class LabelGroup:
    """All pods of one namespace with the same labels."""

    __slots__ = ("answers", "answers_version", "code", "key", "labels", "live", "members", "namespace", "terminating")

    def __init__(self, code: int, namespace: str, labels: Labels) -> None:
        self.code = code
        self.namespace = namespace
        self.key = labels
        self.labels = dict(labels)
        # pods that have a slot and these labels, counted on a row or only nominated
        self.members = 0
        self.live: dict[int, int] = {}
        self.terminating: dict[int, int] = {}
        # the questions that select the group, as of a version of the questions
        self.answers: tuple[MatchRef, ...] = ()
        self.answers_version = 0


def _bump(rows: dict[K, int], row: K, by: int) -> None:
    """Add to a sparse count, dropping zeros."""
    count = rows.get(row, 0) + by
    if count:
        rows[row] = count
    else:
        rows.pop(row, None)


class PodCounts:
    """The groups, the questions and their counts."""

    def __init__(self) -> None:
        # by code
        self.groups: dict[int, LabelGroup] = {}
        self._by_namespace: dict[str, dict[Labels, LabelGroup]] = {}
        self._matches = PodMatches()
        self._next_group = 0
        self._terms: dict[TermKey, CarriedTerm] = {}
        # changes with the set of carried terms, which a pod's labels are matched with
        self.terms_version = 0
        # label keys in selectors of carried terms (and of nominated pods' terms), with the number of selectors
        self._mentioned: dict[str, int] = {}

    # -- adding and removing pods

    def join(self, pod: PodInfo) -> LabelGroup:
        """Add a pod to its group; return the group."""
        labels = tuple(sorted(pod.labels.items()))
        group = self._by_namespace.setdefault(pod.namespace, {}).get(labels)
        if group is None:
            group = LabelGroup(self._next_group, pod.namespace, labels)
            self._next_group += 1
            self._by_namespace[pod.namespace][labels] = self.groups[group.code] = group
        group.members += 1
        return group

    def leave(self, group: LabelGroup) -> None:
        """Remove a pod from its group; an empty group is dropped."""
        group.members -= 1
        if not group.members:
            del self.groups[group.code]
            siblings = self._by_namespace[group.namespace]
            del siblings[group.key]
            if not siblings:
                del self._by_namespace[group.namespace]

    def count(self, pod: PodInfo, group: LabelGroup, row: int, sign: int) -> None:
        """Add a pod of a group to the counts of a row, or remove it with sign -1."""
        terminating = pod.terminating
        _bump(group.terminating if terminating else group.live, row, sign)
        for reference in self._answers(group):
            match = reference()
            if match is not None and not (terminating and match.key.live_only):
                match.count(row, sign)
        if pod.digest.affinity is not NO_TERMS:
            for key in pod.derive(carried_terms):
                self._carry(key, row, sign)

    def _answers(self, group: LabelGroup) -> tuple[MatchRef, ...]:
        """Return the questions that select a group."""
        version = self._matches.version
        if group.answers_version != version:
            group.answers = self._matches.selecting(group.namespace, group.labels)
            group.answers_version = version
        return group.answers

    def _carry(self, key: TermKey, row: int, sign: int) -> None:
        term = self._terms.get(key)
        if term is None:
            term = self._terms[key] = CarriedTerm(key)
            self._mention(key, 1)
        _bump(term.rows, row, sign)
        if not term.rows:
            del self._terms[key]
            self._mention(key, -1)

    def _mention(self, key: TermKey, sign: int) -> None:
        self.terms_version += 1
        self._mention_labels(key, sign)

    def _mention_labels(self, key: TermKey, sign: int) -> None:
        for label in key.term.selector.keys:
            _bump(self._mentioned, label, sign)

    def foresee(self, pod: PodInfo, sign: int) -> None:
        """Add the label keys in the terms of a nominated pod, or remove them with sign -1: worlds may add the pod."""
        if pod.digest.affinity is not NO_TERMS:
            for key in pod.derive(carried_terms):
                self._mention_labels(key, sign)

    # -- questions

    def match(self, namespaces: frozenset[str] | None, selectors: tuple[Selector, ...], *, live_only: bool) -> PodMatch:
        """Return the counts of a question, kept up to date as long as they are referenced."""
        key = MatchKey(namespaces, selectors, live_only)
        match = self._matches.get(key)
        if match is None:
            match = PodMatch(key)
            for group in self._groups_in(namespaces):
                if match.selects(group.namespace, group.labels):
                    match.start_with(group.live)
                    if not live_only:
                        match.start_with(group.terminating)
            self._matches.add(match)
        return match

    def _groups_in(self, namespaces: frozenset[str] | None) -> Iterator[LabelGroup]:
        if namespaces is None:
            yield from self.groups.values()
        else:
            for namespace in namespaces:
                yield from self._by_namespace.get(namespace, {}).values()

    def terms(self, kinds: Iterable[int]) -> list[CarriedTerm]:
        """Return the terms that pods on any row carry in lists of these kinds."""
        wanted = set(kinds)
        return [term for term in self._terms.values() if term.key.kind in wanted]

    def mentioned(self, labels: Mapping[str, str]) -> Labels:
        """Return, sorted, the labels whose keys occur in carried terms."""
        mentioned = self._mentioned
        if not mentioned:
            return ()
        return tuple(sorted((key, value) for key, value in labels.items() if key in mentioned))


def carried_terms(pod: PodInfo) -> tuple[TermKey, ...]:
    """Return the keys of all affinity terms that a pod carries; a term that is listed twice occurs twice."""
    terms = pod.affinity
    return (
        *(TermKey(Carried.REQUIRED_AFFINITY, 0, term) for term in terms.required_affinity),
        *(TermKey(Carried.REQUIRED_ANTI_AFFINITY, 0, term) for term in terms.required_anti_affinity),
        *(TermKey(Carried.PREFERRED_AFFINITY, weight, term) for term, weight in terms.preferred_affinity),
        *(TermKey(Carried.PREFERRED_ANTI_AFFINITY, weight, term) for term, weight in terms.preferred_anti_affinity),
    )
