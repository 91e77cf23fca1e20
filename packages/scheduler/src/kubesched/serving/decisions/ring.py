"""The ring of the last decisions, bounded by memory: the oldest are dropped for the newest.

From entries with their estimated sizes to records. One thread adds and changes entries; other threads may read at any
time.
"""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from sys import getsizeof

import msgspec

from kubesched.core.framework.observing.decision_details import PlacementScores, RejectedNodes
from kubesched.serving.decisions.records import (
    VERSION,
    DecisionPage,
    DecisionRecord,
    QueueMove,
    RecordedCandidate,
    RecordedExtender,
    RecordedPreemption,
    RejectedGroup,
    ScoredNode,
)

# bytes of an entry without its texts: the entry itself, numbers, its place in the ring and under its UID
ENTRY_BYTES = 640
# bytes of an object in an entry: a text without its characters, a tuple, a number, a struct
OBJECT_BYTES = 72
# bytes of reasons without their texts: the struct, its numbers, and its place under its message
REASONS_BYTES = 256
# limit on the different reasons that are searched for equal ones
MOST_REASONS = 32
# when the ring is full, this part of it is dropped at once
SLACK = 64
# number of decisions served by default
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


class EntryReasons(msgspec.Struct, gc=False, eq=False):
    """Why a pod has no node: the message and the plugins; kept once for all entries with the same, which it counts."""

    message: str
    plugins: frozenset[str]
    size: int
    users: int = 0


class RingEntry(msgspec.Struct, gc=False, eq=False):
    """A decision in the ring; times are seconds of the epoch, 0 if unknown.

    `details` are the scores of the best nodes or the rejected nodes, None if they were not gathered.
    """

    at: float
    namespace: str
    name: str
    uid: str
    outcome: str
    profile: str = ""
    attempt: int = 0
    seconds: float = 0.0
    evaluated: int = 0
    node: str = ""
    feasible: int = 0
    size: int = 0
    details: PlacementScores | tuple[RejectedNodes, ...] | None = None
    reasons: EntryReasons | None = None
    nominated: str = ""
    preemption: EntryPreemption | None = None
    woken_by: str = ""
    bound_at: float = 0.0
    place: str = ""
    backoff_until: float = 0.0
    moves: tuple[EntryMove, ...] = ()
    point: str = ""
    extenders: tuple[RecordedExtender, ...] = ()
    candidates: tuple[RecordedCandidate, ...] = ()
    candidate_count: int = 0
    generation: int = 1


class DecisionRing:
    """The last decisions, in at most `limit_bytes`; `now` is the time in seconds of the epoch."""

    def __init__(self, limit_bytes: int, now: Callable[[], float]) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self._now = now
        self._dropped = 0
        self._entries: deque[RingEntry] = deque()
        # by UID; pods that are bound leave: nothing more is decided about them, and a small dictionary is faster
        self._latest: dict[str, RingEntry] = {}
        # returns the last entry of a pod that is not bound, None if there is none any more
        self.latest: Callable[[str], RingEntry | None] = self._latest.get
        # by message, the last different ones
        self._reasons: dict[str, EntryReasons] = {}
        # returns the reasons that entries have under a message, None if there are none
        self.reasons: Callable[[str], EntryReasons | None] = self._reasons.get

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def recorded(self) -> int:
        """Return the number of all decisions, of which the last are kept."""
        return self._dropped + len(self._entries)

    # -- writing

    def add(self, entry: RingEntry, reasons: EntryReasons | None = None) -> None:
        """Add an entry, whose size counts the details that it has already, and its reasons."""
        uid = entry.uid
        size = entry.size = entry.size + ENTRY_BYTES + len(entry.namespace) + len(entry.name) + len(uid)
        self._entries.append(entry)
        self._latest[uid] = entry
        self.used_bytes = used = self.used_bytes + size
        if reasons is not None:
            self.explain(entry, reasons)
        elif used > self.limit_bytes:
            self._shrink()

    def close(self, uid: str) -> RingEntry | None:
        """Expect no more of a pod; return its last entry."""
        return self._latest.pop(uid, None)

    def grow(self, entry: RingEntry, more_bytes: int) -> None:
        """Add the size of an entry's new parts."""
        entry.size += more_bytes
        self.used_bytes += more_bytes
        if self.used_bytes > self.limit_bytes:
            self._shrink()

    def new_reasons(self, message: str, plugins: frozenset[str]) -> EntryReasons:
        """Return reasons, the existing object of the entries if it is equal."""
        known = self._reasons.get(message)
        if known is not None and known.plugins == plugins:
            return known
        if len(self._reasons) >= MOST_REASONS:
            # entries keep theirs, which are shared no more
            self._reasons.clear()
        size = REASONS_BYTES + getsizeof(message) + getsizeof(plugins) + OBJECT_BYTES * len(plugins)
        reasons = self._reasons[message] = EntryReasons(message, plugins, size)
        return reasons

    def explain(self, entry: RingEntry, reasons: EntryReasons) -> None:
        """Give an entry its reasons; they count once for all entries that have them."""
        entry.reasons = reasons
        reasons.users = users = reasons.users + 1
        if users == 1:
            self.used_bytes += reasons.size
        if self.used_bytes > self.limit_bytes:
            self._shrink()

    def _shrink(self) -> None:
        """Drop the oldest entries, some at once: that takes less time than one by one."""
        target, entries = self.limit_bytes - self.limit_bytes // SLACK, self._entries
        while entries and self.used_bytes > target:
            oldest = entries.popleft()
            self._dropped += 1
            self.used_bytes -= oldest.size
            if self._latest.get(oldest.uid) is oldest:
                del self._latest[oldest.uid]
            if oldest.reasons is not None:
                self._release(oldest.reasons)

    def _release(self, reasons: EntryReasons) -> None:
        reasons.users -= 1
        if not reasons.users:
            self.used_bytes -= reasons.size
            if self._reasons.get(reasons.message) is reasons:
                del self._reasons[reasons.message]

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
    details, reasons, preemption = entry.details, entry.reasons, entry.preemption
    scores = details if isinstance(details, PlacementScores) else None
    rejected = details if isinstance(details, tuple) else ()
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
        message="" if reasons is None else reasons.message,
        rejected_by=() if reasons is None else tuple(sorted(reasons.plugins)),
        detailed=details is not None,
        ties=0 if scores is None else scores.ties,
        scores=() if scores is None else _scored(scores),
        rejected=tuple(
            RejectedGroup(plugin=each.plugin, message=each.message, nodes=each.count, sample=each.sample)
            for each in rejected
        ),
        point=entry.point,
        extenders=entry.extenders,
        candidates=entry.candidates,
        candidate_count=entry.candidate_count,
        nominated_node=entry.nominated,
        preemption=None
        if preemption is None
        else RecordedPreemption(node=preemption.node, victims=preemption.victims, evicted=preemption.evicted),
        woken_by=entry.woken_by,
        bound_at=_date(entry.bound_at) if entry.bound_at else None,
        place=entry.place,
        backoff_until=_date(entry.backoff_until) if entry.backoff_until else None,
        generation=entry.generation,
        moves=tuple(QueueMove(time=_date(move.at), event=move.event, place=move.place) for move in entry.moves),
    )


def _scored(scores: PlacementScores) -> tuple[ScoredNode, ...]:
    return tuple(
        ScoredNode(node=each.node, total=each.total, scores=dict(zip(scores.plugins, each.scores, strict=True)))
        for each in scores.nodes
    )


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
