"""NodeAffinity's addedAffinity, which the scheduler's configuration demands of every pod of a profile.

From a node that does not match it to labels of the node, or to another profile. No step changes the configuration.
"""

from collections.abc import Iterator
from dataclasses import replace

from kubesched.core.plugins.node_affinity import ENFORCED
from kubesched_answers.remedies.proposers.node_selection import added_terms, labels_for, nearest_term
from kubesched_answers.remedies.proposers.obstacles import Obstacle, labelled
from kubesched_answers.remedies.proposers.scheduler_names import other_profiles
from kubesched_answers.remedies.steps import Steps
from kubesched_answers.remedies.trials import Trial

DEMANDED = "which addedAffinity of the scheduler's configuration demands"


def added_affinity(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield labels of the node, then other profiles."""
    if obstacle.row is None or obstacle.status.reasons != ENFORCED.reasons:
        return
    node = trial.node(obstacle.row)
    labels = labels_for(nearest_term(added_terms(trial), node), node)
    if labels is not None:
        steps = labelled(node, labels)
        yield tuple(replace(step, summary=f"{step.summary}, {DEMANDED}") for step in steps)
    yield from other_profiles(trial)
