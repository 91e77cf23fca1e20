"""Counts of pods per row, by selector and by carried term, without looping over pods.

From added and removed pods to counts per row. Pods are grouped by namespace and labels; two kinds of interned
questions own counts:

* `PodMatch`: pods in these namespaces that all these selectors match, with or without terminating ones. A new question
  is matched with every group once; afterwards each added or removed pod updates the questions that select its group.
* `CarriedTerm`: pods that carry an affinity term, for the symmetric rules: which terms select an incoming pod.

Counts are sparse (row -> count). Questions exist as long as a plugin's question references them: the registry has weak
references.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import Selector
from kubesched.core.cluster.affinity_terms import NO_TERMS, AffinityTerm
from kubesched.core.cluster.pod_info import PodInfo

ALL_NAMESPACES: frozenset[str] | None = None
K = TypeVar("K")
Labels = tuple[tuple[str, str], ...]


class Carried(IntEnum):
    """The list of a pod's affinity that has a term."""

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


class MatchKey(NamedTuple):
    """The identity of a question about pods; `namespaces` None means all of them."""

    namespaces: frozenset[str] | None
    selectors: tuple[Selector, ...]
    live_only: bool


class PodMatch:
    """The number of matching pods on each row."""

    __slots__ = ("__weakref__", "key", "number", "rows")

    def __init__(self, key: MatchKey, number: int) -> None:
        self.key = key
        self.number = number
        self.rows: dict[int, int] = {}

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Return whether a live pod with these labels is counted."""
        namespaces = self.key.namespaces
        if namespaces is not None and namespace not in namespaces:
            return False
        return all(selector.matches(labels) for selector in self.key.selectors)

    def column(self, size: int) -> NDArray[np.int64]:
        """Return a new dense column of the counts."""
        column = np.zeros(size, np.int64)
        if self.rows:
            column[list(self.rows.keys())] = list(self.rows.values())
        return column


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
        self.answers: tuple[int, ...] = ()
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
        self._matches: WeakValueDictionary[MatchKey, PodMatch] = WeakValueDictionary()
        self._by_number: WeakValueDictionary[int, PodMatch] = WeakValueDictionary()
        self._next_number = 0
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
        if self._by_number:
            for number in self._answers(group):
                match = self._by_number.get(number)
                if match is not None and not (terminating and match.key.live_only):
                    _bump(match.rows, row, sign)
        if pod.digest.affinity is not NO_TERMS:
            for key in pod.derive(carried_terms):
                self._carry(key, row, sign)

    def _answers(self, group: LabelGroup) -> tuple[int, ...]:
        """Return the questions that select a group; each question is matched with a group once."""
        if group.answers_version != self._next_number:
            known = self._by_number
            new: Sequence[int] = range(group.answers_version, self._next_number)
            if len(new) > len(known):
                new = [number for number in list(known) if number >= group.answers_version]
            selecting = (
                number
                for number in new
                if (match := known.get(number)) is not None and match.selects(group.namespace, group.labels)
            )
            group.answers = (*(number for number in group.answers if number in known), *selecting)
            group.answers_version = self._next_number
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
            match = PodMatch(key, self._next_number)
            self._next_number += 1
            for group in self._groups_in(namespaces):
                if match.selects(group.namespace, group.labels):
                    for row, count in group.live.items():
                        _bump(match.rows, row, count)
                    if not live_only:
                        for row, count in group.terminating.items():
                            _bump(match.rows, row, count)
            self._matches[key] = match
            self._by_number[match.number] = match
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
