"""Why no node is feasible: the plugins that rejected nodes, their reasons and how often each was given.

From an evaluation to the unschedulable plugins, by which the pod is requeued, and the message of the pod's condition.
"""

from collections.abc import Iterable

import msgspec
import numpy as np

from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.results.messages import fit_error_message, verdict_reasons
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import Code, Status


class Diagnosis(msgspec.Struct, frozen=True):
    """The plugins that rejected a pod, and the reasons with the number of nodes each was given for."""

    unschedulable_plugins: frozenset[str]
    reason_counts: dict[str, int]
    pre_filter_message: str
    node_count: int
    # the rejecting plugins that returned PENDING
    pending_plugins: frozenset[str] = frozenset()

    def message(self, post_filter_message: str = "") -> str:
        """Return the text of the pod's condition."""
        return fit_error_message(self.node_count, self.reason_counts, self.pre_filter_message, post_filter_message)


def message_of(verdicts: NodeVerdicts, diagnosis: Diagnosis, post_filter_message: str) -> str:
    """Return the text of the condition of a pod with these verdicts."""
    known: str | None = verdicts.remembered.get(post_filter_message)
    if known is None:
        known = verdicts.remembered[post_filter_message] = diagnosis.message(post_filter_message)
    return known


def diagnose(evaluation: Evaluation, verdicts: NodeVerdicts) -> Diagnosis:
    """Return why the judged nodes (or all, if PreFilter rejected the pod) are not feasible."""
    known: Diagnosis | None = verdicts.remembered.get(Diagnosis)
    if known is None:
        known = verdicts.remembered[Diagnosis] = _diagnose(evaluation, verdicts)
    return known


def _diagnose(evaluation: Evaluation, verdicts: NodeVerdicts) -> Diagnosis:
    pre = evaluation.pre_filtered
    node_count = evaluation.node_count
    if pre.rejection is not None:
        blamed = {pre.rejection.plugin} - {""} or set(pre.narrowing)
        return Diagnosis(frozenset(blamed), {}, pre.rejection.message, node_count, pending((pre.rejection,)))
    present = evaluation.present()
    judged = present if verdicts.judged is None else present & verdicts.judged
    objections = [verdicts.statuses[index] for index in np.unique(verdicts.ids[judged]).tolist()]
    plugins = {status.plugin for status in objections if status.rejected}
    reasons = verdict_reasons(verdicts, present)
    return Diagnosis(frozenset(plugins | set(pre.narrowing)), reasons, "", node_count, pending(objections))


def pending(statuses: Iterable[Status]) -> frozenset[str]:
    """Return the names of the plugins with a status PENDING."""
    return frozenset(status.plugin for status in statuses if status.code is Code.PENDING)
