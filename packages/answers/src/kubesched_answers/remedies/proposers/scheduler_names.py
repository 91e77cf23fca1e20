"""A pod of an unknown scheduler, or of a profile that demands too much: the other profiles.

From the pod to steps that change spec.schedulerName.
"""

from collections.abc import Iterator

from kubesched.model.cluster_model import DEFAULT_SCHEDULER
from kubesched_answers.remedies.proposers.obstacles import field, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Steps
from kubesched_answers.remedies.trials import Trial


def other_profiles(trial: Trial) -> Iterator[Steps]:
    """Yield the names of the other profiles."""
    old = trial.pod.spec.scheduler_name
    for name in trial.model.engine.profiles:
        if name == (old or DEFAULT_SCHEDULER):
            continue
        summary = f"change the scheduler name of the pod from {old} to {name}"
        yield (pod_step(trial, "scheduler-name", summary, _named(name)),)


def _named(name: str) -> Edit:
    def edit(document: Document) -> None:
        field(document, "spec")["schedulerName"] = name

    return edit
