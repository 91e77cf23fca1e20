"""The arguments of NodeResourceTopologyMatch, under the names of scheduler-plugins v0.34."""

from dataclasses import dataclass, field
from typing import Literal

Strategy = Literal["LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"]


@dataclass(frozen=True)
class ZoneResourceWeight:
    """The weight of a resource in a zone's score; 0 counts as 1."""

    name: str
    weight: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 2**31:
            raise ValueError(f"weight: the weight of {self.name} must be between 0 and {2**31}, got {self.weight}")


DEFAULT_WEIGHTS = (ZoneResourceWeight("cpu", 1), ZoneResourceWeight("memory", 1))


@dataclass(frozen=True)
class ZoneScoringStrategy:
    """The scoring strategy, and the weights of resources; an unnamed resource has weight 1."""

    type: Strategy = "LeastAllocated"
    resources: tuple[ZoneResourceWeight, ...] = DEFAULT_WEIGHTS

    def weights(self) -> dict[str, int]:
        """Return the weights by resource."""
        return {resource.name: resource.weight or 1 for resource in self.resources}


@dataclass(frozen=True)
class NodeResourceTopologyCacheArgs:
    """Settings of the reference's cache; they are accepted, but have no effect here."""

    foreign_pods_detect: Literal["None", "All", "OnlyExclusiveResources"] = "All"
    resync_method: Literal["Autodetect", "All", "OnlyExclusiveResources"] = "Autodetect"
    informer_mode: Literal["Shared", "Dedicated"] = "Dedicated"
    resync_scope: Literal["All", "OnlyResources"] = "All"


@dataclass(frozen=True)
class NodeResourceTopologyMatchArgs:
    """Arguments of NodeResourceTopologyMatch."""

    scoring_strategy: ZoneScoringStrategy = field(default_factory=ZoneScoringStrategy)
    cache_resync_period_seconds: int = 0
    discard_reserved_nodes: bool = False
    cache: NodeResourceTopologyCacheArgs = field(default_factory=NodeResourceTopologyCacheArgs)

    def __post_init__(self) -> None:
        if self.cache_resync_period_seconds < 0:
            raise ValueError(
                f"cacheResyncPeriodSeconds: must not be negative, got {self.cache_resync_period_seconds}; leave it out"
            )
