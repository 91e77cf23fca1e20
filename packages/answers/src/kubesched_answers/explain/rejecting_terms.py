"""Which of several terms of a pod reject which nodes, found by trying.

From a pod to masks of rows, one a term of required pod affinity and anti-affinity, or a hard spread constraint. The
plugin judges the pod with one term alone. If only several terms together reject a node, it judges the pod without
each of them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.codec import decode, to_builtins
from kubesched.api.labels import InvalidSelectorError, from_label_selector
from kubesched.api.pods import Pod
from kubesched.core.cluster.affinity_terms import AffinityTerm
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.plugins.inter_pod_affinity.filtering import AFFINITY, ANTI_AFFINITY
from kubesched.core.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE
from kubesched.core.plugins.pod_topology_spread.hard_constraint import MISSING_LABEL, TOO_UNEVEN
from kubesched.model.cluster_model import ClusterModel

Rows = NDArray[np.bool_]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class TermKind(NamedTuple):
    """The terms of one list of a pod that a plugin judges together, and its reasons."""

    plugin: str
    reasons: frozenset[str]
    path: tuple[str, ...]
    # the test whether an entry of the list is such a term
    having: tuple[str, str] | None = None


NEAR = TermKind("InterPodAffinity", frozenset({AFFINITY.message}), ("spec", "affinity", "podAffinity", REQUIRED))
APART = TermKind(
    "InterPodAffinity", frozenset({ANTI_AFFINITY.message}), ("spec", "affinity", "podAntiAffinity", REQUIRED)
)
SPREAD = TermKind(
    "PodTopologySpread",
    frozenset({TOO_UNEVEN.message, MISSING_LABEL.message}),
    ("spec", "topologySpreadConstraints"),
    ("whenUnsatisfiable", DO_NOT_SCHEDULE),
)


class PodTerm(NamedTuple):
    """A term of a pod: its place in the list, its text, and its field."""

    place: int
    text: str
    field: str


class RejectingTerms:
    """Tries the terms of one pod, each kind once."""

    def __init__(self, model: ClusterModel, pod: PodInfo) -> None:
        self._model = model
        self._pod = pod
        self._alone: dict[TermKind, tuple[Rows, ...]] = {}

    def terms(self, kind: TermKind) -> tuple[PodTerm, ...]:
        """Return the pod's terms of a kind."""
        entries = _entries(to_builtins(self._pod.pod), kind)
        field = ".".join(kind.path)
        return tuple(
            PodTerm(place, _text(self._pod, kind, place, number), f"{field}[{place}]")
            for number, place in enumerate(_indices(entries, kind))
        )

    def of_reason(self, plugin: str, reason: str) -> tuple[tuple[PodTerm, Rows], ...]:
        """Return the terms behind a reason, each with the rows that it rejects; none unless there are several."""
        for kind in (NEAR, APART, SPREAD):
            if plugin == kind.plugin and reason in kind.reasons:
                terms = self.terms(kind)
                return tuple(zip(terms, self._rejected(kind, terms), strict=True)) if len(terms) > 1 else ()
        return ()

    def alone(self, kind: TermKind, row: int) -> list[int]:
        """Return the indices of the terms of a kind that reject a row alone."""
        terms = self.terms(kind)
        if len(terms) < 2:
            return list(range(len(terms)))
        return [number for number, mask in enumerate(self._rejected_alone(kind, terms)) if mask[row]]

    def _rejected_alone(self, kind: TermKind, terms: Sequence[PodTerm]) -> tuple[Rows, ...]:
        if kind not in self._alone:
            every = frozenset(term.place for term in terms)
            self._alone[kind] = tuple(self._tried(kind, every - {term.place}) for term in terms)
        return self._alone[kind]

    def _rejected(self, kind: TermKind, terms: Sequence[PodTerm]) -> tuple[Rows, ...]:
        """Return the rows that each term rejects alone; if none does, the rows that pass without it."""
        alone = self._rejected_alone(kind, terms)
        together = self._tried(kind, ())
        unclear = together & ~np.logical_or.reduce(alone)
        if not unclear.any():
            return alone
        left_out = [~self._tried(kind, (term.place,)) for term in terms]
        return tuple(mask | (unclear & passes) for mask, passes in zip(alone, left_out, strict=True))

    def _tried(self, kind: TermKind, without: Iterable[int]) -> Rows:
        """Return the rows that the plugin rejects for its reasons when some entries are removed from the pod's
        list.
        """
        document = to_builtins(self._pod.pod)
        entries = _entries(document, kind)
        for index in sorted(without, reverse=True):
            del entries[index]
        pod = decode(document)
        assert isinstance(pod, Pod), "the kind stays"
        evaluation = self._model.engine.evaluation_of(self._model.read(pod))
        rejected = np.zeros(evaluation.table.size, np.bool_)
        for question in evaluation.active_filters:
            if question.plugin.name == kind.plugin and question.rejection is None:
                ids = np.where(evaluation.present(), evaluation.column(question), 0)
                for index in np.unique(ids).tolist():
                    if kind.reasons & set(evaluation.statuses[index].reasons):
                        rejected |= ids == index
        return rejected


def _entries(document: Any, kind: TermKind) -> list[Any]:
    """Return the list of a pod's document that contains the terms."""
    for key in kind.path:
        document = document.get(key) or {}
    return document if isinstance(document, list) else []


def _indices(entries: Sequence[Any], kind: TermKind) -> list[int]:
    having = kind.having
    return [index for index, each in enumerate(entries) if having is None or each.get(having[0]) == having[1]]


def _text(pod: PodInfo, kind: TermKind, place: int, number: int) -> str:
    if kind is SPREAD:
        constraint = pod.spec.topology_spread_constraints[place]
        try:
            counted = str(from_label_selector(constraint.label_selector))
        except InvalidSelectorError:
            counted = "pods that cannot be selected"
        return f"spread of {counted} over {constraint.topology_key} (maxSkew {constraint.max_skew})"
    terms = pod.affinity.required_affinity if kind is NEAR else pod.affinity.required_anti_affinity
    return _affinity_text("affinity" if kind is NEAR else "anti-affinity", terms[number])


def _affinity_text(word: str, term: AffinityTerm) -> str:
    return f"pod {word} to {term.selector} in {term.topology_key}"
