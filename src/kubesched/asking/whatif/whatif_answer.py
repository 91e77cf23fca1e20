"""The answers about what would be: values.

From `whatif`, `compare` and `consolidate` to reports, JSON, notebooks. CPU is in thousandths of a core, memory in
bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer

# what becomes of a pod
STAYS, MOVES, BECOMES_BOUND = "stays", "moves", "becomes-bound"
STAYS_PENDING, BECOMES_PENDING = "stays-pending", "becomes-pending"
NEW, NEW_PENDING, DELETED, LOST = "new", "new-pending", "deleted", "lost"
# deleted, and created again by its controller on the same node
REPLACED = "replaced"
# a pod that has no node in the end, other than a deleted one
WITHOUT_PLACE = (STAYS_PENDING, BECOMES_PENDING, NEW_PENDING, LOST)


@dataclass(frozen=True, slots=True)
class PodChange(Answer):
    """What becomes of a pod: the node it leaves, the node it gets, or the scheduler's message.

    A pod moves if its controller creates another one in its place; `replaced_by` is the name of that one if it differs.
    A pod that is lost has no controller that would create it again. `held` is a pending pod that is not to be scheduled
    yet, or by another scheduler.
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
    """A workload that does not get to its end, and why: a rollout that hangs, or pods that are not created.

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
    """A pod that a drain does not get off its node, and the budgets that forbid it."""

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
    """One operation: what was done, to which nodes; and of a drain the order in which it goes.

    `refused` are the pods because of which `kubectl drain` does not begin with their node.
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
        """Return whether the operation does not get to its end."""
        return bool(self.held_up or self.refused)


@dataclass(frozen=True, slots=True)
class ResourceUse(Answer):
    """How much of a resource pods request, of how much there is."""

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
    """How evenly owners' pods are spread over zones; the skew is most minus fewest pods in a zone."""

    zones: int
    owners: int
    mean_skew: float
    worst_skew: int
    worst_owner: str | None = None


@dataclass(frozen=True, slots=True)
class OwnerSpread(Answer):
    """An owner whose pods are spread otherwise than before: pods by zone."""

    owner: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    skew_before: int
    skew_after: int


@dataclass(frozen=True, slots=True)
class Fragmentation(Answer):
    """What is free, and in which pieces.

    `largest_cpu` and `largest_memory` are the requests of the largest pods that fit, each for itself. Stranded is what
    is free on nodes that do not take the typical pod, whose requests are the medians.
    """

    largest_cpu: int
    largest_memory: int
    stranded_cpu: int
    stranded_memory: int
    typical_cpu: int
    typical_memory: int


@dataclass(frozen=True, slots=True)
class ClusterMeasures(Answer):
    """A cluster in sums."""

    nodes: int
    placed: int
    pending: int
    uses: tuple[ResourceUse, ...]
    zones: tuple[ZoneUse, ...]
    spread: SpreadSummary
    fragmentation: Fragmentation


@dataclass(frozen=True, slots=True)
class WhatIfAnswer(Answer):
    """What becomes of the cluster because of the operations; `changes` has every pod that does not stay where it is.

    `anyway` is what happens without the operations, too: they begin after that, and `before` is measured then.
    `unfinished` are the workloads that do not get to their end because of the operations.

    `fits` says that no drain is refused or held up, that no workload is unfinished, and that each pod has a place that
    had one, is new, or belongs to a workload that was scaled or applied. Where the only aim is places for pending pods
    (new nodes, a taint that ends, another configuration), all of them have to have one. Held pods do not count.
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

    Scores are there for the first differences; later ones follow from places that were taken before.
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
    """One of the compared configurations: its name, and the cluster in sums after its placements."""

    name: str
    scheduled: int
    unscheduled: int
    after: ClusterMeasures


@dataclass(frozen=True, slots=True)
class ComparisonAnswer(Answer):
    """Two configurations on the same pods from the same start.

    `fits` says that no drain is held up, and that under the second configuration each pod has a node that has one now,
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
    """A node that can be emptied: rounds of evictions with the pods' new places, and the allocatable that is freed."""

    node: str
    rounds: tuple[tuple[PodMove, ...], ...]
    cpu: int
    memory: int
    left: tuple[LeftPod, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptNode(Answer):
    """A node that was tried and cannot be emptied, and why."""

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
