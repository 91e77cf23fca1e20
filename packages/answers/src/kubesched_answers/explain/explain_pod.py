"""Why a pod is pending, or why it is on its node.

From a model and a pod to a `PodAnswer`. The verdict, the message and the victims come from the scheduler's own
evaluation, PostFilter and cycle. The model is unchanged at the end.
"""

from dataclasses import replace
from typing import Any

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.building.profile import Profile
from kubesched.core.scheduling.decision import NO_NODES, decide
from kubesched.core.scheduling.diagnosis import diagnose
from kubesched.core.scheduling.outcomes import Failed
from kubesched.model.attempt_answers import PlacementAnswer
from kubesched.model.cluster_model import ClusterModel, gates_of, name_of_object
from kubesched.model.group_attempts import GATE, is_in_group
from kubesched.model.owners import Owners
from kubesched.model.placements import placement_of, sampling_gaps
from kubesched.model.preempting import preempting
from kubesched.model.rejections import Rejections
from kubesched.reports.answers import ObjectChange
from kubesched.reports.plain_words import counted, number
from kubesched_answers.explain.advice import nodes_to_bring_back
from kubesched_answers.explain.explain_group import explain_in_group, group_facts, rows_of_group, sentence_of
from kubesched_answers.explain.lacks import lacks_of, near_misses
from kubesched_answers.explain.pod_answer import (
    ANOTHER_SCHEDULERS,
    BOUND,
    ERROR,
    FINISHED,
    GATED,
    SCHEDULABLE,
    TERMINATING,
    UNSCHEDULABLE,
    NearMiss,
    PodAnswer,
    PodWaits,
    Reason,
    WakingEvent,
)
from kubesched_answers.explain.reasons import reasons_of
from kubesched_answers.explain.rejecting_terms import RejectingTerms
from kubesched_answers.explain.waking_events import waits_of
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.search import find_remedies

NEAREST = 5
_REMEDIED = (UNSCHEDULABLE, GATED, ANOTHER_SCHEDULERS)


def explain_named_pod(model: ClusterModel, full_name: str, *, remedied: bool = True) -> PodAnswer:
    """Return the answer about a pod of the cluster by `namespace/name`; raises UnknownObjectError.

    With `remedied=False` it leaves out remedies, which take longest to find.
    """
    if full_name not in model.pods:
        for obj in model.source.objects:
            if isinstance(obj, Pod) and obj.full_name == full_name and obj.terminal:
                summary = f"Pod {full_name} has finished: its phase is {obj.status.phase}."
                return _answer(model, model.read(obj), FINISHED, summary)
    return explain_pod(model, model.pod(full_name), remedied=remedied)


def explain_pod(model: ClusterModel, pod: PodInfo, *, remedied: bool = True) -> PodAnswer:
    """Return the answer about a pod, which may be absent from the cluster; with `remedied=False`, without
    remedies.
    """
    if is_in_group(model, pod) and pod.full_name not in model.pods:
        # it counts in its group
        with model.fork([ObjectChange(name_of_object(pod.pod), create=to_builtins(pod.pod))]):
            return explain_pod(model, model.pods[pod.full_name], remedied=remedied)
    found = _judged(model, pod)
    return replace(found, remedies=find_remedies(model, pod)) if remedied and found.verdict in _REMEDIED else found


def _judged(model: ClusterModel, pod: PodInfo) -> PodAnswer:
    """Return the answer about a pod without remedies."""
    name, profile = pod.full_name, model.profile_of(pod)
    if pod.spec.node_name:
        return _bound(model, pod, profile)
    if profile is None:
        known = ", ".join(model.engine.profiles)
        message = f"the pod is for scheduler {pod.spec.scheduler_name}; the profiles here are {known}"
        return _answer(model, pod, ANOTHER_SCHEDULERS, f"Pod {name} is another scheduler's: {message}.", message)
    if pod.terminating:
        return _answer(model, pod, TERMINATING, f"Pod {name} is being deleted and is not scheduled any more.")
    gates = gates_of(profile, pod)
    if gates:
        message = gates[0].message
        waits = waits_of(model, profile, {status.plugin for status in gates})
        reasons = tuple(Reason(status.message, status.plugin, 0, (), False) for status in gates)
        summary = f"Pod {name} is held back before scheduling: {'; '.join(status.message for status in gates)}."
        if is_in_group(model, pod):
            summary += f" {sentence_of(group_facts(model, pod))}"
        return _answer(model, pod, GATED, summary, message, reasons=reasons, waits=waits)
    if is_in_group(model, pod):
        found = explain_in_group(model, pod, profile)
        return _answer(model, pod, found.verdict, found.summary, found.message, **found.parts)
    return _pending(model, pod, profile)


def _pending(model: ClusterModel, pod: PodInfo, profile: Profile) -> PodAnswer:
    """Return the answer about a pod that the scheduler tries."""
    evaluation = model.engine.evaluation_of(pod)
    decision = decide(evaluation, pick=lambda count: 0)
    failure = decision.failure
    if failure is NO_NODES:
        waits = PodWaits((WakingEvent("", "NodeAdd", "a node is added"),))
        summary = f"Pod {pod.full_name} fits nowhere: the cluster has no nodes."
        return _answer(model, pod, UNSCHEDULABLE, summary, NO_NODES.message, waits=waits)
    if failure is not None:
        summary = f"The scheduler cannot judge pod {pod.full_name}: {failure.message}. It tries again after a backoff."
        return _answer(model, pod, ERROR, summary, failure.message)
    if not decision.node_name:
        return _unschedulable(model, pod, profile, evaluation)
    placement = placement_of(evaluation, decision.node_name, again=False)
    failed = _failure_to_commit(model, pod)
    if failed is not None:
        plugins = ", ".join(sorted(failed.unschedulable_plugins))
        summary = f"Pod {pod.full_name} fits on {decision.node_name}, but {plugins or 'a plugin'} rejects it there."
        waits = waits_of(model, profile, failed.unschedulable_plugins)
        return _answer(model, pod, UNSCHEDULABLE, summary, failed.message, placement=placement, waits=waits)
    return _answer(model, pod, SCHEDULABLE, _fits(model, pod, placement), placement=placement)


def _unschedulable(model: ClusterModel, pod: PodInfo, profile: Profile, evaluation: Evaluation) -> PodAnswer:
    verdicts = evaluation.verdicts()
    diagnosis = diagnose(evaluation, verdicts)
    terms = RejectingTerms(model, pod)
    reasons = reasons_of(evaluation, verdicts, terms)
    found = preempting(model, profile, evaluation, verdicts)
    rejections = Rejections(evaluation)
    nearest = near_misses(model, rejections, NEAREST, terms)
    rejection = evaluation.pre_filtered.rejection
    if rejection is not None:
        summary = f"Pod {pod.full_name} fits nowhere: {rejection.message}."
    else:
        why = counted((reason.message, reason.count) for reason in reasons)
        nodes = "the one node" if evaluation.node_count == 1 else f"any of {number(evaluation.node_count, 'node')}"
        summary = f"Pod {pod.full_name} does not fit on {nodes}: {why}."
    if found is not None and found.answer.helps:
        summary += f" Preemption helps: {found.answer.message}."
    return _answer(
        model,
        pod,
        UNSCHEDULABLE,
        summary,
        diagnosis.message(found.message if found is not None else ""),
        reasons=reasons,
        nearest=nearest,
        advice=nodes_to_bring_back(model, pod, rejections),
        preemption=found.answer if found is not None else None,
        waits=waits_of(model, profile, diagnosis.unschedulable_plugins),
    )


def _failure_to_commit(model: ClusterModel, pod: PodInfo) -> Failed | None:
    """Return why a pod with a feasible node is still not scheduled: Reserve and Permit are tried."""
    placer = Placer(model)
    try:
        outcome = placer.place(pod)
    finally:
        placer.undo()
    return outcome if isinstance(outcome, Failed) else None


def _fits(model: ClusterModel, pod: PodInfo, placement: PlacementAnswer) -> str:
    nominated = pod.status.nominated_node_name == placement.node
    which = ", the node it is nominated to" if nominated else ""
    count = model.cluster.table.node_count
    tie = f"; {placement.ties} tie for best, and one of them is drawn" if placement.ties > 1 and not nominated else ""
    return (
        f"Pod {pod.full_name} fits on {placement.feasible:,} of {number(count, 'node')}: "
        f"it goes to {placement.node}{which}{tie}."
    )


# -- bound pods


def _bound(model: ClusterModel, pod: PodInfo, profile: Profile | None) -> PodAnswer:
    """Return why a pod is on its node, and whether it would go there again."""
    name, node = pod.full_name, pod.spec.node_name
    if profile is None:
        summary = f"Pod {name} is on {node}; scheduler {pod.spec.scheduler_name} put it there, which is not known here."
        return _answer(model, pod, BOUND, summary)
    with model.without_pods([pod]):
        evaluation = model.engine.evaluation_of(as_pending(model, pod))
        evaluation.within = rows_of_group(model, evaluation.pod)
        decision = decide(evaluation, pick=lambda count: 0)
        placement = placement_of(evaluation, node, again=True) if decision.node_name else None
        nearest = _why_not(model, evaluation, node)
    if placement is not None and placement.chosen is not None:
        summary = f"Pod {name} is on {node}. {_again(placement)}"
    elif node not in model.cluster.table.row_of or model.cluster.table.nodes[model.cluster.table.row_of[node]] is None:
        summary = f"Pod {name} is bound to {node}, which does not exist; {_instead(placement)}."
    else:
        why = "; ".join(lack.message for miss in nearest for lack in miss.lacks) or decision.message
        summary = f"Pod {name} is on {node}, which would not take it again ({why}); {_instead(placement)}."
    return _answer(model, pod, BOUND, summary, placement=placement, nearest=nearest)


def as_pending(model: ClusterModel, pod: PodInfo) -> PodInfo:
    """Return a bound pod in its state before it had a node."""
    spec = msgspec.structs.replace(pod.spec, node_name="")
    status = msgspec.structs.replace(pod.status, nominated_node_name="")
    return model.read(msgspec.structs.replace(pod.pod, spec=spec, status=status))


def _why_not(model: ClusterModel, evaluation: Evaluation, node: str) -> tuple[NearMiss, ...]:
    """Return the lacks of a bound pod's node today; nothing if the node is feasible."""
    row = evaluation.table.row_of.get(node)
    if row is None or evaluation.table.nodes[row] is None:
        return ()
    rejections = Rejections(evaluation)
    lacks = lacks_of(model, rejections, row)
    return (NearMiss(node, lacks, not rejections.unresolvable[row]),) if lacks else ()


def _instead(placement: PlacementAnswer | None) -> str:
    today = placement.again if placement is not None else None
    return f"today it would go to {today}" if today else "today it would fit nowhere"


def _again(placement: PlacementAnswer) -> str:
    assert placement.chosen is not None
    rank, count = placement.chosen.rank, placement.feasible
    if count == 1:
        return "It is the only node that takes it, and it would go there again."
    place = f"It ranks {rank:,} of {count:,} feasible nodes"
    if placement.again != placement.node:
        return f"{place}; today the pod would go to {placement.again}. What decides: {placement.decided_by}."
    if placement.ties > 1:
        return f"{place}, one of {placement.ties:,} that tie; the pod may go there again."
    return f"{place}; the pod would go there again. What decides: {placement.decided_by}."


def _answer(
    model: ClusterModel, pod: PodInfo, verdict: str, summary: str, message: str = "", **parts: Any
) -> PodAnswer:
    """Return an answer with the parts that every pod has."""
    owner, group = Owners(model).of(pod), group_of(pod)
    if is_in_group(model, pod):
        parts.setdefault("group", group_facts(model, pod))
    elif group is not None:
        summary += f" It belongs to pod group {group[1]}, which counts for nothing while feature gate {GATE} is off."
    return PodAnswer(
        pod.full_name,
        verdict,
        summary,
        message,
        owner=str(owner) if owner is not None else None,
        priority=pod.priority,
        pod_group=group[1] if group is not None else None,
        nominated_node=pod.status.nominated_node_name or None,
        gaps=(*model.gaps, *sampling_gaps(model, pod)) if "placement" in parts else model.gaps,
        **parts,
    )
