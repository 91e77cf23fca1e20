"""Node selectors: terms over a node's labels and its name, compiled once and matched often.

From NodeSelector and PreferredSchedulingTerm structs and nodeSelector maps to immutable, hashable objects with
`matches(labels, name)`.

Invariants: terms are alternatives, the expressions of a term all hold; a term without expressions is dropped; a term
that does not parse never matches and keeps its problems, so that a caller may be strict (`problems`, `error`) or, as
required affinity is for pods, lenient.
"""

# upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go (v1.36)

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kubesched.api import labels
from kubesched.api.field_errors import aggregate, child, index, invalid, not_supported
from kubesched.api.labels import InvalidSelectorError, Requirement, Selector
from kubesched.api.pods import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodSpec,
    PreferredSchedulingTerm,
)

NAME_FIELD: Final = "metadata.name"
"""The only node field that selectors know; any other field is the empty text."""

_LABEL_OPERATORS = {
    "In": labels.IN,
    "NotIn": labels.NOT_IN,
    "Exists": labels.EXISTS,
    "DoesNotExist": labels.DOES_NOT_EXIST,
    "Gt": labels.GREATER_THAN,
    "Lt": labels.LESS_THAN,
}
_FIELD_OPERATORS = ("In", "NotIn")


class FieldCheck(msgspec.Struct, frozen=True, gc=False):
    """One requirement on a node field: that it has the value, or that it has not."""

    key: str
    value: str
    wanted: bool

    def matches(self, name: str) -> bool:
        """Return whether a node of that name satisfies the requirement."""
        return ((name if self.key == NAME_FIELD else "") == self.value) == self.wanted


class CompiledTerm(msgspec.Struct, frozen=True, cache_hash=True):
    """A compiled term, or the problems for which it never matches."""

    labels: Selector = labels.EVERYTHING
    fields: tuple[FieldCheck, ...] = ()
    problems: tuple[str, ...] = ()

    def matches(self, node_labels: Mapping[str, str], name: str) -> bool:
        """Return whether a node with these labels and this name satisfies the whole term."""
        if self.problems or not self.labels.matches(node_labels):
            return False
        # A node without a name has no fields; then requirements on fields are not checked.
        return not name or all(check.matches(name) for check in self.fields)


class CompiledNodeSelector(msgspec.Struct, frozen=True, cache_hash=True):
    """Alternative terms, of which one has to match; without terms it matches no node."""

    terms: tuple[CompiledTerm, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the problems of all terms."""
        return tuple(problem for term in self.terms for problem in term.problems)

    @property
    def error(self) -> str:
        """Return the error of strict parsing, or the empty text."""
        return aggregate(self.problems)

    @property
    def keys(self) -> frozenset[str]:
        """Return the label keys that the answer depends on."""
        return frozenset(key for term in self.terms for key in term.labels.keys)

    def matches(self, node_labels: Mapping[str, str], name: str) -> bool:
        """Return whether a node with these labels and this name satisfies one of the terms."""
        return any(term.matches(node_labels, name) for term in self.terms)

    def match_error(self, node_labels: Mapping[str, str], name: str) -> str:
        """Return the parse problems if no term matches the node, or the empty text."""
        return "" if self.matches(node_labels, name) else self.error


class RequiredNodeAffinity(msgspec.Struct, frozen=True, cache_hash=True):
    """The requirements of a pod on its node: both its nodeSelector map and its required node affinity."""

    labels: Selector = labels.EVERYTHING
    terms: CompiledNodeSelector | None = None

    @property
    def keys(self) -> frozenset[str]:
        """Return the label keys that the answer depends on."""
        return self.labels.keys | self.terms.keys if self.terms is not None else self.labels.keys

    def matches(self, node_labels: Mapping[str, str], name: str) -> bool:
        """Return whether a node with these labels and this name satisfies both; terms that do not parse never match."""
        return self.labels.matches(node_labels) and (self.terms is None or self.terms.matches(node_labels, name))

    def match_error(self, node_labels: Mapping[str, str], name: str) -> str:
        """Return the parse problems if the nodeSelector matches but no term does, or the empty text."""
        if self.terms is None or not self.labels.matches(node_labels):
            return ""
        return self.terms.match_error(node_labels, name)


class PreferredTerms(msgspec.Struct, frozen=True, cache_hash=True):
    """Terms that add their weight to the score of the nodes they match."""

    terms: tuple[tuple[int, CompiledTerm], ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """Return the label keys that the score depends on."""
        return frozenset(key for _, term in self.terms for key in term.labels.keys)

    def score(self, node_labels: Mapping[str, str], name: str) -> int:
        """Return the sum of the weights of the terms that match the node."""
        return sum(weight for weight, term in self.terms if term.matches(node_labels, name))


def compile_node_selector(selector: NodeSelector, path: str = "") -> CompiledNodeSelector:
    """Return the compiled selector; problems stay in its terms."""
    terms_path = child(path, "nodeSelectorTerms")
    return CompiledNodeSelector(
        tuple(
            compile_term(term, index(terms_path, i))
            for i, term in enumerate(selector.node_selector_terms)
            if not _is_empty(term)
        )
    )


def parse_node_selector(selector: NodeSelector, path: str = "") -> CompiledNodeSelector:
    """Return the compiled selector, or raise InvalidSelectorError if a term does not parse."""
    compiled = compile_node_selector(selector, path)
    if compiled.error:
        raise InvalidSelectorError(compiled.error)
    return compiled


def parse_preferred_terms(terms: Iterable[PreferredSchedulingTerm], path: str = "") -> PreferredTerms:
    """Return the weighted terms, or raise InvalidSelectorError if one with a weight does not parse."""
    compiled = tuple(
        (term.weight, compile_term(term.preference, index(path, i)))
        for i, term in enumerate(terms)
        if term.weight != 0 and not _is_empty(term.preference)
    )
    if problems := [problem for _, term in compiled for problem in term.problems]:
        raise InvalidSelectorError(aggregate(problems))
    return PreferredTerms(compiled)


def required_node_affinity(spec: PodSpec) -> RequiredNodeAffinity:
    """Return the requirements of a pod on its node."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return RequiredNodeAffinity(
        labels.selector_from_set(spec.node_selector or {}),
        compile_node_selector(required) if required is not None else None,
    )


def compile_term(term: NodeSelectorTerm, path: str = "") -> CompiledTerm:
    """Return the compiled term, with its problems; without any expression it matches every node."""
    requirements, problems = _label_requirements(term.match_expressions, child(path, "matchExpressions"))
    checks, field_problems = _field_checks(term.match_fields, child(path, "matchFields"))
    problems += field_problems
    if problems:
        return CompiledTerm(problems=tuple(problems))
    return CompiledTerm(labels.selector_of(requirements), tuple(checks))


def _label_requirements(
    expressions: Sequence[NodeSelectorRequirement], path: str
) -> tuple[list[Requirement], list[str]]:
    """Return the requirements on labels that parse, and the problems of the rest."""
    requirements: list[Requirement] = []
    problems: list[str] = []
    for i, expression in enumerate(expressions):
        here = index(path, i)
        operator = _LABEL_OPERATORS.get(expression.operator)
        if operator is None:
            problems.append(not_supported(child(here, "operator"), expression.operator, tuple(_LABEL_OPERATORS)))
            continue
        wrong = labels.requirement_problems(expression.key, operator, expression.values, here)
        if not wrong:
            requirements.append(Requirement(expression.key, operator, tuple(expression.values or ())))
        problems += wrong
    return requirements, problems


def _field_checks(expressions: Sequence[NodeSelectorRequirement], path: str) -> tuple[list[FieldCheck], list[str]]:
    """Return the requirements on fields that parse, and the problems of the rest."""
    checks: list[FieldCheck] = []
    problems: list[str] = []
    for i, expression in enumerate(expressions):
        here = index(path, i)
        values = expression.values or ()
        if expression.operator not in _FIELD_OPERATORS:
            problems.append(not_supported(child(here, "operator"), expression.operator, _FIELD_OPERATORS))
        elif len(values) != 1:
            problems.append(invalid(child(here, "values"), expression.values, "must have one element"))
        else:
            checks.append(FieldCheck(expression.key, values[0], expression.operator == "In"))
    return checks, problems


def _is_empty(term: NodeSelectorTerm) -> bool:
    """Return whether a term has no expression; such a term selects no node."""
    return not term.match_expressions and not term.match_fields
