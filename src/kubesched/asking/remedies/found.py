"""Steps that help, as a remedy; and what sorts and tells apart sets of steps.

From steps and the node that the pod goes to then to a `Remedy`.
"""

from kubesched.asking.remedies.remedy import Remedy
from kubesched.asking.remedies.steps import Scope, Steps
from kubesched.asking.remedies.summaries import preempting_summary, summary_of
from kubesched.asking.remedies.trials import Trials

# fields of a pod that may be changed in place; any other change makes it anew
IN_PLACE = frozenset({"toleration", "gate"})


def remedy_of(trials: Trials, steps: Steps, node: str) -> Remedy:
    """Return the remedy that steps are."""
    of_pod = {step.topic for step in steps if step.object == trials.own}
    recreate = trials.in_cluster and not of_pod <= IN_PLACE
    changes, scope = trials.changes(steps), scope_of(steps).name.lower()
    summary, preempted = summary_of(steps, trials.own), trials.preempted_after(steps)
    if preempted:
        summary = preempting_summary(summary, node, preempted)
    return Remedy(summary, scope, changes, node, recreate, trials.owner if recreate else None, preempted)


def cost_of(steps: Steps, remaining: int = 0) -> tuple[int, int, float]:
    """Return what sorts sets of steps: how many, what they change, how much."""
    return len(steps) + remaining, scope_of(steps), sum(step.size for step in steps)


def scope_of(steps: Steps) -> Scope:
    """Return the most intrusive of what steps change."""
    return max((step.scope for step in steps), default=Scope.POD)


def topics_of(steps: Steps) -> frozenset[str]:
    """Return what steps are about; remedies with equal topics are of one kind."""
    return frozenset(step.topic for step in steps)
