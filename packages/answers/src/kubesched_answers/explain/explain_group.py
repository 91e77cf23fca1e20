"""Why a pod of a pod group is pending. The group is scheduled, and explained, as a whole.

From a waiting pod of a group to the verdict and the message that the scheduler has for it when it tries the group,
and to the first pod of the group that is in the way. The trial places the other pods of the group temporarily, in the
scheduler's order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.codec import to_builtins
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing.observer import UNTIMED
from kubesched.core.scheduling.groups.results import PodResult
from kubesched.model.attempt_answers import PreemptionAnswer
from kubesched.model.cluster_model import ClusterModel, name_of_object
from kubesched.model.group_attempts import TriedGroup, group_object, is_in_group, members_to_try
from kubesched.model.placements import placement_of
from kubesched.model.preempting import preempting_for_group
from kubesched.model.rejections import Rejections
from kubesched.reports.answers import ObjectChange
from kubesched.reports.plain_words import counted, number
from kubesched_answers.explain.lacks import near_misses
from kubesched_answers.explain.pod_answer import (
    ERROR,
    SCHEDULABLE,
    UNSCHEDULABLE,
    BlockingMember,
    NearMiss,
    PodGroupAnswer,
    Reason,
)
from kubesched_answers.explain.reasons import reasons_of
from kubesched_answers.explain.rejecting_terms import RejectingTerms
from kubesched_answers.explain.waking_events import waits_of
from kubesched_answers.placing import Placer

NEAREST = 5


class GroupFindings(NamedTuple):
    """The verdict on a pod of a group, in a sentence; the message of its condition, and other parts of its answer."""

    verdict: str
    summary: str
    message: str
    parts: dict[str, Any]


def group_facts(model: ClusterModel, pod: PodInfo) -> PodGroupAnswer:
    """Return the known facts of a pod's group before a trial."""
    key = group_of(pod)
    assert key is not None, "the pod has a group"
    group = group_object(model, pod)
    state = model.cluster.pod_groups.state(key)
    gang = group.spec.scheduling_policy.gang if group is not None else None
    constraints = group.spec.scheduling_constraints if group is not None else None
    topology = constraints.topology if constraints is not None else ()
    return PodGroupAnswer(
        "/".join(key),
        group is not None,
        gang.min_count if gang is not None else None,
        len(state),
        len(state.scheduled),
        topology_key=topology[0].key if topology else None,
    )


def explain_in_group(model: ClusterModel, pod: PodInfo, profile: Profile) -> GroupFindings:
    """Return the outcome of scheduling a waiting pod of a group; the pod is in the cluster and not held back."""
    placer = Placer(model)
    tried = placer.try_group(pod)
    facts = _tried_facts(model, pod, tried, _blocking(model, placer, tried))
    own = next((each for each in tried.result.pods if each.attempt.queued.uid == pod.uid), None)
    failure = tried.failures.get(pod.uid)
    parts: dict[str, Any] = {"group": facts}
    if failure is None and own is not None:
        with evaluated_beside(model, placer, tried, own) as evaluation:
            parts["placement"] = placement_of(evaluation, own.node_name, again=False)
        summary = f"Pod {pod.full_name} fits with its pod group: it goes to {own.node_name}. {sentence_of(facts)}"
        return GroupFindings(SCHEDULABLE, summary, "", parts)
    status = tried.result.status
    message = failure.message if failure is not None else status.message
    if not status.ok and not status.rejected:
        summary = f"The scheduler cannot judge pod group {facts.name} of pod {pod.full_name}: {message}."
        return GroupFindings(ERROR, f"{summary} It tries again after a backoff.", message, parts)
    preemption = preempting_for_group(model, tried)
    parts |= {"preemption": preemption} if preemption is not None else {}
    if failure is not None:
        parts["waits"] = waits_of(model, profile, failure.unschedulable_plugins)
    if own is not None and own.failure is not None:
        parts["reasons"], parts["nearest"] = _why(model, placer, tried, own)
    return GroupFindings(UNSCHEDULABLE, _summary(pod, facts, own, parts.get("reasons", ()), preemption), message, parts)


def rows_of_group(model: ClusterModel, pod: PodInfo) -> NDArray[np.intp] | None:
    """Return the rows that a pod's group leaves for the pod, which is not in the cluster; None for all."""
    if not is_in_group(model, pod) or group_facts(model, pod).topology_key is None:
        return None
    with model.fork([ObjectChange(name_of_object(pod.pod), create=to_builtins(pod.pod))]):
        return Placer(model).try_group(model.pods[pod.full_name], may_preempt=False).result.within


# -- the group as it was tried


def _tried_facts(
    model: ClusterModel, pod: PodInfo, tried: TriedGroup, blocking: BlockingMember | None
) -> PodGroupAnswer:
    return replace(
        group_facts(model, pod),
        tried=len(members_to_try(model, pod)),
        fitting=sum(1 for each in tried.result.pods if each.failure is None),
        message=tried.result.status.message,
        blocking=blocking,
    )


def _blocking(model: ClusterModel, placer: Placer, tried: TriedGroup) -> BlockingMember | None:
    """Return the first pod of a group without a node, and why."""
    first = tried.first_failing
    if first is None or first.failure is None:
        return None
    return BlockingMember(first.attempt.queued.pod.full_name, first.failure.message, *_why(model, placer, tried, first))


def _why(
    model: ClusterModel, placer: Placer, tried: TriedGroup, member: PodResult
) -> tuple[tuple[Reason, ...], tuple[NearMiss, ...]]:
    """Return why a pod of a group has no node after the pods before it, and the nodes that lack least."""
    if not model.cluster.table.node_count:
        return (), ()
    with evaluated_beside(model, placer, tried, member) as evaluation:
        rejected = evaluation.pre_filtered.rejection is not None or not evaluation.feasible().count
        if not rejected:
            # Reserve or Permit has rejected it
            return (), ()
        terms = RejectingTerms(model, evaluation.pod)
        reasons = reasons_of(evaluation, evaluation.verdicts(), terms)
        return reasons, near_misses(model, Rejections(evaluation), NEAREST, terms)


@contextmanager
def evaluated_beside(model: ClusterModel, placer: Placer, tried: TriedGroup, member: PodResult) -> Iterator[Evaluation]:
    """Evaluate a pod of a pod group with the earlier pods assumed on their nodes."""
    mark, profile = placer.mark(), tried.profile
    assert profile is not None, "pods without a profile are not tried"
    try:
        last = placer.hold_before(member, tried)
        evaluator = model.engine.evaluators[profile.scheduler_name]
        evaluation = evaluator.evaluation_of(member.attempt.queued.pod, UNTIMED, last.group if last else None)
        evaluation.within = tried.result.within
        yield evaluation
    finally:
        placer.undo(mark)


# -- in words


def sentence_of(facts: PodGroupAnswer) -> str:
    """Return how many pods a group has, needs, and finds nodes for."""
    if not facts.exists:
        return f"Pod group {facts.name} does not exist."
    gang = facts.min_count is not None
    needs = f"Gang {facts.name} needs {number(facts.min_count or 0, 'pod')}" if gang else f"Pod group {facts.name}"
    if not facts.tried:
        return f"{needs}{' and' if gang else ''} has {facts.pods}."
    held_back = facts.pods - facts.scheduled - facts.tried
    parts = [f"{_are(facts.scheduled)} on nodes"] if facts.scheduled else []
    parts += [f"{facts.fitting} of the {facts.tried} that {'waits' if facts.tried == 1 else 'wait'} find a place"]
    parts += [f"{_are(held_back)} held back"] if held_back else []
    within = f" within one {facts.topology_key}" if facts.topology_key else ""
    return f"{needs}{within}: {', '.join(parts)}."


def _are(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'}"


def _summary(
    pod: PodInfo,
    facts: PodGroupAnswer,
    own: PodResult | None,
    reasons: tuple[Reason, ...],
    preemption: PreemptionAnswer | None,
) -> str:
    if own is not None and own.failure is not None:
        why = counted((reason.message, reason.count) for reason in reasons) or own.failure.message
        start = f"Pod {pod.full_name} does not fit beside the others of its pod group: {why}."
    elif own is not None and own.node_name:
        start = f"Pod {pod.full_name} would fit on {own.node_name}, but waits for its pod group to fit."
    else:
        start = f"Pod {pod.full_name} waits for its pod group to fit: {facts.message}."
    blocking = facts.blocking
    if blocking is not None and blocking.pod != pod.full_name:
        why = counted((reason.message, reason.count) for reason in blocking.reasons) or blocking.message
        start += f" The first without a place is {blocking.pod}: {why}."
    helps = f" Preemption helps: {preemption.message}." if preemption is not None and preemption.helps else ""
    return f"{start} {sentence_of(facts)}{helps}"
