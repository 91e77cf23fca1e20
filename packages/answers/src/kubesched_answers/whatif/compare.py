"""Two configurations on the same pods from the same start.

From two models of one cluster to the different placements, with both nodes' scores under each configuration, and to
totals. Both models schedule the same pod, then the next.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.model.placements import ScoreTable
from kubesched_answers.whatif.measures import Meter
from kubesched_answers.whatif.operations import Operation
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.whatif import trial_of, tried
from kubesched_answers.whatif.whatif_answer import (
    ComparedConfiguration,
    ComparedNode,
    ComparisonAnswer,
    PlacementDifference,
    WhatIfStep,
)
from kubesched_answers.whatif.workload_operations import reschedulable

# limit on the differences explained by scores; all are listed
MOST_EXPLAINED = 100


class NamedModel(NamedTuple):
    """A model with a configuration, and the configuration's name.

    A `disposable` model is not restored afterwards, since undoing everything takes long.
    """

    name: str
    model: ClusterModel
    disposable: bool = False

    def on(self, source: ClusterObjects) -> "NamedModel":
        """Return the configuration on other objects."""
        return self._replace(model=ClusterModel(source, self.model.loaded, self.model.registry), disposable=True)

    def trial(self) -> AbstractContextManager[WhatIfTrial]:
        """Return a trial on the model."""
        return trial_of(self.model, disposable=self.disposable)


def compare(
    first: NamedModel, second: NamedModel, operations: Sequence[Operation] = (), *, reschedule_all: bool = False
) -> ComparisonAnswer:
    """Return how two configurations place the pending pods, or all pods; both start after the same operations."""
    pending = {pod.full_name for pod in first.model.cluster.pending.values()}
    steps: tuple[WhatIfStep, ...] = ()
    if operations:
        steps, source = tried(first.model, operations)
        first, second = first.on(source), second.on(source)
    with first.trial() as one, second.trial() as other:
        names = _start(one, reschedule_all)
        _start(other, reschedule_all)
        lockstep = _Lockstep(one, other)
        for name in names:
            lockstep.attempt(name)
        for trial in (one, other):
            trial.settle()
        differences = tuple(lockstep.differences(names))
        worse = any((name not in pending or _node(one, name)) and not _node(other, name) for name in names)
        under_first, under_second = (_compared(first.name, one, names), _compared(second.name, other, names))
    return ComparisonAnswer(
        not worse and not any(step.failed for step in steps),
        _summary(len(names), len(differences), under_first, under_second),
        steps,
        len(names),
        len(names) - len(differences),
        under_first,
        under_second,
        differences,
        first.model.gaps,
    )


def _start(trial: WhatIfTrial, reschedule_all: bool) -> list[str]:
    """Return the pods to place, in order: pending ones in queue order, or all, the oldest first."""
    if not reschedule_all:
        return [pod.full_name for pod in trial.queue()]
    waiting = trial.queue()
    movable = reschedulable(trial)
    for pod in movable:
        trial.displace(pod, returns=True)
    return [pod.full_name for pod in (*movable, *waiting)]


class _Lockstep:
    """Places each pod in two trials, and records why they differ."""

    def __init__(self, one: WhatIfTrial, other: WhatIfTrial) -> None:
        self._trials = one, other
        self._scores: dict[str, tuple[tuple[ComparedNode, ...], tuple[ComparedNode, ...]]] = {}

    def attempt(self, name: str) -> None:
        """Try a pod in both trials."""
        pods = [trial.model.cluster.pending.get(trial.model.pods[name].uid) for trial in self._trials]
        marks = [trial.placer.mark() for trial in self._trials]
        for trial, pod in zip(self._trials, pods, strict=True):
            if pod is not None:
                trial.attempt(pod)
        nodes = [_node(trial, name) for trial in self._trials]
        if nodes[0] != nodes[1] and len(self._scores) < MOST_EXPLAINED and None not in pods:
            self._explain(name, nodes, marks)

    def _explain(self, name: str, nodes: list[str], marks: list[int]) -> None:
        """Record the scores of both nodes under each configuration, from before the pod was placed."""
        found: list[tuple[ComparedNode, ...]] = []
        for trial, mark in zip(self._trials, marks, strict=True):
            if trial.placer.mark() > mark + 1:
                # its place is explained by the evictions for it
                found.append(())
                continue
            placed = trial.placer.mark() > mark
            trial.placer.undo(mark)
            pod = trial.model.pods[name]
            found.append(_scored(trial, pod, nodes))
            if placed:
                trial.attempt(pod)
        self._scores[name] = found[0], found[1]

    def differences(self, names: Sequence[str]) -> Iterator[PlacementDifference]:
        """Yield the pods that end on different nodes."""
        one, other = self._trials
        for name in names:
            first, second = _node(one, name), _node(other, name)
            if first != second:
                yield PlacementDifference(
                    name,
                    first or None,
                    second or None,
                    None if first else one.messages.get(name),
                    None if second else other.messages.get(name),
                    *self._scores.get(name, ((), ())),
                )


def _node(trial: WhatIfTrial, name: str) -> str:
    """Return the node of a pod, an empty text if the pod has none or does not exist."""
    pod = trial.model.pods.get(name)
    return trial.node_of(pod) if pod is not None else ""


def _scored(trial: WhatIfTrial, pod: PodInfo, nodes: Sequence[str]) -> tuple[ComparedNode, ...]:
    """Return the scores of nodes for a pending pod."""
    table = trial.model.cluster.table
    evaluation = trial.model.engine.evaluation_of(pod)
    if evaluation.pre_filtered.rejection is not None or not evaluation.feasible().count:
        return tuple(ComparedNode(node, None, {}) for node in nodes if node)
    scores = ScoreTable(evaluation)
    found = []
    for node in nodes:
        row = table.row_of.get(node) if node else None
        if row is not None and scores.failure is None and scores.feasible.mask[row]:
            (score,) = scores.scores([row])
            found.append(ComparedNode(node, score.total, score.scores))
        elif node:
            found.append(ComparedNode(node, None, {}))
    return tuple(found)


def _compared(name: str, trial: WhatIfTrial, names: Sequence[str]) -> ComparedConfiguration:
    scheduled = sum(1 for each in names if _node(trial, each))
    return ComparedConfiguration(name, scheduled, len(names) - scheduled, Meter(trial.model, trial.owners).measure())


def _summary(count: int, differing: int, first: ComparedConfiguration, second: ComparedConfiguration) -> str:
    text = f"Of {count} pods {differing} {'is' if differing == 1 else 'are'} placed differently."
    one, other = first.unscheduled, second.unscheduled
    if one == other:
        return f"{text} {one} {'stays' if one == 1 else 'stay'} without a node under both." if one else text
    return f"{text} Without a node stay {one} under {first.name} and {other} under {second.name}."
