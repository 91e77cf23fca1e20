"""The answer about capacity: values.

From `capacity` to reports, JSON and notebooks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.asking.quotas import QuotaLimit
from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer

IN_ORDER, BY_WEIGHTS = "in order", "by weights"


@dataclass(frozen=True, slots=True)
class PlaceCapacity(Answer):
    """A zone or a pool: its nodes, and the replicas that go there."""

    name: str
    nodes: int
    replicas: int


@dataclass(frozen=True, slots=True)
class NodeLimit(Answer):
    """Why some nodes take no more: the reasons of the first filter that rejects, and the replicas that went there.

    `exhausted`: what pods take has run out there; otherwise the nodes take no such pod, however empty they are.
    """

    reason: str
    plugin: str
    nodes: int
    replicas: int
    exhausted: bool


@dataclass(frozen=True, slots=True)
class LargestPod(Answer):
    """The largest pod that fits on some node as the cluster is; it was tried.

    `grown` says what of the template is larger: "in proportion" (CPU, memory and ephemeral storage), "cpu" or "memory".
    `scale` is the factor.
    """

    grown: str
    requests: Mapping[str, str]
    node: str
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class TemplateCapacity(Answer):
    """How many replicas of one template fit.

    `wanted` is the target, None without one; a DaemonSet wants one a node that it matches. `quota` refuses a further
    replica, or allows fewer than the target; None if quotas do not matter. `open_end`: more may fit
    than were counted. `in_batch`: equal pods were counted together, where that is the count of scheduling one by one.
    Zones, pools and `nodes` (replicas by node) are None where it was not computed which nodes the replicas go to.
    """

    template: str
    replicas: int
    wanted: int | None
    weight: int | None
    open_end: bool
    in_batch: bool
    requests: Mapping[str, str]
    zones: tuple[PlaceCapacity, ...] | None
    pools: tuple[PlaceCapacity, ...] | None
    nodes: Mapping[str, int] | None
    limits: tuple[NodeLimit, ...]
    message: str
    largest: tuple[LargestPod, ...]
    quota: QuotaLimit | None = None

    @property
    def missing(self) -> int:
        """Return how many replicas the target lacks."""
        return max(0, (self.wanted or 0) - self.replicas)


@dataclass(frozen=True, slots=True)
class NodeAddition(Answer):
    """Some equal nodes to add: how many of which kind, in which zone; `price` is that of one."""

    kind: str
    zone: str
    nodes: int
    price: float | None


@dataclass(frozen=True, slots=True)
class NodePlan(Answer):
    """Nodes to add so that the target is reached; the replicas were placed on the cluster with these nodes."""

    additions: tuple[NodeAddition, ...]
    nodes: int
    price: float | None


@dataclass(frozen=True, slots=True)
class UselessKind(Answer):
    """A kind of node that does not help, and why a new one takes no replica."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class CapacityAnswer(Answer):
    """How many replicas of some templates fit on a cluster, and which nodes to add for a target.

    `fits`: the target is reached as the cluster is; without a target, at least one replica of each template fits, and
    as many as its gang needs. `rounds` are the whole rounds by weights. `plans` are in order of price where it is
    known, then of nodes.
    """

    ROWS: ClassVar[str] = "templates"

    summary: str
    fits: bool
    order: str
    node_count: int
    pool_label: str
    templates: tuple[TemplateCapacity, ...]
    rounds: int | None = None
    plans: tuple[NodePlan, ...] = ()
    useless: tuple[UselessKind, ...] = ()
    gaps: tuple[Gap, ...] = ()
