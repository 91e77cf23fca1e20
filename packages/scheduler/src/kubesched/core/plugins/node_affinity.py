"""NodeAffinity: nodeSelector and node affinity, required and preferred, of the pod and of the profile.

From compiled selectors to a rejection (required) and the weights of matching terms (preferred), over label codes.
PreFilter narrows the search where every required term names its nodes. A required term that does not parse matches no
node; a preferred one is an error.
"""

# upstream: nodeaffinity/node_affinity.go (v1.36)

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api import pods
from kubesched.api.labels import InvalidSelectorError
from kubesched.api.node_selectors import (
    NAME_FIELD,
    CompiledNodeSelector,
    PreferredTerms,
    RequiredNodeAffinity,
    parse_node_selector,
    parse_preferred_terms,
)
from kubesched.api.nodes import Node
from kubesched.config.args import NodeAffinityArgs
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.node_matching import matching_rows, node_affinity_of, weights_of_rows
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.columns.normalizing import normalize_to_highest
from kubesched.core.framework.plugin import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import SKIP, Status, error, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_rows

_OF_POD = unresolvable("node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
_CONFLICT = unresolvable("pod affinity terms conflict")


class Required(NamedTuple):
    """The required affinity of a pod, None without any; and the nodes it names, if every term names some."""

    affinity: RequiredNodeAffinity | None
    node_names: frozenset[str] | None


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes that required terms do not match, and scores nodes by preferred terms."""

    name = "NodeAffinity"
    # A term may match the node's name, which changes when a row is recycled.
    reads = Reads.LABELS | Reads.PRESENCE
    key_of_template = True
    score_reads = Reads.LABELS | Reads.PRESENCE
    score_key_of_template = True

    def __init__(self, args: NodeAffinityArgs | None = None) -> None:
        # required terms of the profile, as written
        self.added_terms: tuple[pods.NodeSelectorTerm, ...] = ()
        self._added: CompiledNodeSelector | None = None
        self._added_preferred: PreferredTerms | None = None
        affinity = args.added_affinity if args is not None else None
        if affinity is None:
            return
        required = affinity.required_during_scheduling_ignored_during_execution
        if required is not None:
            selector = _as_selector(required.node_selector_terms or ())
            self.added_terms, self._added = selector.node_selector_terms, parse_node_selector(selector)
        if preferred := affinity.preferred_during_scheduling_ignored_during_execution:
            terms = msgspec.convert(preferred, tuple[pods.PreferredSchedulingTerm, ...], from_attributes=True)
            self._added_preferred = parse_preferred_terms(terms)

    # -- Filter

    def key(self, pod: PodInfo) -> Hashable:
        """Return the required part of the pod's node affinity with its nodeSelector."""
        return pod.derive(required_of)

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> PreFilterResult | Status | None:
        """Return Skip if nothing is required, or the nodes that the required terms name."""
        required = pod.derive(required_of)
        if required.affinity is None and self._added is None:
            return SKIP
        if required.node_names is None:
            return None
        return PreFilterResult(required.node_names) if required.node_names else _CONFLICT

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if the profile's affinity or the pod's is not met."""
        labels, name = node.labels, node.name
        if self._added is not None and not self._added.matches(labels, name):
            return ENFORCED
        affinity = pod.derive(required_of).affinity
        return None if affinity is None or affinity.matches(labels, name) else _OF_POD

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes that the profile's affinity or the pod's does not match."""
        objections = []
        table, rows = table_rows(nodes)
        if self._added is not None:
            objections.append((~matching_rows(table, self._added, rows), ENFORCED))
        affinity = pod.derive(required_of).affinity
        if affinity is not None:
            objections.append((~matching_rows(table, affinity, rows), _OF_POD))
        return Verdict.first_of(len(nodes), *objections)

    # -- Score

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the preferred part of the pod's node affinity."""
        return pod.derive(preferred_of)

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Return Skip if nothing is preferred, or the error of the preferred terms."""
        preferred = pod.derive(preferred_of)
        if isinstance(preferred, Status):
            return preferred
        return SKIP if preferred is None and self._added_preferred is None else None

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return the sum of the weights of the terms that match the node."""
        preferred = self._preferred(pod)
        if isinstance(preferred, Status):
            return preferred
        labels, name = node.labels, node.name
        return sum(terms.score(labels, name) for terms in preferred)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return that sum for each node."""
        preferred = self._preferred(pod)
        if isinstance(preferred, Status):
            return preferred
        table, rows = table_rows(nodes)
        return weights_of_rows(table, [term for terms in preferred for term in terms.terms], rows)

    def _preferred(self, pod: PodInfo) -> Sequence[PreferredTerms] | Status:
        preferred = pod.derive(preferred_of)
        if isinstance(preferred, Status):
            return preferred
        return [terms for terms in (self._added_preferred, preferred) if terms is not None]

    def normalize_scores(
        self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]
    ) -> NDArray[np.int64] | Status:
        """Return 100 for the best match; negative weights may leave scores out of range."""
        return normalize_to_highest(scores)

    # -- events

    def events_to_register(self) -> Sequence[Registration]:
        """Return new nodes and changed labels."""
        event = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        return (Registration(event, self.after_node_change),)

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> Hint:
        """Return whether the node matches and did not before; raises InvalidSelectorError for a malformed term."""
        if self._added is not None and not self._added.matches(new.metadata.labels, new.metadata.name):
            return Hint.QUEUE_SKIP
        affinity = pod.derive(node_affinity_of)
        if not _matches(affinity, new) or (old is not None and _matches(affinity, old)):
            return Hint.QUEUE_SKIP
        return Hint.QUEUE


def required_of(pod: PodInfo) -> Required:
    """Return the required affinity of a pod."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    if required is None:
        # an empty nodeSelector counts, too
        asks = pod.spec.node_selector is not None
        return Required(pod.derive(node_affinity_of) if asks else None, None)
    return Required(pod.derive(node_affinity_of), named_nodes(required.node_selector_terms))


def named_nodes(terms: Iterable[pods.NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the names that the terms allow, or None if one of them allows any name."""
    names: set[str] = set()
    some = False
    for term in terms:
        of_term: frozenset[str] | None = None
        for field in term.match_fields:
            if field.key == NAME_FIELD and field.operator == "In":
                values = frozenset(field.values or ())
                of_term = values if of_term is None else of_term & values
        if of_term is None:
            return None
        some = True
        names |= of_term
    return frozenset(names) if some else None


def preferred_of(pod: PodInfo) -> PreferredTerms | Status | None:
    """Return the preferred terms of a pod, their error, or None without any."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    preferred = affinity.preferred_during_scheduling_ignored_during_execution if affinity is not None else None
    if preferred is None:
        return None
    try:
        return parse_preferred_terms(preferred)
    except InvalidSelectorError as problem:
        return error(str(problem))


def _as_selector(terms: Iterable[object]) -> pods.NodeSelector:
    """Return a selector of the configuration as one of pods."""
    converted = msgspec.convert(tuple(terms), tuple[pods.NodeSelectorTerm, ...], from_attributes=True)
    return pods.NodeSelector(node_selector_terms=converted)


def _matches(affinity: RequiredNodeAffinity, node: Node) -> bool:
    labels, name = node.metadata.labels, node.metadata.name
    if problem := affinity.match_error(labels, name):
        raise InvalidSelectorError(problem)
    return affinity.matches(labels, name)
