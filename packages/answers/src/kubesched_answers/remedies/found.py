"""Steps that help, as a remedy; and the sort keys and topics of sets of steps.

From steps, and the node that the pod then goes to, to a `Remedy`.
"""

from kubesched_answers.remedies.commands import commands_of
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.steps import Rank, Scope, Steps
from kubesched_answers.remedies.summaries import preempting_summary, summary_of
from kubesched_answers.remedies.trials import Trials

Cost = tuple[int, int, int, float]


def remedy_of(trials: Trials, steps: Steps, node: str) -> Remedy:
    """Return the remedy for steps that help."""
    plan = trials.plan(steps)
    assert plan is not None, "the steps can be carried out"
    summary, preempted = summary_of(steps, trials.own), trials.preempted_after(steps)
    if preempted:
        summary = preempting_summary(summary, node, preempted)
    return Remedy(
        summary,
        scope_of(steps).name.lower(),
        plan.changes,
        node,
        plan.recreates_pod,
        str(plan.owner) if plan.owner is not None else None,
        preempted,
        plan.requests,
        commands_of(plan.requests, steps),
    )


def cost_of(steps: Steps, remaining: int = 0) -> Cost:
    """Return the sort key of candidates: the number of steps, then rank, scope and size."""
    return len(steps) + remaining, rank_of(steps), scope_of(steps), sum(step.size for step in steps)


def order_of(steps: Steps) -> Cost:
    """Return the sort key of remedies: rank, the number of steps, scope and size."""
    return rank_of(steps), len(steps), scope_of(steps), sum(step.size for step in steps)


def rank_of(steps: Steps) -> Rank:
    """Return the last rank of some steps."""
    return max((step.rank for step in steps), default=Rank.UNCORDON)


def scope_of(steps: Steps) -> Scope:
    """Return the most intrusive scope of some steps."""
    return max((step.scope for step in steps), default=Scope.POD)


def topics_of(steps: Steps) -> frozenset[str]:
    """Return the topics of steps; remedies with equal topics are of one kind."""
    return frozenset(step.topic for step in steps)
