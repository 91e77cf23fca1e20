"""Why a pod is pending, or why it is where it is.

From a model and a pod to a `PodAnswer`. The evaluation is the scheduler's own; parts that take longer (remedies) are
computed in modules of their own.
"""

import numpy as np

from kubesched.asking.explain.pod_answer import (
    ANOTHER_SCHEDULERS,
    ERROR,
    GATED,
    SCHEDULABLE,
    TERMINATING,
    UNSCHEDULABLE,
    PodAnswer,
    Reason,
)
from kubesched.asking.model import ClusterModel, gates_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.status import Code
from kubesched.core.scheduling.decision import decide


def explain_pod(model: ClusterModel, pod: PodInfo) -> PodAnswer:
    """Return the answer about a pod without a node."""
    profile = model.profile_of(pod)
    if profile is None:
        known = ", ".join(model.engine.profiles)
        message = f"the pod is for scheduler {pod.spec.scheduler_name!r}; the profiles here are {known}"
        return PodAnswer(pod.full_name, ANOTHER_SCHEDULERS, f"Pod {pod.full_name} is another scheduler's.", message)
    if pod.terminating:
        return PodAnswer(pod.full_name, TERMINATING, f"Pod {pod.full_name} is being deleted.", "")
    gates = gates_of(profile, pod)
    if gates:
        message = "; ".join(f"{status.plugin}: {status.message}" for status in gates)
        return PodAnswer(pod.full_name, GATED, f"Pod {pod.full_name} is held back: {message}.", message)
    evaluation = model.engine.evaluation_of(pod)
    decision = decide(evaluation, pick=lambda count: 0)
    if decision.node_name:
        summary = f"Pod {pod.full_name} fits: it goes to {decision.node_name}, one of {decision.feasible_nodes}."
        return PodAnswer(pod.full_name, SCHEDULABLE, summary, "", gaps=model.gaps)
    verdict = ERROR if decision.failure is not None else UNSCHEDULABLE
    summary = f"Pod {pod.full_name} fits on none of {evaluation.node_count} nodes."
    return PodAnswer(pod.full_name, verdict, summary, decision.message, _reasons(evaluation), gaps=model.gaps)


def _reasons(evaluation: Evaluation) -> tuple[Reason, ...]:
    """Return why nodes do not take the pod, the reason of most nodes first."""
    if evaluation.pre_filtered.rejection is not None:
        status = evaluation.pre_filtered.rejection
        return (Reason(status.message, status.plugin, evaluation.node_count, (), False),)
    verdicts, table = evaluation.verdicts(), evaluation.table
    nodes: dict[tuple[str, str, bool], list[str]] = {}
    for row in np.flatnonzero(evaluation.present()).tolist():
        status = verdicts.status(row)
        for reason in status.reasons:
            key = (reason, status.plugin, status.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
            nodes.setdefault(key, []).append(table.names[row])
    found = [
        Reason(message, plugin, len(names), tuple(sorted(names)), may_help)
        for (message, plugin, may_help), names in nodes.items()
    ]
    return tuple(sorted(found, key=lambda reason: (-reason.count, reason.message)))
