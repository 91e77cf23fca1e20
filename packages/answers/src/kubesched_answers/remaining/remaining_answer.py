"""The answer about the free capacity of a cluster: values.

From `remaining` to reports, JSON and notebooks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched_answers.capacity.capacity_answer import TemplateCapacity


@dataclass(frozen=True, slots=True)
class RemainingResource(Answer):
    """The total capacity of a resource, the requests of pods, and the free amount.

    `closed` is free on nodes that take no pod without tolerations; `stranded` is free on other nodes, on which a
    typical pod does not fit. `largest` is the largest free amount of one node, `largest_node`.
    """

    resource: str
    allocatable: str
    requested: str
    free: str
    closed: str
    stranded: str
    largest: str
    largest_node: str


@dataclass(frozen=True, slots=True)
class RemainingPlace(Answer):
    """A zone or a pool: its nodes, with their capacity and free amounts by resource."""

    name: str
    nodes: int
    allocatable: Mapping[str, str]
    free: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RemainingAnswer(Answer):
    """The free capacity of a cluster.

    `typical` has the number of pods with the median requests that still fit, their limits, and the largest pod; such a
    pod tolerates no taint. `closed_nodes` is the number of nodes that take no pod without tolerations.
    """

    ROWS: ClassVar[str] = "resources"

    summary: str
    nodes: int
    closed_nodes: int
    resources: tuple[RemainingResource, ...]
    zones: tuple[RemainingPlace, ...]
    pool_label: str
    pools: tuple[RemainingPlace, ...]
    typical: TemplateCapacity | None = None
    gaps: tuple[Gap, ...] = ()
