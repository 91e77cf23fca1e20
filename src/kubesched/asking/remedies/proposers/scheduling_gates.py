"""SchedulingGates: gates removed.

From a gated pod to steps that take its gates off.
"""

from collections.abc import Iterator

from kubesched.asking.remedies.proposers.obstacles import Obstacle, drop, pod_step
from kubesched.asking.remedies.steps import Document, Edit, Steps
from kubesched.asking.remedies.trials import Trial


def scheduling_gates(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield the removal of all gates."""
    gates = [gate.name for gate in trial.pod.spec.scheduling_gates]
    yield tuple(pod_step(trial, "gate", f"remove scheduling gate {gate}", _ungated(gate)) for gate in gates)


def _ungated(gate: str) -> Edit:
    def edit(document: Document) -> None:
        drop(document, {"name": gate}, "spec", "schedulingGates")

    return edit
