"""How much memory a pod's specification keeps, with all that is derived from it.

From a specification to bytes. Parsed selectors, keys, questions and reasons are far larger than the text that a user
writes, so each thing that is written counts as much as was measured: `python -m benchmarks.hostile` compares.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from kubesched.api.meta import LabelSelector
from kubesched.api.pods import NodeAffinity, NodeSelectorRequirement, PodAffinity, PodAffinityTerm, PodSpec

# Estimates in bytes. A struct: this factor times the bytes of its encoding.
ENCODED: Final = 4
# the minimum for a pod
POD: Final = 4096
# a spread constraint or a term of pod affinity, with its counts
TERM: Final = 4096
# a name: of a resource, a label, a container, a port, a claim, a volume, a taint
NAME: Final = 1024
# one of the values of an expression
VALUE: Final = 256


def kept_by_spec(spec: PodSpec, terms: int, encoded: int) -> int:
    """Estimate the bytes kept for a specification with the given number of terms and encoded bytes."""
    names = len(spec.node_selector or ()) + len(spec.tolerations) + len(spec.resource_claims) + len(spec.volumes)
    for container in (*spec.containers, *spec.init_containers):
        asked = container.resources
        names += 1 + len(asked.requests) + len(asked.limits) + len(container.ports) + len(asked.claims)
    kept = POD + ENCODED * encoded + NAME * names + TERM * terms
    for constraint in spec.topology_spread_constraints:
        kept += _selector(constraint.label_selector) + NAME * len(constraint.match_label_keys)
    affinity = spec.affinity
    if affinity is not None:
        kept += sum(map(_term, _affinity_terms(affinity.pod_affinity)))
        kept += sum(map(_term, _affinity_terms(affinity.pod_anti_affinity)))
        if affinity.node_affinity is not None:
            kept += _node_affinity(affinity.node_affinity)
    return kept


def pod_terms(spec: PodSpec) -> int:
    """Count the spread constraints and the terms of pod affinity: each may have separate columns."""
    terms = len(spec.topology_spread_constraints)
    if spec.affinity is None:
        return terms
    for part in (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity):
        if part is not None:
            terms += len(part.required_during_scheduling_ignored_during_execution)
            terms += len(part.preferred_during_scheduling_ignored_during_execution)
    return terms


def _affinity_terms(part: PodAffinity | None) -> Iterable[PodAffinityTerm]:
    if part is None:
        return ()
    preferred = part.preferred_during_scheduling_ignored_during_execution
    return chain(
        part.required_during_scheduling_ignored_during_execution, (term.pod_affinity_term for term in preferred)
    )


def _term(term: PodAffinityTerm) -> int:
    keys = len(term.match_label_keys) + len(term.mismatch_label_keys)
    kept = _selector(term.label_selector) + _selector(term.namespace_selector)
    return kept + NAME * keys + VALUE * len(term.namespaces)


def _node_affinity(affinity: NodeAffinity) -> int:
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
    terms = (*(required.node_selector_terms if required is not None else ()), *(each.preference for each in preferred))
    return sum(NAME + _expressions(term.match_expressions) + _expressions(term.match_fields) for term in terms)


def _selector(selector: LabelSelector | None) -> int:
    if selector is None:
        return 0
    expressions = selector.match_expressions
    values = sum(len(expression.values) for expression in expressions)
    return NAME * (len(selector.match_labels) + len(expressions)) + VALUE * values


def _expressions(expressions: Sequence[NodeSelectorRequirement]) -> int:
    return NAME * len(expressions) + VALUE * sum(len(expression.values or ()) for expression in expressions)
