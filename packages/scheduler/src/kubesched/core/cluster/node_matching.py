"""Node selectors and tolerations, evaluated for many rows at once.

From compiled selectors and tolerations to masks. Each distinct value (label value, taint set) is evaluated once and
gathered. The result for a row without a Node object has no meaning. Masks are new arrays, which the caller may change.
A requirement on a key or name that no node has gives the same result for all rows and needs no array: users can write
thousands of these.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api import labels
from kubesched.api.labels import Requirement, Selector
from kubesched.api.node_selectors import (
    NAME_FIELD,
    CompiledNodeSelector,
    CompiledTerm,
    FieldCheck,
    RequiredNodeAffinity,
    required_node_affinity,
)
from kubesched.api.pods import Taint, Toleration
from kubesched.api.tolerations import first_untolerated, forbids_scheduling
from kubesched.core.cluster.columns import ABSENT, LabelColumn, Rows
from kubesched.core.cluster.interning import Interner
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable

NodeMatcher = RequiredNodeAffinity | CompiledNodeSelector | CompiledTerm
K = TypeVar("K", bound=Hashable)

_ANY_OF = (labels.IN, labels.EQUALS, labels.DOUBLE_EQUALS)
_NONE_OF = (labels.NOT_IN, labels.NOT_EQUALS)
# With more requirements than this, it pays to stop as soon as no row is left.
FEW = 8
# the operators that a node without the label satisfies
_HELD_WITHOUT_LABEL = frozenset((labels.DOES_NOT_EXIST, *_NONE_OF))


def node_affinity_of(pod: PodInfo) -> RequiredNodeAffinity:
    """Return the nodeSelector and the required node affinity of a pod; parsed once per template by `pod.derive`."""
    return required_node_affinity(pod.spec)


def matching_rows(table: NodeTable, selector: NodeMatcher, rows: Rows) -> NDArray[np.bool_]:
    """Return the rows that the selector matches; equal to `selector.matches` for every node."""
    if isinstance(selector, CompiledTerm):
        return _rows_of_term(table, selector, rows)
    if isinstance(selector, CompiledNodeSelector):
        return _rows_of_terms(table, selector, rows)
    mask = rows_with_labels(table, selector.labels, rows)
    if selector.terms is not None:
        mask &= _rows_of_terms(table, selector.terms, rows)
    return mask


def weights_of_rows(table: NodeTable, terms: Iterable[tuple[int, CompiledTerm]], rows: Rows) -> NDArray[np.int64]:
    """Return for some rows the sum of the weights of the terms that match."""
    sums = np.zeros(count_of(rows), np.int64)
    everywhere = 0
    for weight, term in terms:
        answer = _answer_everywhere(table, term)
        if answer is None:
            sums += weight * _rows_of_term(table, term, rows)
        elif answer:
            everywhere += weight
    return sums + everywhere if everywhere else sums


def rows_with_labels(table: NodeTable, selector: Selector, rows: Rows) -> NDArray[np.bool_]:
    """Return the rows whose node labels satisfy a label selector."""
    if selector.matches_nothing:
        return np.zeros(count_of(rows), np.bool_)
    mask = np.ones(count_of(rows), np.bool_)
    exists, many = table.labels.exists, len(selector.requirements) > FEW
    for requirement in selector.requirements:
        if exists(requirement.key):
            mask &= _rows_of_requirement(table, requirement, rows)
            if many and not mask.any():
                break
        elif requirement.operator not in _HELD_WITHOUT_LABEL:
            return np.zeros(count_of(rows), np.bool_)
    return mask


def tolerated_rows(
    table: NodeTable,
    tolerations: tuple[Toleration, ...],
    rows: Rows,
    concerns: Callable[[Taint], bool] = forbids_scheduling,
    comparison: bool = False,
) -> NDArray[np.bool_]:
    """Return the rows on which every taint for which `concerns` holds is tolerated."""

    def tolerated(taints: tuple[Taint, ...]) -> bool:
        return first_untolerated(taints, tolerations, concerns, comparison) is None

    return by_distinct(table.taints.codes[rows], table.taints.sets, tolerated, np.bool_)


def by_distinct(
    codes: NDArray[np.int32], interned: Interner[K], function: Callable[[K], Any], dtype: Any
) -> NDArray[Any]:
    """Return `function` of the value of each code, called once per value that occurs."""
    answers = np.zeros(len(interned), dtype)
    for code in np.flatnonzero(np.bincount(codes, minlength=len(interned))).tolist():
        answers[code] = function(interned.values[code])
    return answers[codes]


def count_of(rows: Rows) -> int:
    """Return how many rows there are."""
    return rows.stop - (rows.start or 0) if isinstance(rows, slice) else len(rows)


def indices_of(rows: Rows) -> NDArray[np.intp]:
    """Return rows as an array of their numbers, not to be changed."""
    return np.arange(rows.start or 0, rows.stop) if isinstance(rows, slice) else rows


def _rows_of_terms(table: NodeTable, selector: CompiledNodeSelector, rows: Rows) -> NDArray[np.bool_]:
    mask = np.zeros(count_of(rows), np.bool_)
    for term in selector.terms:
        answer = _answer_everywhere(table, term)
        if answer is None:
            mask |= _rows_of_term(table, term, rows)
        elif answer:
            return np.ones(count_of(rows), np.bool_)
    return mask


def _answer_everywhere(table: NodeTable, term: CompiledTerm) -> bool | None:
    """Return whether a term matches, if that is the same for all nodes; None if nodes may differ."""
    if term.problems or term.labels.matches_nothing:
        return False
    differ = False
    exists, row_of = table.labels.exists, table.row_of
    for requirement in term.labels.requirements:
        if exists(requirement.key):
            differ = True
        elif requirement.operator not in _HELD_WITHOUT_LABEL:
            return False
    for check in term.fields:
        if check.wanted and (check.key != NAME_FIELD or check.value not in row_of) and check.value:
            return False
        differ = True
    return None if differ else True


def _rows_of_term(table: NodeTable, term: CompiledTerm, rows: Rows) -> NDArray[np.bool_]:
    if term.problems:
        return np.zeros(count_of(rows), np.bool_)
    mask = rows_with_labels(table, term.labels, rows)
    for check in term.fields:
        mask &= _rows_of_field(table, check, rows)
    return mask


def _rows_of_requirement(table: NodeTable, requirement: Requirement, rows: Rows) -> NDArray[np.bool_]:
    column = table.label(requirement.key)
    codes = column.codes[rows]
    operator = requirement.operator
    mask: NDArray[np.bool_]
    if operator == labels.EXISTS:
        mask = codes != ABSENT
    elif operator == labels.DOES_NOT_EXIST:
        mask = codes == ABSENT
    else:
        mask = _answers_by_code(column, requirement)[codes]
    return mask


def _answers_by_code(column: LabelColumn, requirement: Requirement) -> NDArray[np.bool_]:
    """Return for each code of a label whether its value satisfies the requirement."""
    if requirement.operator in _ANY_OF or requirement.operator in _NONE_OF:
        answers = np.full(len(column), requirement.operator in _NONE_OF)
        named = [code for value in requirement.values if (code := column.of_value.get(value)) is not None]
        answers[named] = requirement.operator in _ANY_OF
    else:
        selector = Selector((requirement,))
        answers = np.array([selector.matches({column.key: value}) for value in column.values])
        answers[ABSENT] = selector.matches({})
    return answers


def _rows_of_field(table: NodeTable, check: FieldCheck, rows: Rows) -> NDArray[np.bool_]:
    if check.key != NAME_FIELD:
        # the name does not matter: other fields are empty on every node
        return np.full(count_of(rows), check.matches(""))
    row = table.row_of.get(check.value, -1)
    mask: NDArray[np.bool_] = (indices_of(rows) == row) == check.wanted
    return mask
