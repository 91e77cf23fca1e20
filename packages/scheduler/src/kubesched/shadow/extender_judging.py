"""Decisions with extenders: which ones an extender may explain, and how to judge them with the extenders' own answers.

From a pod and the decision of the cluster's scheduler, a node or a message, to a judgement. Extenders only reduce the
nodes that plugins accept, and score the rest. The caller decides whether to ask them. Nothing is bound or evicted.
"""

from collections.abc import Sequence
from copy import copy
from typing import Final, TypeVar

import numpy as np

from kubesched.config.types import Extender
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing.observer import NOBODY
from kubesched.core.framework.values.extenders import is_interested
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext, LeadingNodes, choose_or_preempt, leading_rows
from kubesched.core.scheduling.extender_calls import Asking
from kubesched.core.scheduling.outcomes import UNSCHEDULABLE, Failed, begin_attempt
from kubesched.model.cluster_model import ClusterModel
from kubesched.shadow.judgements import (
    AMONG_BEST,
    FOUND_NONE,
    FOUND_ONE,
    NOT_JUDGED,
    OTHER_MESSAGE,
    REJECTED,
    SAME_MESSAGE,
    SAMPLED,
    SCORED_LESS,
    Judgement,
)
from kubesched.shadow.judging import judge_binding, may_sample

T = TypeVar("T")
FAILED: Final = "an extender did not answer us"
# stands for the extenders; no plugin has this name
EXTENDERS_SAID: Final = "extenders"


def may_explain(extenders: Sequence[Extender], pod: PodInfo, verdict: str) -> bool:
    """Return whether extenders that were not asked may explain a difference.

    They get the nodes that plugins accept. So they explain neither a node that plugins reject nor, unless they choose
    victims, the message of a pod that plugins reject on every node.
    """
    return any(
        is_interested(extender, pod.spec)
        and (
            (verdict == SCORED_LESS and bool(extender.filter_verb or extender.prioritize_verb))
            or (verdict == FOUND_ONE and bool(extender.filter_verb))
            or (verdict == OTHER_MESSAGE and bool(extender.preempt_verb))
        )
        for extender in extenders
    )


def ask_about_binding(model: ClusterModel, pod: PodInfo, node: str) -> Asking[Judgement]:
    """Return the judgement of the node that was chosen for a pod, with the answers of extenders."""
    plain = judge_binding(model, pod, node)
    if plain.verdict in (NOT_JUDGED, REJECTED, FOUND_NONE):
        # extenders cannot restore nodes that plugins reject
        return plain
    context, profile = _context(model), _without_sampling(model, pod)
    evaluation = context.evaluators[profile.scheduler_name].evaluation_of(pod)
    errors: list[str] = []
    leaders = yield from _noting(leading_rows(context, profile, evaluation), errors)
    if errors:
        return Judgement(pod.full_name, NOT_JUDGED, node, why=f"{FAILED}: {errors[0]}")
    found = _of_leaders(model, pod, leaders, node)
    if found.verdict != SCORED_LESS:
        return found
    totals = evaluation.scored[1] if evaluation.scored is not None else np.zeros(evaluation.table.size, np.int64)
    behind = int(totals[leaders.rows[0]] - totals[evaluation.table.row_of[node]])
    verdict = SAMPLED if may_sample(model, evaluation) else SCORED_LESS
    why = f"with what extenders add it is {behind} points behind {found.ours}"
    return Judgement(pod.full_name, verdict, node, found.ours, why, behind)


def _of_leaders(model: ClusterModel, pod: PodInfo, leaders: LeadingNodes, node: str) -> Judgement:
    table, name = model.cluster.table, pod.full_name
    row, rows, found = table.row_of[node], [int(each) for each in leaders.rows], leaders.found
    if leaders.failure is not None:
        return Judgement(name, NOT_JUDGED, node, why=leaders.failure.message)
    if row in rows:
        return Judgement(name, AMONG_BEST, node, node)
    ours = table.names[rows[0]] if rows else ""
    if found is not None and found.mask[row]:
        return Judgement(name, SCORED_LESS, node, ours)
    status = found.statuses.get(row) if found is not None else None
    why = f"an extender rejects it: {status.message}" if status is not None and status.message else "an extender does"
    return Judgement(name, REJECTED if rows else FOUND_NONE, node, ours, why, plugin=EXTENDERS_SAID)


def ask_about_failure(model: ClusterModel, pod: PodInfo, message: str) -> Asking[Judgement]:
    """Return the judgement of the message that no node takes a pod, with the answers of extenders."""
    context, name, errors = _context(model), pod.full_name, list[str]()
    attempt = begin_attempt(QueuedPod(pod, 0.0), NOBODY)
    cycle = choose_or_preempt(context, _without_sampling(model, pod), attempt)
    found = yield from _noting(cycle, errors)
    if errors:
        return Judgement(name, NOT_JUDGED, why=f"{FAILED}: {errors[0]}")
    if not isinstance(found, Failed):
        ours = found[1].node_name
        return Judgement(name, FOUND_ONE, "", ours, f"{ours} takes it; it says: {message}", its_message=message)
    if found.reason == UNSCHEDULABLE and found.message == message:
        return Judgement(name, SAME_MESSAGE)
    why = f"it says: {message}; we say: {found.message}"
    return Judgement(name, OTHER_MESSAGE, why=why, its_message=message, our_message=found.message)


def _context(model: ClusterModel) -> CycleContext:
    return CycleContext(model.engine, pick=lambda count: 0)


def _without_sampling(model: ClusterModel, pod: PodInfo) -> Profile:
    """Return the profile of a pod, without sampling of nodes."""
    profile = model.profile_of(pod)
    assert profile is not None, "pods of other schedulers are not judged"
    whole = copy(profile)
    whole.percentage_of_nodes_to_score = 100
    return whole


def _noting(cycle: Asking[T], errors: list[str]) -> Asking[T]:
    """Pass on the questions of a cycle, and collect the errors of the answers."""
    try:
        question = next(cycle)
        while True:
            answer = yield question
            if answer.error:
                errors.append(answer.error)
            question = cycle.send(answer)
    except StopIteration as ended:
        result: T = ended.value
        return result
