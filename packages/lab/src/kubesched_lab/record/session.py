"""One recording: reflectors watch a cluster, and lines go to a file until the user or a limit ends it.

From a client and a file to a summary. The recording begins when every kind is listed; the objects that exist then are
at time 0. A broken watch is resumed, or the kind is listed again: reflectors report only the differences.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.client.informers.reflector import Reflector
from kubesched.client.informers.server_incarnation import IncarnationTracker
from kubesched.client.rest import Rest
from kubesched.common.notes import Note
from kubesched.common.virtual_time import BEGINNING
from kubesched.sources.followed_kinds import FollowableKinds, release_and_kinds
from kubesched.sources.live import UNCERTAIN
from kubesched.sources.patience import unless_stopped
from kubesched_lab.record.line_encoder import PLAIN, LineEncoder
from kubesched_lab.record.recording_file import RecordingFile
from kubesched_lab.record.recording_header import HeaderLine, new_header
from kubesched_lab.record.resuming import RecordingState
from kubesched_lab.simulate.traces.recording.recorder import Recorder

FLUSH_SECONDS = 0.5
LOOK_SECONDS = 0.05


class Limits(msgspec.Struct, frozen=True):
    """Limits that end a recording."""

    seconds: float | None = None
    size: int | None = None
    events: int | None = None


UNLIMITED = Limits()


class RecordingProgress(msgspec.Struct, frozen=True):
    """The progress of a recording."""

    seconds: float
    events: int
    size: int
    # false while the cluster is being listed
    begun: bool = True


class RecordingSession:
    """A recording; set `stop` to end it."""

    def __init__(
        self,
        rest: Rest,
        file: RecordingFile,
        limits: Limits = UNLIMITED,
        *,
        state: RecordingState | None = None,
        encoder: LineEncoder = PLAIN,
        pod_selector: str = "",
        note: Note = lambda line: None,
        tell: Callable[[RecordingProgress], None] = lambda progress: None,
        date: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._rest = rest
        self._file = file
        self._limits = limits
        self._state = state
        self._encoder = encoder
        self._pod_selector = pod_selector
        self._note = note
        self._tell = tell
        self._date = date
        self._recorder: Recorder | None = None
        self._reflectors: Mapping[str, Reflector[Any]] = {}
        # the start of this session, which is later than that of a resumed recording
        self._began = self._session_began = date()
        self.stop = asyncio.Event()

    async def run(self) -> RecordingProgress:
        """Record until the end; raises KubeschedError."""
        try:
            await self._record()
        finally:
            self._file.close()
        return self._progress()

    async def _record(self) -> None:
        found = await unless_stopped(self.stop, release_and_kinds(self._rest, self._pod_selector))
        if found is None:
            return
        version, kinds = found
        for kind, why in kinds.left_out:
            uncertain = UNCERTAIN.get(kind, f"nothing depends on {kind}")
            self._note(f"left out: {kind}: {why}; in simulations {uncertain}")
        relay = _Relay()
        server = IncarnationTracker(self._rest, self._note)
        reflectors = self._reflectors = {
            kind.name: Reflector(
                self._rest, kind.path, kind.kind, relay, query=kind.query, note=self._note, server=server
            )
            for kind in kinds.watched
        }
        tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors.values()]
        try:
            if await self._synced(reflectors.values()):
                relay.recorder = self._begin(version, kinds)
                await self._follow()
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _synced(self, reflectors: Collection[Reflector[Any]]) -> bool:
        """Wait until every kind is listed; return False if the recording ends before."""
        while not self.stop.is_set():
            if all(reflector.synced.is_set() for reflector in reflectors):
                return True
            self._tell(self._progress())
            await asyncio.sleep(LOOK_SECONDS)
        return False

    def _begin(self, version: str, kinds: FollowableKinds) -> Recorder:
        """Record the existing objects."""
        self._session_began = self._date()
        state = self._state
        self._began = self._session_began if state is None else state.began
        recorder = Recorder(
            self._write,
            lambda: (self._date() - self._began).total_seconds(),
            BEGINNING - self._began,
            None if state is None else state.known,
            0.0 if state is None else state.at,
        )
        recorder.is_listing = lambda kind: not self._reflectors[kind].complete
        self._recorder = recorder
        if state is None:
            left_out = [kind for kind, _ in kinds.left_out]
            header = new_header(self._began, version, left_out, anonymised=self._encoder.anonymises)
            self._file.write(msgspec.json.encode(HeaderLine(header)) + b"\n")
        self._encoder.learn(recorder.forms_of(self._objects()))
        recorder.begin(self._objects())
        self._file.flush()
        return recorder

    def _objects(self) -> Iterator[ApiObject]:
        """Yield the present objects."""
        for reflector in self._reflectors.values():
            yield from reflector.objects.values()

    async def _follow(self) -> None:
        """Record events until the end."""
        while not self._is_over():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause()):
                    await self.stop.wait()
            self._file.flush()
            self._tell(self._progress())

    def _pause(self) -> float:
        if self._limits.seconds is None:
            return FLUSH_SECONDS
        return max(0.0, min(FLUSH_SECONDS, self._limits.seconds - self._progress().seconds))

    def _is_over(self) -> bool:
        progress, limits = self._progress(), self._limits
        return (
            self.stop.is_set()
            or (limits.seconds is not None and progress.seconds >= limits.seconds)
            or (limits.size is not None and progress.size >= limits.size)
            or (limits.events is not None and progress.events >= limits.events)
        )

    def _progress(self) -> RecordingProgress:
        recorder = self._recorder
        events = 0 if recorder is None else recorder.events
        if self._limits.events is not None:
            events = min(events, self._limits.events)
        seconds = (self._date() - self._session_began).total_seconds()
        return RecordingProgress(seconds, events, self._file.size, recorder is not None)

    # -- lines

    def _write(self, line: Mapping[str, Any]) -> None:
        recorder, most = self._recorder, self._limits.events
        assert recorder is not None
        if most is not None and recorder.events > most:
            self.stop.set()
            return
        if self._encoder.learn(value for value in line.values() if isinstance(value, ApiObject)):
            # the codes of existing objects have changed
            recorder.write_again(list(self._objects()))
        self._file.write(self._encoder.encode(line))
        if most is not None and recorder.events >= most:
            self.stop.set()


class _Relay:
    """Passes reports on to the recorder once it exists; until then the reflectors keep their lists."""

    recorder: Recorder | None = None

    def put(self, obj: ApiObject) -> None:
        """Report a new or changed object."""
        if self.recorder is not None:
            self.recorder.put(obj)

    def drop(self, obj: ApiObject) -> None:
        """Report a deleted object."""
        if self.recorder is not None:
            self.recorder.drop(obj)
