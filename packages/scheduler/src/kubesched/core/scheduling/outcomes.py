"""Outcomes of a scheduling cycle: an assumed pod, a failure, or a pod that needs no attempt.

From the scheduling cycle to the binding cycle and to the failure handler.
"""

from typing import NamedTuple

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing.observer import UNTIMED, Observers, Stopwatch, start
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Effect
from kubesched.core.framework.values.preemption import Preemption
from kubesched.core.queue.queued_pod import QueuedPod

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


class PodAttempt(NamedTuple):
    """An attempt to schedule a popped pod, and what times it, from the scheduling cycle to the end of the binding.

    `generation` is that of the configuration that the whole attempt is made under.
    """

    queued: QueuedPod
    stopwatch: Stopwatch = UNTIMED
    generation: int = 1


def begin_attempt(queued: QueuedPod, observers: Observers, generation: int = 1) -> PodAttempt:
    """Return an attempt that begins now."""
    watch = start(observers, queued.pod.spec.scheduler_name, closely=queued.was_slow)
    return PodAttempt(queued, watch, generation)


class Placed(NamedTuple):
    """A pod that is assumed on a node, after Reserve; `waits` are Permit's plugins with their timeouts."""

    attempt: PodAttempt
    pod: PodInfo
    node_name: str
    profile: Profile
    cycle: CycleState
    waits: dict[str, float]
    feasible_nodes: int
    evaluated_nodes: int = 0


class Failed(msgspec.Struct, frozen=True):
    """A failed attempt.

    `reason` is that of the pod's condition. `nominated_node_name` is None to keep the nomination, empty to clear it.
    `preemption` has the victims that are evicted for the nomination, `effects` are PostFilter's, in order. `cycle` is
    set if PostFilter ran, `verdicts` if the nodes were judged. `point` is the extension point that failed or rejected
    the pod, empty if none did. `again`: the pod is retried after its backoff, also
    without an event that may help it.
    """

    attempt: PodAttempt
    reason: str
    message: str
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominated_node_name: str | None = ""
    preemption: Preemption | None = None
    effects: tuple[Effect, ...] = ()
    cycle: CycleState | None = None
    again: bool = False
    verdicts: NodeVerdicts | None = None
    point: str = ""

    @property
    def queued(self) -> QueuedPod:
        """Return the pod as the queue knows it."""
        return self.attempt.queued


class Skipped(NamedTuple):
    """A pod that needs no attempt any more; `note` is the note of its event, if there is one."""

    queued: QueuedPod
    note: str = ""


Outcome = Placed | Failed | Skipped
