"""Whether evicted pods find other nodes: then they are moved.

From steps that evict pods to the same steps with the new nodes that the scheduler chooses for the pods.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.scheduling.outcomes import Placed
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.steps import Step, Steps
from kubesched_answers.remedies.trials import Trial, Trials


def moved(trials: Trials, steps: Steps) -> Steps:
    """Return steps in which evicted pods are moved if they find another node after the pod has its place."""
    model = trials.model
    evictions = [step for step in steps if step.delete and step.object.kind == "Pod"]
    victims = [model.pods[f"{step.object.namespace}/{step.object.name}"] for step in evictions]
    if not victims:
        return steps
    with trials.fork(steps) as trial:
        places = places_of(trial, victims)
    to = {step.key: place for step, place in zip(evictions, places, strict=True) if place}
    return tuple(_moved(step, to[step.key]) if step.key in to else step for step in steps)


def places_of(trial: Trial, victims: Sequence[PodInfo]) -> list[str]:
    """Return the nodes that evicted victims get after the pod; empty for a victim without one."""
    model = trial.model
    placer = Placer(model, preempts=False)
    known = model.pods.get(trial.pod.full_name)
    try:
        outcomes = [placer.place(pod) for pod in (trial.pod, *map(_unplaced, victims))]
        places = [outcome.node_name if isinstance(outcome, Placed) else "" for outcome in outcomes[1:]]
        return [place if place != pod.spec.node_name else "" for place, pod in zip(places, victims, strict=True)]
    finally:
        placer.undo()
        if known is not None:
            # with its nomination, which placing it ends
            model.cluster.put_pod(known)


def _unplaced(pod: PodInfo) -> PodInfo:
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return pod.replaced(msgspec.structs.replace(pod.pod, spec=spec))


def _moved(step: Step, place: str) -> Step:
    summary = step.summary.replace("evict pod", "move pod", 1)
    return replace(step, summary=f"{summary} to {place}", size=step.size - 1.0)
