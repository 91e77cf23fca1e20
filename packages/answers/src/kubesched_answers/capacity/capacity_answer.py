"""The answer about capacity: values.

From `capacity` to reports, JSON and notebooks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched_answers.quotas import QuotaLimit

IN_ORDER, BY_WEIGHTS = "in order", "by weights"


@dataclass(frozen=True, slots=True)
class PlaceCapacity(Answer):
    """A zone or a pool: its nodes, and the replicas on them."""

    name: str
    nodes: int
    replicas: int


@dataclass(frozen=True, slots=True)
class NodeLimit(Answer):
    """Why some nodes take no more pods: the reasons of the first filter that rejects, and the number of replicas
    there.

    `exhausted`: a resource that pods consume has run out there; otherwise even empty nodes take no such pod.
    """

    reason: str
    plugin: str
    nodes: int
    replicas: int
    exhausted: bool


@dataclass(frozen=True, slots=True)
class LargestPod(Answer):
    """The largest pod that fits on some node of the unchanged cluster; it was tried.

    `grown` names the resources that are larger than in the template: "in proportion" (CPU, memory and ephemeral
    storage), "cpu" or "memory". `scale` is the factor.
    """

    grown: str
    requests: Mapping[str, str]
    node: str
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class TemplateCapacity(Answer):
    """How many replicas of one template fit.

    `wanted` is the target, None without one; a DaemonSet wants one a node that it matches. `quota` refuses a further
    replica, or allows fewer than the target; None if quotas do not matter. `open_end`: more may fit than the count.
    `in_batch`: equal pods were counted together, where that is the count of scheduling one by one. Zones, pools and
    `nodes` (replicas by node) are None if the nodes of the replicas were not computed.
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
    """Some equal nodes to add: the number, the kind, the zone, and the `price` of one."""

    kind: str
    zone: str
    nodes: int
    price: float | None


@dataclass(frozen=True, slots=True)
class NodePlan(Answer):
    """A plan of nodes to add to reach the target; the replicas were placed on the cluster with these nodes."""

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

    `fits`: the unchanged cluster reaches the target; without a target, at least one replica of each template fits,
    and as many as its gang needs. `rounds` are the whole rounds by weights. `plans` are sorted by price if known,
    then by number of nodes.
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
