"""The answer about one pod: values.

From `explain_pod` to reports, JSON, notebooks and the page.
"""

from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.attempt_answers import PlacementAnswer, PreemptionAnswer
from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched.serving.decisions.records import DecisionRecord
from kubesched_answers.remedies.remedy import Remedy

# verdicts
SCHEDULABLE, UNSCHEDULABLE, BOUND, GATED = "schedulable", "unschedulable", "bound", "gated"
ANOTHER_SCHEDULERS, TERMINATING, FINISHED, ERROR = "another-schedulers", "terminating", "finished", "error"


@dataclass(frozen=True, slots=True)
class RejectingTerm(Answer):
    """A term of the pod's affinity, or a spread constraint, and the nodes that it rejects; `field` is its path."""

    term: str
    field: str
    count: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reason(Answer):
    """Why some nodes do not take the pod: the plugin's message, and its nodes.

    `preemption_may_help` is False if evicting pods cannot change the plugin's verdict. If several terms of the pod
    may be the reason, `terms` are the rejecting ones.
    """

    message: str
    plugin: str
    count: int
    nodes: tuple[str, ...]
    preemption_may_help: bool = True
    terms: tuple[RejectingTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class Lack(Answer):
    """One lack of a node for the pod, from one plugin: in a sentence, and as an amount if there is one.

    `subject` is the same on every node: `cpu`, `taint spot=yes:NoSchedule`, `label disk=ssd`.
    """

    plugin: str
    message: str
    subject: str
    resource: str | None = None
    wanted: str | None = None
    free: str | None = None


@dataclass(frozen=True, slots=True)
class NearMiss(Answer):
    """A node that nearly takes the pod, and everything it lacks; `resolvable` if evicting pods may change that."""

    node: str
    lacks: tuple[Lack, ...]
    resolvable: bool


@dataclass(frozen=True, slots=True)
class WakingEvent(Answer):
    """An event after which the scheduler tries the pod again, and the plugin that waits for it."""

    plugin: str
    event: str
    meaning: str


@dataclass(frozen=True, slots=True)
class PodWaits(Answer):
    """What the pod waits for; backoff and attempts come from a scheduler's record.

    Without an event the scheduler retries the pod `at_latest_seconds` after its last attempt.
    """

    events: tuple[WakingEvent, ...]
    at_latest_seconds: float | None = None
    backoff_seconds: float | None = None
    attempts: int | None = None


@dataclass(frozen=True, slots=True)
class BlockingMember(Answer):
    """The first pod of a group that finds no node after the pods before it: its message, and why."""

    pod: str
    message: str
    reasons: tuple[Reason, ...] = ()
    nearest: tuple[NearMiss, ...] = ()


@dataclass(frozen=True, slots=True)
class PodGroupAnswer(Answer):
    """The pod group of a pod, whose pods are scheduled together.

    `min_count` is the number of a gang's pods that must have a node, `pods` the number of its pods, `scheduled` the
    number with a node already. Of the `tried` pods, which wait and are not held back, `fitting` find one. `message`
    is that of the group's condition, `topology_key` the label whose value all nodes of its pods must share.
    """

    name: str
    exists: bool
    min_count: int | None = None
    pods: int = 0
    scheduled: int = 0
    tried: int = 0
    fitting: int = 0
    message: str = ""
    topology_key: str | None = None
    blocking: BlockingMember | None = None


@dataclass(frozen=True, slots=True)
class PodAnswer(Answer):
    """The answer about a pod; `message` is that of the pod's condition, `summary` the verdict in a sentence."""

    ROWS: ClassVar[str] = "reasons"

    pod: str
    verdict: str
    summary: str
    message: str
    reasons: tuple[Reason, ...] = ()
    nearest: tuple[NearMiss, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    # advice that is no change of an object: nodes to repair
    advice: tuple[str, ...] = ()
    preemption: PreemptionAnswer | None = None
    waits: PodWaits | None = None
    placement: PlacementAnswer | None = None
    # from a scheduler's record: why a bound pod went to its node, and the last decisions
    placed: PlacementAnswer | None = None
    decisions: tuple[DecisionRecord, ...] | None = None
    owner: str | None = None
    priority: int = 0
    pod_group: str | None = None
    # set if the scheduler schedules the pods of the group together
    group: PodGroupAnswer | None = None
    nominated_node: str | None = None
    gaps: tuple[Gap, ...] = ()

    @property
    def fits(self) -> bool:
        """Return whether the pod has a node, or would get one."""
        return self.verdict in (SCHEDULABLE, BOUND, FINISHED)
