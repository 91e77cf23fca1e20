"""The event recorder: events of pods, as `kubectl describe` shows them.

From `Emit` values to events.k8s.io/v1 objects. Repeats of an event are counted: the second makes it a series, further
ones are written when the series ends, or now and then. The scheduler never waits for an event; when too many are
pending, new ones are dropped and counted, so that a slow server costs events and not memory.
"""

# upstream: client-go/tools/events/{event_broadcaster,event_recorder}.go (v1.36)

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from random import Random

import msgspec

from kubesched.api import tolerant_json
from kubesched.api.kinds import API_VERSIONS
from kubesched.api.meta import ApiObject
from kubesched.api.paths import path_of
from kubesched.api.pods import Pod
from kubesched.client.effects import STRATEGIC_MERGE_PATCH
from kubesched.client.rest import Refused, Rest, Unreachable
from kubesched.common.notes import seldom
from kubesched.core.framework.values.effects import Emit

MOST_TRIES = 12
TRY_AGAIN_SECONDS = 10.0
# a series without a new event for this long has ended
FINISHED_AFTER = timedelta(minutes=6)
REFRESHED_EVERY = timedelta(minutes=30)
# differs (D-035): the reference starts a goroutine for each event, and remembers all events of the last minutes
MOST_WAITING = 10_000
MOST_REMEMBERED = 4096
WORKERS = 10
# up to this many waiting events only WORKERS tasks write them, so that bindings come first; beyond it another task
# helps for each HELP_EVERY waiting events, so that none is dropped
PATIENT = MOST_WAITING // 2
HELP_EVERY = 40
MOST_HELPING = 90
LONGEST_NAME_START = 230

DEFAULT_SCHEDULER = "default-scheduler"

Key = tuple[str, ...]
_encoder = msgspec.json.Encoder()


class _Metadata(msgspec.Struct, gc=False):
    name: str
    namespace: str


class _Regarding(msgspec.Struct, rename="camel", gc=False):
    kind: str
    api_version: str
    namespace: str
    name: str
    uid: str
    resource_version: str


class _Series(msgspec.Struct, rename="camel", gc=False):
    count: int
    last_observed_time: str


class _Event(msgspec.Struct, rename="camel", gc=False):
    """An event as the API server reads it."""

    api_version: str
    kind: str
    metadata: _Metadata
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: _Regarding
    note: str
    type: str
    series: _Series | msgspec.UnsetType = msgspec.UNSET


class _SeriesPatch(msgspec.Struct, gc=False):
    series: _Series


class Occurrence(msgspec.Struct):
    """An event that was written, and how often it was repeated."""

    namespace: str
    name: str
    body: _Event
    count: int
    last: datetime
    written: datetime


class EventRecorder:
    """Writes events in the background, several at a time."""

    def __init__(
        self,
        rest: Rest,
        host: str,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        note: Callable[[str], None] = lambda line: None,
        random: Random | None = None,
    ) -> None:
        self._rest = rest
        self._host = host
        self._clock = clock
        # a server that fails, fails for every event
        self._note = seldom(note, time.monotonic)
        self._random = random or Random()
        self._waiting: deque[tuple[Occurrence, bool]] = deque()
        # events that wait or are being written, and who waits until there are none
        self._unwritten = 0
        self._drained: asyncio.Future[None] | None = None
        # workers without an event; one of them is woken at a time, and wakes the next one if events are left
        self._resting: list[asyncio.Future[None]] = []
        self._waking = False
        # the reporter of the last event, and its instance
        self._reporter = self._instance = ""
        self._remembered: OrderedDict[Key, Occurrence] = OrderedDict()
        self._helping: set[asyncio.Task[None]] = set()
        self.left_out = 0

    def record(self, emit: Emit, *, by_note: bool = False) -> None:
        """Queue an event to be written; a repeat increases its count. `by_note`: repeats have the same note."""
        now = self._clock()
        reporter = reporter_of(emit)
        key = (emit.type, emit.action, emit.reason, reporter, *_identity(emit.regarding))
        if by_note:
            key = (*key, emit.note)
        known = self._remembered.get(key)
        if known is not None:
            self._remembered.move_to_end(key)
            known.count += 1
            known.last = now
            if known.count == 2:
                self._enqueue(known, again=True)
            return
        occurrence = self._new(emit, reporter, now)
        self._remembered[key] = occurrence
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)
        self._enqueue(occurrence, again=False)

    async def run(self) -> None:
        """Write events until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(WORKERS):
                    tasks.create_task(self._work())
                tasks.create_task(self._tidy())
        finally:
            for helping in self._helping:
                helping.cancel()

    async def drain(self, seconds: float) -> None:
        """Wait a little for pending events to be written."""
        try:
            async with asyncio.timeout(seconds):
                while self._unwritten:
                    if self._drained is None or self._drained.done():
                        self._drained = asyncio.get_running_loop().create_future()
                    await asyncio.shield(self._drained)
        except TimeoutError:
            pass

    def _enqueue(self, occurrence: Occurrence, *, again: bool) -> None:
        waiting = len(self._waiting)
        if waiting < MOST_WAITING:
            self._waiting.append((occurrence, again))
            self._unwritten += 1
            self._wake_one()
        else:
            self.left_out += 1
        helping = len(self._helping)
        if helping < MOST_HELPING and waiting >= PATIENT + HELP_EVERY * helping:
            task = asyncio.create_task(self._help())
            self._helping.add(task)
            task.add_done_callback(self._helping.discard)

    def _wake_one(self) -> None:
        """Wake a resting worker, unless one is about to run."""
        while self._resting and not self._waking:
            resting = self._resting.pop()
            if not resting.done():
                resting.set_result(None)
                self._waking = True

    async def _work(self) -> None:
        while True:
            while not self._waiting:
                resting = asyncio.get_running_loop().create_future()
                self._resting.append(resting)
                try:
                    await resting
                finally:
                    self._waking = False
            await self._write_next()

    async def _help(self) -> None:
        while len(self._waiting) > PATIENT:
            await self._write_next()

    async def _write_next(self) -> None:
        occurrence, again = self._waiting.popleft()
        if self._waiting:
            self._wake_one()
        try:
            await self._write(occurrence, again=again)
        finally:
            self._unwritten -= 1
            if not self._unwritten and self._drained is not None and not self._drained.done():
                self._drained.set_result(None)

    async def _tidy(self) -> None:
        """End series, write the counts of running ones, and log how many events were dropped."""
        while True:
            await asyncio.sleep(FINISHED_AFTER.total_seconds())
            self.tidy()
            if self.left_out:
                self._note(f"{self.left_out} events were left out, since the API server did not take them fast enough")
                self.left_out = 0

    def tidy(self) -> None:
        """Forget events that were not repeated for long; queue the counts of series that are due."""
        now = self._clock()
        for key, occurrence in list(self._remembered.items()):
            ended = now - occurrence.last >= FINISHED_AFTER
            if ended:
                del self._remembered[key]
            if occurrence.count > 1 and (ended or now - occurrence.written >= REFRESHED_EVERY):
                self._enqueue(occurrence, again=True)

    async def _write(self, occurrence: Occurrence, *, again: bool) -> None:
        for _ in range(MOST_TRIES):
            occurrence.written = self._clock()
            try:
                await self._send(occurrence, again=again)
                return
            except Refused as refused:
                if refused.code == 409 and again:
                    # it was created meanwhile: now it can be patched
                    continue
                if refused.code != 409:
                    self._note(f"the server rejected an event: {refused}")
                return
            except Unreachable as error:
                self._note(f"an event could not be written: {error}")
            await asyncio.sleep(TRY_AGAIN_SECONDS * (1 + 0.25 * self._random.random()))

    async def _send(self, occurrence: Occurrence, *, again: bool) -> None:
        body = occurrence.body
        if again:
            series = _Series(occurrence.count, _micro_time(occurrence.last))
            path = path_of("Event", occurrence.namespace, occurrence.name)
            patch = _encode(_SeriesPatch(series))
            try:
                await self._rest.send("PATCH", path, patch, content_type=STRATEGIC_MERGE_PATCH)
                return
            except Refused as refused:
                if refused.code != 404:
                    raise
            body = msgspec.structs.replace(body, series=series)
        await self._rest.send("POST", _collection(occurrence.namespace), _encode(body))

    def _new(self, emit: Emit, reporter: str, now: datetime) -> Occurrence:
        regarding = emit.regarding
        meta = regarding.metadata
        namespace = meta.namespace or "default"
        name = f"{meta.name[:LONGEST_NAME_START]}.{round(now.timestamp() * 1e9):x}"
        if reporter != self._reporter:
            self._reporter, self._instance = reporter, f"{reporter}-{self._host}"
        kind, api_version = _kind_of(regarding)
        body = _Event(
            "events.k8s.io/v1",
            "Event",
            _Metadata(name, namespace),
            _micro_time(now),
            reporter,
            self._instance,
            emit.action,
            emit.reason,
            _Regarding(kind, api_version, meta.namespace, meta.name, meta.uid, meta.resource_version),
            emit.note,
            emit.type,
        )
        return Occurrence(namespace, name, body, 1, now, now)


def _kind_of(regarding: ApiObject) -> tuple[str, str]:
    """Return the kind and API version of an object; a custom object's come from the object."""
    kind = type(regarding).__name__
    return (kind, API_VERSIONS[kind]) if kind in API_VERSIONS else (regarding.kind, regarding.api_version)


def _identity(regarding: ApiObject) -> Key:
    meta = regarding.metadata
    return (type(regarding).__name__, meta.namespace, meta.name, meta.uid, meta.resource_version)


@lru_cache(1024)
def _collection(namespace: str) -> str:
    return path_of("Event", namespace)


def _encode(document: _Event | _SeriesPatch) -> bytes:
    """Return a document as JSON; notes of plugins may contain texts that are no Unicode."""
    try:
        return _encoder.encode(document)
    except UnicodeEncodeError:
        return tolerant_json.encode(msgspec.to_builtins(document))


def reporter_of(emit: Emit) -> str:
    """Return the reporting controller of an event: the scheduler name of its profile."""
    if emit.reporter:
        return emit.reporter
    return emit.regarding.spec.scheduler_name if isinstance(emit.regarding, Pod) else DEFAULT_SCHEDULER


def _micro_time(moment: datetime) -> str:
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:26] + "Z"
