"""SchedulingGates: gates removed.

From a gated pod to steps that remove its gates.
"""

from collections.abc import Iterator
from dataclasses import replace

from kubesched_answers.remedies.proposers.obstacles import Obstacle, drop, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Rank, Step, Steps
from kubesched_answers.remedies.trials import Trial


def scheduling_gates(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield the removal of all gates."""
    yield tuple(_freed(trial, name) for name in dict.fromkeys(gate.name for gate in trial.pod.spec.scheduling_gates))


def _freed(trial: Trial, gate: str) -> Step:
    return replace(
        pod_step(trial, "gate", f"remove scheduling gate {gate}", _ungated(gate)),
        rank=Rank.FREE_GATE,
    )


def _ungated(gate: str) -> Edit:
    def edit(document: Document) -> None:
        drop(document, {"name": gate}, "spec", "schedulingGates")

    return edit
