"""The answer about one node: values.

From `explain_node` to reports, JSON, notebooks and the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.asking.explain.pod_answer import Lack
from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer


@dataclass(frozen=True, slots=True)
class NodeResource(Answer):
    """A resource of the node: how much it has, how much its pods request, and what is left; `used` is a share."""

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
    """Pending pods of one workload that are alike for this node: how many of them would fit, or what it lacks.

    `room_for` counts pods like these, one beside the other, whether or not so many are pending; it was tried. `group`
    is the pod group that the scheduler places as a whole: whether these come here depends on all of its pods.
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
    """The answer about a node; `notices` are what keeps pods away or is wrong with it, in sentences."""

    ROWS: ClassVar[str] = "pending"

    node: str
    summary: str
    resources: tuple[NodeResource, ...]
    notices: tuple[str, ...]
    pods: tuple[HeldPod, ...]
    pending: tuple[PendingKind, ...]
    gaps: tuple[Gap, ...] = ()
