"""The answers of what-if questions: values.

From `whatif`, `compare` and `consolidate` to reports, JSON, notebooks. CPU is in thousandths of a core, memory in
bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer

# outcomes of pods
STAYS, MOVES, BECOMES_BOUND = "stays", "moves", "becomes-bound"
STAYS_PENDING, BECOMES_PENDING = "stays-pending", "becomes-pending"
NEW, NEW_PENDING, DELETED, LOST = "new", "new-pending", "deleted", "lost"
# deleted, and created again by its controller on the same node
REPLACED = "replaced"
# outcomes without a node at the end, other than deletion
WITHOUT_PLACE = (STAYS_PENDING, BECOMES_PENDING, NEW_PENDING, LOST)


@dataclass(frozen=True, slots=True)
class PodChange(Answer):
    """The outcome of a pod: its old node, its new node, or the scheduler's message.

    A pod moves if its controller replaces it; `replaced_by` is the name of the new pod if it differs. A lost pod has
    no controller that would create it again. `held` is a pending pod that must not be scheduled yet, or belongs to
    another scheduler.
    """

    pod: str
    change: str
    owner: str | None = None
    from_node: str | None = None
    to_node: str | None = None
    message: str | None = None
    preempted_by: str | None = None
    held: bool | None = None
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class UnfinishedWorkload(Answer):
    """An unfinished workload, and why: a rollout that hangs, or pods that are not created.

    `pods` are the pending pods that it waits for.
    """

    workload: str
    message: str
    pods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DrainRound(Answer):
    """The pods that are evicted from a node at once; refused evictions are tried again after five seconds."""

    node: str
    number: int
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeldUpPod(Answer):
    """A pod that a drain cannot evict, and the budgets that forbid it."""

    pod: str
    node: str
    budgets: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class LeftPod(Answer):
    """A pod that a drain leaves on its node, and why."""

    pod: str
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class WhatIfStep(Answer):
    """One operation: its text and its nodes; for a drain also the order of evictions.

    `refused` are the pods because of which `kubectl drain` refuses their node.
    """

    operation: str
    message: str = ""
    nodes: tuple[str, ...] = ()
    rounds: tuple[DrainRound, ...] = ()
    held_up: tuple[HeldUpPod, ...] = ()
    left: tuple[LeftPod, ...] = ()
    refused: tuple[LeftPod, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether the operation does not finish."""
        return bool(self.held_up or self.refused)


@dataclass(frozen=True, slots=True)
class ResourceUse(Answer):
    """The requests for a resource, and its capacity."""

    resource: str
    requested: int
    allocatable: int


@dataclass(frozen=True, slots=True)
class ZoneUse(Answer):
    """The use of the resources of one zone."""

    zone: str
    nodes: int
    uses: tuple[ResourceUse, ...]


@dataclass(frozen=True, slots=True)
class SpreadSummary(Answer):
    """How evenly owners' pods are spread over zones; the skew is the difference between the most and the fewest
    pods in a zone.
    """

    zones: int
    owners: int
    mean_skew: float
    worst_skew: int
    worst_owner: str | None = None


@dataclass(frozen=True, slots=True)
class OwnerSpread(Answer):
    """An owner whose spread changed: pods by zone."""

    owner: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    skew_before: int
    skew_after: int


@dataclass(frozen=True, slots=True)
class Fragmentation(Answer):
    """The free amounts, and their fragmentation.

    `largest_cpu` and `largest_memory` are the requests of the largest pods that fit, each separately. Stranded
    amounts are free on nodes that do not take the typical pod, whose requests are the medians.
    """

    largest_cpu: int
    largest_memory: int
    stranded_cpu: int
    stranded_memory: int
    typical_cpu: int
    typical_memory: int


@dataclass(frozen=True, slots=True)
class ClusterMeasures(Answer):
    """The totals of a cluster."""

    nodes: int
    placed: int
    pending: int
    uses: tuple[ResourceUse, ...]
    zones: tuple[ZoneUse, ...]
    spread: SpreadSummary
    fragmentation: Fragmentation


@dataclass(frozen=True, slots=True)
class WhatIfAnswer(Answer):
    """The effects of the operations on the cluster; `changes` has every pod that does not stay in place.

    `anyway` has the changes that also happen without the operations: the cluster settles first, and `before` is
    measured then. `unfinished` are the workloads that do not finish because of the operations.

    `fits` means that no drain is refused or held up, that no workload is unfinished, and that a pod has a place if it
    had one, is new, or belongs to a scaled or applied workload. If the only purpose is places for pending pods (new
    nodes, a removed taint, another configuration), all of them must have one. Held pods do not count.
    """

    ROWS: ClassVar[str] = "changes"

    fits: bool
    summary: str
    steps: tuple[WhatIfStep, ...]
    counts: Mapping[str, int]
    changes: tuple[PodChange, ...]
    before: ClusterMeasures
    after: ClusterMeasures
    spread: tuple[OwnerSpread, ...] = ()
    gaps: tuple[Gap, ...] = ()
    unfinished: tuple[UnfinishedWorkload, ...] = ()
    anyway: tuple[PodChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedNode(Answer):
    """A node under one configuration: its weighted scores by plugin; without any it is not feasible."""

    node: str
    total: int | None
    scores: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PlacementDifference(Answer):
    """A pod that two configurations place differently, and both nodes' scores under each.

    Only the first differences have scores; later ones follow from earlier placements.
    """

    pod: str
    first_node: str | None
    second_node: str | None
    first_message: str | None = None
    second_message: str | None = None
    first_scores: tuple[ComparedNode, ...] = ()
    second_scores: tuple[ComparedNode, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedConfiguration(Answer):
    """One of the compared configurations: its name, and the totals of the cluster after its placements."""

    name: str
    scheduled: int
    unscheduled: int
    after: ClusterMeasures


@dataclass(frozen=True, slots=True)
class ComparisonAnswer(Answer):
    """Two configurations on the same pods from the same start.

    `fits` means that no drain is held up, and that under the second configuration a pod has a node if it has one now,
    gets one under the first, or is new.
    """

    ROWS: ClassVar[str] = "differences"

    fits: bool
    summary: str
    steps: tuple[WhatIfStep, ...]
    pods: int
    same: int
    first: ComparedConfiguration
    second: ComparedConfiguration
    differences: tuple[PlacementDifference, ...]
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class PodMove(Answer):
    """A pod that goes to another node."""

    pod: str
    to_node: str


@dataclass(frozen=True, slots=True)
class EmptiedNode(Answer):
    """A node that can be emptied: rounds of evictions with the pods' new places, and the freed allocatable."""

    node: str
    rounds: tuple[tuple[PodMove, ...], ...]
    cpu: int
    memory: int
    left: tuple[LeftPod, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptNode(Answer):
    """A tried node that cannot be emptied, and why."""

    node: str
    why: str


@dataclass(frozen=True, slots=True)
class ConsolidationAnswer(Answer):
    """Nodes that can be emptied, in this order: cordon all of them, then drain one after the other."""

    ROWS: ClassVar[str] = "emptied"

    fits: bool
    summary: str
    emptied: tuple[EmptiedNode, ...]
    kept: tuple[KeptNode, ...]
    freed_cpu: int
    freed_memory: int
    before: ClusterMeasures
    after: ClusterMeasures
    gaps: tuple[Gap, ...] = ()
