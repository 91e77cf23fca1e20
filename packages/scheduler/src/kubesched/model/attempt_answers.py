"""What an attempt to schedule a pod comes to, as values: scores, a placement, a preemption.

From the model to reports, JSON, notebooks and the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from kubesched.reports.answers import Answer


@dataclass(frozen=True, slots=True)
class Victim(Answer):
    """A pod that preemption would evict, and the budgets that its eviction violates."""

    pod: str
    priority: int
    owner: str | None = None
    violates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreemptionCandidate(Answer):
    """A node on which evicting the victims makes room."""

    node: str
    victims: tuple[Victim, ...]
    budget_violations: int


@dataclass(frozen=True, slots=True)
class PreemptionAnswer(Answer):
    """Whether preemption helps: the node that would be chosen, the candidates; or why not."""

    helps: bool
    message: str
    node: str | None = None
    # the chosen one first; of many only the best
    candidates: tuple[PreemptionCandidate, ...] = ()
    candidate_count: int = 0


@dataclass(frozen=True, slots=True)
class NodeScore(Answer):
    """A feasible node: its rank, its total and the weighted scores by plugin."""

    node: str
    rank: int
    total: int
    scores: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PlacementAnswer(Answer):
    """Why a node is chosen: its scores beside those of the runners-up, and what decided.

    `chosen` is None if the node is not feasible any more; `ties` is how many nodes have the highest total.
    """

    node: str
    feasible: int
    chosen: NodeScore | None
    runners_up: tuple[NodeScore, ...]
    decided_by: str
    # where the pod would go if it were scheduled again today; for a bound pod
    again: str | None = None
    ties: int = 0
    # when it was decided; None for what would happen today
    at: datetime | None = None
