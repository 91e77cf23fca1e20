"""A recorded decision as a value, and the page that /debug/decisions serves and `explain` reads.

From the ring to JSON and back, in camel case; absent values are left out. Times are those of the scheduler's clock.
"""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from kubesched.api.tolerant_json import UNREADABLE

# outcomes; a pod is assumed from the choice of its node until it is bound or fails
ASSUMED, BOUND, UNSCHEDULABLE, ERROR = "assumed", "bound", "unschedulable", "error"
SKIPPED, GATED = "skipped", "gated"
# the version of the page; a reader of another version reports it
VERSION = 1
# with a time zone: times without one cannot be compared
Time = Annotated[datetime, msgspec.Meta(tz=True)]


class ScoredNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A feasible node at the time of the decision: its total and the weighted scores by plugin."""

    node: str
    total: int
    scores: dict[str, int] = {}


class RejectedGroup(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The nodes that a plugin rejected with a message: how many, and the names of a few."""

    plugin: str
    message: str
    nodes: int
    sample: tuple[str, ...] = ()


class RecordedPreemption(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The node that victims were evicted from, how many, and the names of some that are evicted already."""

    node: str
    victims: int
    evicted: tuple[str, ...] = ()


class RecordedCandidate(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A node on which preemption would have helped: how many victims, the names of some, violated budgets."""

    node: str
    victims: int
    names: tuple[str, ...] = ()
    budget_violations: int = 0


class RecordedExtender(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An extender's answer: `call` is filter, prioritize, preempt or bind.

    Of `nodes` nodes, `left` passed, had a score, or stayed candidates. `rejected` are its reasons, `scores` the
    highest; `error` is why the call failed.
    """

    extender: str
    call: str
    nodes: int
    left: int
    seconds: float = 0.0
    rejected: tuple[RejectedGroup, ...] = ()
    scores: dict[str, int] = {}
    error: str = ""


class QueueMove(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An event that moved the pod in the queue after the decision, and the place that it was moved to."""

    time: Time
    event: str
    place: str


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One decision about one pod, and its later outcome.

    `detailed` is False if scores or rejected nodes were not gathered: under load that is done for some decisions
    only. `point` is the extension point that rejected the pod or failed, empty if none did. `candidates` are the
    first candidates of preemption, `candidate_count` how many there were. `ties` is the number of nodes with the
    highest total. `woken_by` is the event before this attempt, `place` the place in the queue after it, `moves` the
    later moves. `generation` counts the configurations that were in force, up to that of the attempt.
    """

    time: Time
    pod: str
    uid: str
    outcome: str
    profile: str = ""
    attempt: int = 0
    node: str = ""
    evaluated_nodes: int = 0
    feasible_nodes: int = 0
    seconds: float = 0.0
    message: str = ""
    rejected_by: tuple[str, ...] = ()
    detailed: bool = False
    ties: int = 0
    scores: tuple[ScoredNode, ...] = ()
    rejected: tuple[RejectedGroup, ...] = ()
    point: str = ""
    extenders: tuple[RecordedExtender, ...] = ()
    candidates: tuple[RecordedCandidate, ...] = ()
    candidate_count: int = 0
    nominated_node: str = ""
    preemption: RecordedPreemption | None = None
    woken_by: str = ""
    bound_at: Time | None = None
    place: str = ""
    backoff_until: Time | None = None
    generation: int = 1
    moves: tuple[QueueMove, ...] = ()


class DecisionPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Decisions, the newest first; `since` is the time of the scheduler's oldest kept decision.

    `recorded` counts all decisions since the process started, `kept` the ones that the scheduler still has.
    """

    version: int
    now: Time
    recorded: int
    kept: int
    decisions: tuple[DecisionRecord, ...]
    since: Time | None = None

    def to_json(self) -> bytes:
        """Return the page as JSON."""
        return msgspec.json.encode(self)


def read_page(body: bytes) -> DecisionPage:
    """Return a page from its JSON; raises ValueError if it is none, or of another version."""
    try:
        found: Any = msgspec.json.decode(body)
        version = found["version"] if isinstance(found, dict) else None
        if version != VERSION:
            raise ValueError(f"version {version!r} of the page is unknown; this kubesched reads version {VERSION}")
        return msgspec.convert(found, DecisionPage)
    except (KeyError, *UNREADABLE) as error:
        raise ValueError(f"the answer is no page of decisions: {error}") from None
