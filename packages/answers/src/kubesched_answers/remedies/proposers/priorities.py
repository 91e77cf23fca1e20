"""A higher priority: with an existing PriorityClass the pod preempts other pods.

From the classes of the cluster to steps that set one of them, if the pod's own priority is too low to preempt.
"""

from collections.abc import Iterator
from dataclasses import replace

from kubesched.api.scheduling import PriorityClass
from kubesched_answers.remedies.proposers.obstacles import field, pod_step
from kubesched_answers.remedies.steps import Document, Rank, Scope, Step, Steps
from kubesched_answers.remedies.trials import Trial

MOST_CLASSES = 4
# prefix of system classes
SYSTEM = "system-"
NEVER = "Never"


def priorities(trial: Trial) -> Iterator[Steps]:
    """Yield classes with a higher priority, the lowest first; none if the pod already preempts other pods."""
    classes = [
        each
        for each in trial.model.cluster.objects.of(PriorityClass)
        if each.value > trial.pod.priority and not each.name.startswith(SYSTEM) and each.preemption_policy != NEVER
    ]
    rejections = trial.rejections
    if not classes or bool(rejections.unresolvable[rejections.present].all()) or trial.preemption.node_name:
        return
    classes.sort(key=lambda each: (each.value, each.name))
    for place, each in enumerate(classes[:MOST_CLASSES]):
        yield (_raised(trial, each, 2.0 + place),)


def _raised(trial: Trial, chosen: PriorityClass, size: float) -> Step:
    def edit(document: Document) -> None:
        spec = field(document, "spec")
        spec.update(priorityClassName=chosen.name, priority=chosen.value)
        if spec.get("preemptionPolicy") is not None:
            spec["preemptionPolicy"] = chosen.preemption_policy or "PreemptLowerPriority"

    text = f"set the priority class to {chosen.name} (priority {chosen.value} in place of {trial.pod.priority})"
    step = pod_step(trial, "priority", text, edit, size)
    return replace(step, scope=Scope.OTHERS, preempts=True, rank=Rank.DISTURB_OTHERS)
