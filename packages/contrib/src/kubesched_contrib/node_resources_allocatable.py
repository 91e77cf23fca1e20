"""NodeResourcesAllocatable: prefer nodes by their allocatable amounts, independent of their pods.

From the nodes' allocatable amounts and the weights of resources to scores: with `mode: Least` small nodes are best,
with `mode: Most` big ones. A node's raw score is the weighted mean of its amounts (milli-CPU, bytes, or counts).
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kubesched import CycleState, Nodes, PodInfo, Reads, Registration, ScorePlugin

MAX_SCORE = 100
LARGE = 2**62


@dataclass(frozen=True)
class ResourceWeight:
    """A resource, and its weight."""

    name: str
    weight: int

    def __post_init__(self) -> None:
        if self.weight <= 0:
            raise ValueError(f"weight: resource weight of {self.name} should be a positive value, got {self.weight}")


@dataclass(frozen=True)
class NodeResourcesAllocatableArgs:
    """Arguments of NodeResourcesAllocatable; by default a milli-CPU counts as much as a MiB of memory."""

    mode: Literal["Least", "Most"] = "Least"
    resources: tuple[ResourceWeight, ...] = field(
        default=(ResourceWeight("cpu", 1 << 20), ResourceWeight("memory", 1)),
    )

    def __post_init__(self) -> None:
        names = [resource.name for resource in self.resources]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            raise ValueError(f"resources: {twice} is given twice; give each resource one weight")
        if not names:
            raise ValueError("resources: the list is empty; name a resource, or leave the field out")


class NodeResourcesAllocatable(ScorePlugin):
    """Scores nodes by their allocatable resources."""

    name = "NodeResourcesAllocatable"
    score_reads = Reads.RESOURCES
    score_key_of_template = True
    in_range = True

    def __init__(self, args: NodeResourcesAllocatableArgs | None = None) -> None:
        self._args = args or NodeResourcesAllocatableArgs()

    def events_to_register(self) -> tuple[Registration, ...]:
        """Return no events: a score rejects no pod."""
        return ()

    def score_key(self, pod: PodInfo) -> str:
        """Return no key: the score depends on nodes alone."""
        return ""

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64]:
        """Return the weighted mean of each node's amounts, negative if small nodes are best."""
        weights = {resource.name: resource.weight for resource in self._args.resources}
        amounts = {name: nodes.allocatable(name) for name in weights}
        largest = max((int(amount.max(initial=0)) for amount in amounts.values()), default=0)
        # a weight has no upper bound: amounts that might exceed 64 bits are computed with Python's integers
        numbers = np.int64 if largest * sum(weights.values()) < LARGE else object
        total = np.zeros(len(nodes), numbers)
        for name, weight in weights.items():
            total += amounts[name].astype(numbers) * weight
        mean = (total // sum(weights.values())).astype(np.int64)
        return -mean if self._args.mode == "Least" else mean

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scores scaled to 0 to 100: the lowest gets 0, the highest 100; 0 for all if they are equal."""
        above = scores - scores.min(initial=LARGE)
        span = int(above.max(initial=0))
        if not span:
            return np.zeros_like(scores)
        numbers = np.int64 if span * MAX_SCORE < LARGE else object
        stretched: NDArray[np.int64] = (above.astype(numbers) * MAX_SCORE // span).astype(np.int64)
        return stretched
