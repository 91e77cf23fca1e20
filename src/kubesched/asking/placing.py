"""Placing pods on the model, one after the other, as the scheduler would; and taking all of it back.

From pods to outcomes of the scheduling cycle, which is the scheduler's own (`core.scheduling.cycle`). Of several best
nodes the first in the order of names is taken, so that equal questions get equal answers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kubesched.asking.model import DEFAULT_SCHEDULER, ClusterModel
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observer import NOBODY
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.commit import commit, undo
from kubesched.core.scheduling.cycle import CycleContext, schedule
from kubesched.core.scheduling.decision import choose
from kubesched.core.scheduling.outcomes import Failed, Outcome, Placed, Skipped, begin_attempt


class PlacedByPreemption(NamedTuple):
    """A pod that got its place by preemption: the outcome, and the victims that were evicted for it."""

    outcome: Outcome
    victims: Sequence[PodInfo]


class Placer:
    """Schedules pods on a model; `undo` takes back every place that was taken, the last one first."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._context = CycleContext(model.engine, pick=lambda count: 0)
        # extenders are not called: the model says so in its gaps
        self._context.extenders = ()
        # a manifest need not name the scheduler, which the API server would fill in
        if DEFAULT_SCHEDULER in model.engine.profiles:
            self._context.profiles = {**model.engine.profiles, "": model.engine.profiles[DEFAULT_SCHEDULER]}
        self._placed: list[Placed] = []
        self._evicted: list[PodInfo] = []

    def place(self, pod: PodInfo) -> Placed | Failed | Skipped:
        """Try to schedule a pod that is not on a node; with success it counts there from now on."""
        attempt = begin_attempt(QueuedPod(pod, 0.0), NOBODY)
        cycle = schedule(self._context, attempt)
        try:
            next(cycle)
        except StopIteration as ended:
            outcome: Outcome = ended.value
        else:
            raise AssertionError("the cycle asks an extender, and there are none")
        if isinstance(outcome, Placed):
            self._placed.append(outcome)
        return outcome

    def place_if_it_fits(self, pod: PodInfo) -> bool:
        """Place a pod if it fits, and return whether it does; PostFilter, which takes long, does not run."""
        fits = choose(self._model.engine.evaluation_of(pod), self._context.pick).node_name
        return bool(fits) and isinstance(self.place(pod), Placed)

    def place_on(self, pod: PodInfo, node_name: str) -> bool:
        """Place a pod on a node if all filters, Reserve and Permit let it; return whether they do."""
        cluster, profile = self._model.cluster, self._model.profile_of(pod)
        row = cluster.table.row_of.get(node_name)
        if profile is None or row is None:
            return False
        evaluation = self._model.engine.evaluation_of(pod)
        evaluation.within = np.array([row], np.intp)
        if choose(evaluation, self._context.pick).node_name != node_name:
            return False
        taken = commit(cluster, profile, evaluation.cycle, pod, node_name)
        if taken.failure is not None:
            return False
        attempt = begin_attempt(QueuedPod(pod, 0.0), NOBODY)
        self._placed.append(Placed(attempt, taken.pod, node_name, profile, evaluation.cycle, taken.waits, 1, 1))
        return True

    def place_or_preempt(self, pod: PodInfo) -> PlacedByPreemption:
        """Try to schedule a pod; where PostFilter finds victims, evict them and try again on their node."""
        outcome = self.place(pod)
        if not isinstance(outcome, Failed) or outcome.preemption is None or not outcome.preemption.victims:
            return PlacedByPreemption(outcome, ())
        victims = tuple(outcome.preemption.victims)
        self.evict(victims)
        self._model.cluster.nominate(pod, outcome.preemption.node_name)
        again = self.place(pod)
        if isinstance(again, Failed):
            self._model.cluster.clear_nomination(pod.uid)
        return PlacedByPreemption(again, victims)

    def evict(self, pods: Sequence[PodInfo]) -> None:
        """Take pods off their nodes, until `undo`."""
        for pod in pods:
            self._model.cluster.remove_pod(pod.uid)
            self._evicted.append(pod)

    def undo(self) -> None:
        """Take back every place, and put evicted pods back."""
        for placed in reversed(self._placed):
            undo(self._model.cluster, placed.profile, placed.cycle, placed.pod, placed.node_name)
            before = self._model.pods.get(placed.pod.full_name)
            if before is None:
                self._model.cluster.remove_pod(placed.pod.uid)
            else:
                # with its nomination
                self._model.cluster.put_pod(before)
        self._placed.clear()
        for pod in reversed(self._evicted):
            self._model.cluster.put_pod(pod)
        self._evicted.clear()
