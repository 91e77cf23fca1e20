"""The scheduling cycle of one pod, in numbered steps.

From a popped pod to a pod that is assumed on a node, or a failure. The cycle is a generator: it yields the arguments of
an extender's call and is sent the result, otherwise it runs through. The table does not change while it waits.
"""

# upstream: schedule_one.go (schedulingCycle, schedulingAlgorithm, schedulePod) (v1.36)

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.config.types import Extender
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.evaluation.evaluator import Evaluator
from kubesched.core.evaluation.score_details import score_details
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.columns.questions import Feasible
from kubesched.core.framework.observing.observer import FILTER, PRE_FILTER, SCORE, ChosenNode, Observers
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.preemption import Candidate, Preemption, best_of
from kubesched.core.framework.values.sampling import CANDIDATE_DRAW, feasible_nodes_to_find
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.queue.queueing_hints import EXTENDER
from kubesched.core.scheduling.commit import commit
from kubesched.core.scheduling.decision import NO_NODES, Decision, choose
from kubesched.core.scheduling.diagnosis import Diagnosis, diagnose, message_of, pending
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.extender_calls import Asking, FilteredNodes, ask_filters, ask_preemption, ask_priorities
from kubesched.core.scheduling.outcomes import (
    SCHEDULER_ERROR,
    UNSCHEDULABLE,
    Failed,
    Outcome,
    Placed,
    PodAttempt,
    Skipped,
)
from kubesched.core.scheduling.post_filter import PostFiltered, run_post_filter
from kubesched.core.scheduling.visit_order import VisitOrder

MOST_DRAWS = 2**31
# The number of nodes whose scores are reported besides the scores of the chosen node.
RUNNERS_UP = 3


class CycleContext:
    """The context that scheduling cycles share; `pick(n)` is the source of randomness."""

    def __init__(self, engine: Engine, pick: Callable[[int], int]) -> None:
        config, gates = engine.loaded.config, engine.loaded.gates
        self.cluster: ClusterState = engine.cluster
        self.profiles: Mapping[str, Profile] = engine.profiles
        self.evaluators: Mapping[str, Evaluator] = engine.evaluators
        self.observers: Observers = engine.services.observers
        self.pick = pick
        self.visit_order = VisitOrder(engine.cluster.table)
        self.extenders: Sequence[Extender] = config.extenders
        self.percentage_of_nodes_to_score = config.percentage_of_nodes_to_score
        # for pod groups only
        self.topology_aware = gates.enabled("TopologyAwareWorkloadScheduling")
        self.workload_aware_preemption = gates.enabled("WorkloadAwarePreemption")


def schedule(context: CycleContext, attempt: PodAttempt) -> Asking[Outcome]:
    """Return the outcome of an attempt to schedule a pod."""
    queued, stopwatch, _ = attempt
    pod = queued.pod
    # 1. Is there anything to do?
    profile = context.profiles.get(pod.spec.scheduler_name)
    if profile is None or pod.uid in context.cluster.table.pods:
        return Skipped(queued)
    if pod.terminating:
        return Skipped(queued, f"skip schedule deleting pod: {pod.namespace}/{pod.name}")
    observers = context.observers
    observers.attempt_began(pod)
    found = yield from choose_or_preempt(context, profile, attempt)
    seconds = stopwatch.seconds
    observers.algorithm_ran(seconds)
    if isinstance(found, Failed):
        outcome: Outcome = found
    else:
        if "node_chosen" in observers.heard:
            _tell_chosen(observers, attempt, *found, seconds)
        outcome = _commit(context, profile, attempt, *found)
    stopwatch.tell()
    return outcome


class CycleOptions(NamedTuple):
    """The options of an attempt; a pod of a group is scheduled with the options of its group.

    `within` are the rows that the pod may be placed on, None for all; without `may_preempt` PostFilter does not run;
    `group_state` is the cycle state of the group.
    """

    within: NDArray[np.intp] | None = None
    may_preempt: bool = True
    group_state: CycleState | None = None


DEFAULTS = CycleOptions()


def choose_or_preempt(
    context: CycleContext, profile: Profile, attempt: PodAttempt, options: CycleOptions = DEFAULTS
) -> Asking[tuple[Evaluation, Decision] | Failed]:
    """Return the chosen node and its evaluation, or the failure, with the preemption that PostFilter found."""
    if not context.cluster.table.node_count:
        return Failed(attempt, UNSCHEDULABLE, NO_NODES.message)
    # 2. Which nodes are feasible, and which of them is best?
    evaluator = context.evaluators[profile.scheduler_name]
    evaluation = evaluator.evaluation_of(attempt.queued.pod, attempt.stopwatch, options.group_state)
    evaluation.within = options.within
    found: FilteredNodes | None = None
    if _plugins_choose_alone(context, profile):
        decision = choose(evaluation, context.pick)
    else:
        decision, found = yield from _choose_with_extenders(context, profile, evaluation)
    if decision.failure is not None:
        return _error(attempt, decision.failure, _failing_point(evaluation, decision.failure, found))
    # 3. No node is feasible: does PostFilter find a preemption?
    if not decision.node_name:
        return (yield from _post_filtered(context, profile, attempt, evaluation, found, options.may_preempt))
    return evaluation, decision


def _tell_chosen(
    observers: Observers, attempt: PodAttempt, evaluation: Evaluation, decision: Decision, seconds: float
) -> None:
    """Report the chosen node to observers, before the table changes."""
    observers.node_chosen(
        ChosenNode(
            evaluation.pod,
            decision.node_name,
            attempt.queued.attempts,
            decision.feasible_nodes,
            seconds,
            lambda: score_details(evaluation, decision.node_name, RUNNERS_UP),
            attempt.generation,
        )
    )


def _commit(
    context: CycleContext, profile: Profile, attempt: PodAttempt, evaluation: Evaluation, decision: Decision
) -> Placed | Failed:
    """Assume the pod on the chosen node; return a failure if Reserve or Permit reject it."""
    # 4. Assume it there.
    taken = commit(
        context.cluster, profile, evaluation.cycle, attempt.queued.pod, decision.node_name, attempt.stopwatch
    )
    if taken.failure is not None:
        return commit_failure(attempt, taken.failure, taken.point)
    return Placed(
        attempt,
        taken.pod,
        decision.node_name,
        profile,
        evaluation.cycle,
        taken.waits,
        decision.feasible_nodes,
        evaluation.evaluated_nodes,
    )


def _plugins_choose_alone(context: CycleContext, profile: Profile) -> bool:
    """Return whether plugins choose among all nodes, without extenders and without sampling."""
    if context.extenders or not profile.score:
        return False
    percentage = profile.percentage_of_nodes_to_score or context.percentage_of_nodes_to_score
    # differs (D-001): if the user sets no percentage, all nodes are evaluated
    return not 0 < percentage < 100


def _choose_with_extenders(
    context: CycleContext, profile: Profile, evaluation: Evaluation
) -> Asking[tuple[Decision, FilteredNodes | None]]:
    """Return the decision if extenders are called or nodes are sampled, and the nodes that extenders left."""
    leaders = yield from leading_rows(context, profile, evaluation)
    if leaders.failure is not None:
        return Decision(failure=leaders.failure), leaders.found
    rows, found = leaders.rows, leaders.found
    if not len(rows) or found is None:
        return Decision(), found
    row = int(rows[context.pick(len(rows)) if len(rows) > 1 else 0])
    return Decision(context.cluster.table.names[row], int(np.count_nonzero(found.mask))), found


class LeadingNodes(NamedTuple):
    """The rows with the highest score, none if no node is feasible; the nodes that extenders left; or a failure."""

    rows: Sequence[int] | NDArray[np.intp] = ()
    found: FilteredNodes | None = None
    failure: Status | None = None


def leading_rows(context: CycleContext, profile: Profile, evaluation: Evaluation) -> Asking[LeadingNodes]:
    """Return the best nodes that plugins and extenders leave."""
    rejection = evaluation.pre_filtered.rejection
    if rejection is not None:
        return LeadingNodes(failure=None if rejection.rejected else rejection)
    # a. The nominated node comes first; b. otherwise all nodes are filtered, by extenders too.
    found = yield from _nominated_node(context, evaluation)
    if not found.mask.any():
        feasible = evaluation.feasible()
        if feasible.failure is not None:
            return LeadingNodes(failure=feasible.failure)
        mask = _sampled(context, profile, feasible.mask)
        found = yield from ask_filters(context.extenders, context.cluster.table, evaluation.pod, mask)
    if found.failure is not None:
        return LeadingNodes((), found, found.failure)
    if not found.mask.any():
        return LeadingNodes((), found)
    # c. Which of them is best?
    best = yield from _best(context, evaluation, found)
    return LeadingNodes((), found, best) if isinstance(best, Status) else LeadingNodes(best, found)


def _nominated_node(context: CycleContext, evaluation: Evaluation) -> Asking[FilteredNodes]:
    """Return the nominated node if it passes the filters and the extenders; a failing extender rejects it."""
    mask = np.zeros(context.cluster.table.size, np.bool_)
    row = evaluation.nominated_row()
    if row is not None:
        mask[row] = True
        found = yield from ask_filters(context.extenders, context.cluster.table, evaluation.pod, mask)
        if found.failure is None:
            return found
        mask[row] = False
    return FilteredNodes(mask)


def _sampled(context: CycleContext, profile: Profile, feasible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the feasible rows; fewer if the configuration limits the search, one if there is no scoring."""
    filters = any(extender.filter_verb for extender in context.extenders)
    scores = profile.score or any(extender.prioritize_verb for extender in context.extenders)
    if not filters and not scores:
        return context.visit_order.cut(feasible, 1)
    percentage = profile.percentage_of_nodes_to_score or context.percentage_of_nodes_to_score
    if not 0 < percentage < 100:
        return feasible
    most = feasible_nodes_to_find(context.cluster.table.node_count, percentage)
    return context.visit_order.cut(feasible, most)


def _best(
    context: CycleContext, evaluation: Evaluation, found: FilteredNodes
) -> Asking[Sequence[int] | NDArray[np.intp] | Status]:
    """Return the rows with the highest score, or the error of a scoring plugin."""
    rows = np.flatnonzero(found.mask)
    if len(rows) == 1:
        return rows
    feasible = evaluation.feasible()
    if found.mask is not feasible.mask:
        feasible = Feasible(found.mask, object())
    added = yield from ask_priorities(context.extenders, context.cluster.table, evaluation.pod, found.mask)
    return evaluation.best_rows(feasible, added)


# -- failures


def _error(attempt: PodAttempt, status: Status, point: str) -> Failed:
    return Failed(attempt, SCHEDULER_ERROR, status.message, point=point)


def _failing_point(evaluation: Evaluation, failure: Status, found: FilteredNodes | None) -> str:
    """Return the extension point that failed; extenders filter after the plugins."""
    if failure is evaluation.pre_filtered.rejection:
        return PRE_FILTER
    filters = evaluation.feasible().failure if found is None else found.failure
    return FILTER if filters is failure else SCORE


def commit_failure(attempt: PodAttempt, status: Status, point: str) -> Failed:
    """Return the failure of a pod that Reserve or Permit rejected on the chosen node."""
    if not status.rejected:
        return _error(attempt, status, point)
    diagnosis = Diagnosis(frozenset((status.plugin,)), dict.fromkeys(status.reasons, 1), "", 1, pending((status,)))
    return Failed(
        attempt,
        UNSCHEDULABLE,
        diagnosis.message(),
        diagnosis.unschedulable_plugins,
        diagnosis.pending_plugins,
        point=point,
    )


def _post_filtered(
    context: CycleContext,
    profile: Profile,
    attempt: PodAttempt,
    evaluation: Evaluation,
    found: FilteredNodes | None,
    may_preempt: bool,
) -> Asking[Failed]:
    """Return the failure of a pod without a feasible node, with the preemption that PostFilter found."""
    by_extenders = found.statuses if found is not None else {}
    verdicts = _with_extenders(evaluation.verdicts(), evaluation, by_extenders)
    diagnosis = diagnose(evaluation, verdicts)
    plugins = diagnosis.unschedulable_plugins
    if found is not None and found.narrowed:
        plugins |= {EXTENDER}
    point = FILTER if evaluation.pre_filtered.rejection is None else PRE_FILTER
    if not profile.post_filter or not may_preempt:
        return Failed(
            attempt,
            UNSCHEDULABLE,
            message_of(verdicts, diagnosis, ""),
            plugins,
            diagnosis.pending_plugins,
            verdicts=verdicts,
            point=point,
        )
    evaluation.cycle.write(CANDIDATE_DRAW, context.pick(MOST_DRAWS))
    helped = run_post_filter(profile.post_filter, evaluation.cycle, evaluation.pod, verdicts, attempt.stopwatch)
    context.observers.post_filter_ran(evaluation.pod, helped.status, helped.by_plugin)
    message, nominated = helped.message, helped.nominated_node_name
    preemption = _preemption(helped, nominated)
    if preemption is not None and any(extender.preempt_verb for extender in context.extenders):
        agreed = yield from _agreed(context, evaluation, helped)
        if isinstance(agreed, Status):
            message, nominated, preemption = _refused(helped, agreed), None, None
        else:
            nominated = agreed.node_name
            preemption = Preemption(preemption.plugin, agreed.node_name, agreed.victims)
    return Failed(
        attempt,
        UNSCHEDULABLE,
        message_of(verdicts, diagnosis, message),
        plugins,
        diagnosis.pending_plugins,
        nominated_node_name=nominated,
        preemption=preemption,
        effects=tuple(helped.effects),
        cycle=evaluation.cycle,
        verdicts=verdicts,
        point=point,
    )


def _agreed(context: CycleContext, evaluation: Evaluation, helped: PostFiltered) -> Asking[Candidate | Status]:
    """Return the best of the candidates that extenders accept, or why there is none."""
    table = context.cluster.table
    candidates = [c for result in helped.by_plugin.values() for c in result.candidates]
    left = yield from ask_preemption(context.extenders, table, evaluation.pod, candidates)
    if isinstance(left, Status):
        return left
    best = best_of(table, left)
    if not best:
        return unschedulable("no candidate node for preemption")
    name = best[context.pick(len(best)) if len(best) > 1 else 0]
    return next(candidate for candidate in left if candidate.node_name == name)


def _refused(helped: PostFiltered, refusal: Status) -> str:
    """Return the message of PostFilter if extenders accept no candidate; an error stands alone."""
    others = [result.status for result in helped.by_plugin.values() if result.status.rejected]
    reasons = [reason for status in others for reason in status.reasons] if refusal.rejected else []
    return ", ".join([*reasons, f"preemption: {refusal.message}"])


def _with_extenders(verdicts: NodeVerdicts, evaluation: Evaluation, by_extenders: Mapping[int, Status]) -> NodeVerdicts:
    """Return the verdicts with the statuses of extenders on rows that all filters had passed."""
    if not by_extenders:
        return verdicts
    ids = verdicts.ids.copy()
    for row, status in by_extenders.items():
        ids[row] = evaluation.statuses.intern(status, "")
    return NodeVerdicts(ids, verdicts.judged, verdicts.absent, verdicts.statuses)


def _preemption(helped: PostFiltered, nominated: str | None) -> Preemption | None:
    """Return the preemption on the nominated node, None if no plugin found one there."""
    if nominated:
        for plugin, result in helped.by_plugin.items():
            for candidate in result.candidates:
                if candidate.node_name == nominated:
                    return Preemption(plugin, nominated, candidate.victims)
    return None
