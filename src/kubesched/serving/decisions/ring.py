"""The ring of the last decisions, bounded by memory: the oldest are dropped for the newest.

From entries with their estimated sizes to records. One thread adds and changes entries; others may read at any time.
"""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from kubesched.core.framework.decision_details import PlacementScores, RejectedNodes
from kubesched.serving.decisions.records import (
    VERSION,
    DecisionPage,
    DecisionRecord,
    QueueMove,
    RecordedPreemption,
    RejectedGroup,
    ScoredNode,
)

# bytes of an entry without its texts: the entry itself, numbers, its place in the ring and under its UID
ENTRY_BYTES = 640
# bytes of an object in an entry: a text without its characters, a tuple, a number, a struct
OBJECT_BYTES = 72
# how many decisions are served where the request does not say
DEFAULT_LIMIT = 100
# tries to copy the ring while another thread changes it
MOST_TRIES = 10


class EntryMove(msgspec.Struct, frozen=True, gc=False):
    """A move in the queue: when, by which event, to which place."""

    at: float
    event: str
    place: str


class EntryPreemption(msgspec.Struct, frozen=True, gc=False):
    """A preemption: its node, the number of victims, and the names of some that are evicted."""

    node: str
    victims: int
    evicted: tuple[str, ...] = ()


class RingEntry(msgspec.Struct, gc=False):
    """A decision in the ring; times are seconds of the epoch, 0 if unknown."""

    at: float
    namespace: str
    name: str
    uid: str
    outcome: str
    profile: str = ""
    attempt: int = 0
    node: str = ""
    feasible: int = 0
    seconds: float = 0.0
    evaluated: int = 0
    size: int = 0
    detailed: bool = False
    scores: PlacementScores | None = None
    message: str = ""
    rejected_by: tuple[str, ...] = ()
    rejected: tuple[RejectedNodes, ...] = ()
    nominated: str = ""
    preemption: EntryPreemption | None = None
    woken_by: str = ""
    bound_at: float = 0.0
    place: str = ""
    backoff_until: float = 0.0
    moves: tuple[EntryMove, ...] = ()


class DecisionRing:
    """The last decisions, in at most `limit_bytes`; `now` is the time in seconds of the epoch."""

    def __init__(self, limit_bytes: int, now: Callable[[], float]) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self.recorded = 0
        self._now = now
        self._entries: deque[RingEntry] = deque()
        # by UID; pods that are bound leave: nothing more is decided about them, and a small dictionary is faster
        self._latest: dict[str, RingEntry] = {}
        # returns the last entry of a pod that is not bound, None if there is none any more
        self.latest: Callable[[str], RingEntry | None] = self._latest.get

    def __len__(self) -> int:
        return len(self._entries)

    # -- writing

    def add(self, entry: RingEntry) -> None:
        """Add an entry, whose size counts the texts that it has already."""
        entry.size += ENTRY_BYTES + len(entry.namespace) + len(entry.name) + len(entry.uid)
        self.recorded += 1
        self._entries.append(entry)
        self._latest[entry.uid] = entry
        self.used_bytes += entry.size
        if self.used_bytes > self.limit_bytes:
            self._shrink()

    def close(self, uid: str) -> None:
        """Expect no more of a pod."""
        self._latest.pop(uid, None)

    def grow(self, entry: RingEntry, more_bytes: int) -> None:
        """Count what was added to an entry."""
        entry.size += more_bytes
        self.used_bytes += more_bytes
        if self.used_bytes > self.limit_bytes:
            self._shrink()

    def _shrink(self) -> None:
        while self.used_bytes > self.limit_bytes and self._entries:
            oldest = self._entries.popleft()
            self.used_bytes -= oldest.size
            if self._latest.get(oldest.uid) is oldest:
                del self._latest[oldest.uid]

    # -- reading

    def page(self, pod: str = "", limit: int = DEFAULT_LIMIT) -> DecisionPage:
        """Return the last decisions, of all pods or of `namespace/name`; from any thread."""
        entries = self._copied()
        found: list[DecisionRecord] = []
        for entry in reversed(entries):
            if len(found) >= limit:
                break
            if not pod or f"{entry.namespace}/{entry.name}" == pod:
                found.append(record_of(entry))
        return DecisionPage(
            version=VERSION,
            now=_date(self._now()),
            recorded=self.recorded,
            kept=len(entries),
            since=_date(entries[0].at) if entries else None,
            decisions=tuple(found),
        )

    def _copied(self) -> tuple[RingEntry, ...]:
        for _ in range(MOST_TRIES):
            try:
                return tuple(self._entries)
            except RuntimeError:
                # another thread added an entry meanwhile
                continue
        return ()


def record_of(entry: RingEntry) -> DecisionRecord:
    """Return an entry as a value."""
    scores, preemption = entry.scores, entry.preemption
    return DecisionRecord(
        time=_date(entry.at),
        pod=f"{entry.namespace}/{entry.name}",
        uid=entry.uid,
        outcome=entry.outcome,
        profile=entry.profile,
        attempt=entry.attempt,
        node=entry.node,
        evaluated_nodes=entry.evaluated,
        feasible_nodes=entry.feasible,
        seconds=round(entry.seconds, 6),
        message=entry.message,
        rejected_by=entry.rejected_by,
        detailed=entry.detailed,
        ties=0 if scores is None else scores.ties,
        scores=() if scores is None else _scored(scores),
        rejected=tuple(
            RejectedGroup(plugin=each.plugin, message=each.message, nodes=each.count, sample=each.sample)
            for each in entry.rejected
        ),
        nominated_node=entry.nominated,
        preemption=None
        if preemption is None
        else RecordedPreemption(node=preemption.node, victims=preemption.victims, evicted=preemption.evicted),
        woken_by=entry.woken_by,
        bound_at=_date(entry.bound_at) if entry.bound_at else None,
        place=entry.place,
        backoff_until=_date(entry.backoff_until) if entry.backoff_until else None,
        moves=tuple(QueueMove(time=_date(move.at), event=move.event, place=move.place) for move in entry.moves),
    )


def _scored(scores: PlacementScores) -> tuple[ScoredNode, ...]:
    return tuple(
        ScoredNode(node=each.node, total=each.total, scores=dict(zip(scores.plugins, each.scores, strict=True)))
        for each in scores.nodes
    )


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
