"""The answer about one node: values.

From `explain_node` to reports, JSON, notebooks and the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched_answers.explain.pod_answer import Lack


@dataclass(frozen=True, slots=True)
class NodeResource(Answer):
    """A resource of the node: its amount, the requests of its pods, and the free amount; `used` is a share."""

    resource: str
    allocatable: str
    requested: str
    free: str
    used: float


@dataclass(frozen=True, slots=True)
class HeldPod(Answer):
    """A pod on the node."""

    pod: str
    owner: str | None
    priority: int
    requests: Mapping[str, str]
    terminating: bool = False


@dataclass(frozen=True, slots=True)
class PendingKind(Answer):
    """Pending pods of one workload that are alike for this node: how many of them would fit, or the lacks of the
    node.

    `room_for` is the tried number of such pods that fit here, even if fewer are pending. `group` is the pod group
    that the scheduler places as a whole: whether these pods come here depends on all of its pods.
    """

    owner: str
    pods: int
    example: str
    requests: Mapping[str, str]
    room_for: int
    lacks: tuple[Lack, ...] = ()
    message: str = ""
    group: str | None = None


@dataclass(frozen=True, slots=True)
class NodeAnswer(Answer):
    """The answer about a node; `notices` are sentences about its problems and about what keeps pods away."""

    ROWS: ClassVar[str] = "pending"

    node: str
    summary: str
    resources: tuple[NodeResource, ...]
    notices: tuple[str, ...]
    pods: tuple[HeldPod, ...]
    pending: tuple[PendingKind, ...]
    gaps: tuple[Gap, ...] = ()
