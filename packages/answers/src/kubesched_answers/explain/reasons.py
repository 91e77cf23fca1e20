"""Why nodes do not take a pod, by reason: the message of the pod's condition, node by node.

From the verdicts of an evaluation to `Reason`s. As in the message, a node counts for the first filter that rejects
it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import Code, Status
from kubesched_answers.explain.pod_answer import Reason, RejectingTerm
from kubesched_answers.explain.rejecting_terms import RejectingTerms


def reasons_of(
    evaluation: Evaluation, verdicts: NodeVerdicts, terms: RejectingTerms | None = None, *, named: bool = True
) -> tuple[Reason, ...]:
    """Return why nodes do not take the pod, the most frequent reason first; with `named` each reason lists its
    nodes.
    """
    rejection = evaluation.pre_filtered.rejection
    if rejection is not None:
        return (Reason(rejection.message, rejection.plugin, evaluation.node_count, (), _may_help(rejection)),)
    rows: dict[tuple[str, str, bool], list[NDArray[np.intp]]] = {}
    for status, found in _by_status(evaluation.present(), verdicts):
        for reason in status.reasons:
            rows.setdefault((reason, status.plugin, _may_help(status)), []).append(found)
    names = evaluation.table.names
    found_reasons = []
    for (message, plugin, helps), parts in rows.items():
        nodes = sorted(names[row] for part in parts for row in part.tolist()) if named else ()
        by_term = tuple(_by_term(evaluation, terms, plugin, message, parts)) if terms is not None else ()
        found_reasons.append(Reason(message, plugin, sum(map(len, parts)), tuple(nodes), helps, by_term))
    return tuple(sorted(found_reasons, key=lambda reason: (-reason.count, reason.message, reason.plugin)))


def _by_term(
    evaluation: Evaluation, terms: RejectingTerms, plugin: str, message: str, parts: list[NDArray[np.intp]]
) -> Iterator[RejectingTerm]:
    """Yield the terms of the pod behind a reason, with the rows that each rejects."""
    names = evaluation.table.names
    for term, mask in terms.of_reason(plugin, message):
        nodes = tuple(sorted(names[row] for part in parts for row in part[mask[part]].tolist()))
        if nodes:
            yield RejectingTerm(term.text, term.field, len(nodes), nodes)


def _by_status(present: NDArray[np.bool_], verdicts: NodeVerdicts) -> Iterator[tuple[Status, NDArray[np.intp]]]:
    """Return the statuses of the rows with a node, each with its rows."""
    judged = present if verdicts.judged is None else present & verdicts.judged
    for index in np.unique(verdicts.ids[judged]).tolist():
        yield verdicts.statuses[index], np.flatnonzero(judged & (verdicts.ids == index))
    others = np.flatnonzero(present & ~judged)
    if len(others):
        yield verdicts.absent, others


def _may_help(status: Status) -> bool:
    return status.code is Code.UNSCHEDULABLE
