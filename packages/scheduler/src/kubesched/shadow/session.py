"""A session beside a cluster's scheduler: reflectors follow the cluster, and decisions are judged until it ends.

From a client to an answer. The session sends only get, list and watch requests, and writes nothing, not even an event
or a lease. With the option for it, it asks extenders, but never to bind.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.client.extenders import HttpExtenderClient
from kubesched.client.informers.reflector import Reflector
from kubesched.client.informers.server_incarnation import IncarnationTracker
from kubesched.client.informers.watched_kinds import WatchedKind, watched_kind
from kubesched.client.rest import Rest
from kubesched.common.notes import Note
from kubesched.config.load import Loaded
from kubesched.core.framework.building.registry import Registry
from kubesched.core.loop.extender_client import answered
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched.shadow.changes import ChangeStream
from kubesched.shadow.judgements import Judgement, ShadowAnswer
from kubesched.shadow.shadow_scheduler import ShadowScheduler
from kubesched.shadow.tally import ShadowTally
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched.sources.followed_kinds import FollowableKinds, release_and_kinds
from kubesched.sources.live import UNCERTAIN
from kubesched.sources.patience import unless_stopped

# delay of a change, in which earlier changes of other kinds and later bindings can arrive
SETTLE_SECONDS = 1.0
LOOK_SECONDS = 0.1


class ShadowOptions(msgspec.Struct, frozen=True):
    """The schedulers whose pods are judged (without names all profiles), and the limits of the session."""

    schedulers: tuple[str, ...] = ()
    seconds: float | None = None
    pods: int | None = None
    # differences that sampling of nodes explains count, too
    strict: bool = False
    # seconds between lines of progress
    line_seconds: float = 60.0
    # whether extenders are asked about their pods
    asks_extenders: bool = False


class ShadowSession:
    """A session; set `stop` to end it."""

    def __init__(
        self,
        rest: Rest,
        loaded: Loaded,
        registry: Registry | None = None,
        options: ShadowOptions | None = None,
        *,
        origin: str = "",
        note: Note = lambda line: None,
        tell: Callable[[Judgement], None] = lambda judgement: None,
    ) -> None:
        self._rest = rest
        self._loaded = loaded
        self._registry = registry
        self._options = options or ShadowOptions()
        self._origin = origin
        self._note = note
        self._tell = tell
        self.tally = ShadowTally(strict=self._options.strict)
        self.stop = asyncio.Event()
        # set when every kind is listed and judging begins
        self.begun = asyncio.Event()
        self._relay = _ChangeRelay()
        self._reflectors: Mapping[str, Reflector[Any]] = {}

    async def run(self) -> ShadowAnswer:
        """Judge until the end; raises KubeschedError, Refused, Unreachable."""
        found = await unless_stopped(self.stop, release_and_kinds(self._rest))
        if found is None:
            names = self._options.schedulers or tuple(each.scheduler_name for each in self._loaded.config.profiles)
            return self.tally.answer(self._origin, "", names, 0.0, ())
        version, kinds = found
        gaps = _gaps(kinds)
        for gap in gaps:
            self._note(f"not known: {gap.what}: {gap.why}; {gap.uncertain}")
        objects = ClusterObjects((), origin=self._origin, gaps=gaps, kubernetes=version)
        model = ClusterModel(objects, self._loaded, self._registry)
        model.asks_extenders = self._options.asks_extenders
        tasks = self._follow(kinds)
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            if await self._until_synced():
                began = clock()
                await self._judge(model)
        finally:
            await _end(tasks)
        names = self._options.schedulers or tuple(model.engine.profiles)
        return self.tally.answer(self._origin, version, names, clock() - began, model.gaps)

    def _follow(self, kinds: FollowableKinds) -> Collection["asyncio.Task[None]"]:
        server = IncarnationTracker(self._rest, self._note)
        reflectors = self._reflectors = {
            kind.name: Reflector(
                self._rest, kind.path, kind.kind, self._relay, query=kind.query, note=self._note, server=server
            )
            for kind in (*kinds.watched, *self._custom_kinds())
        }
        return [asyncio.create_task(reflector.run()) for reflector in reflectors.values()]

    def _custom_kinds(self) -> list[WatchedKind]:
        """Return the kinds of custom resources that plugins look up."""
        names = custom_kinds_of(self._loaded, self._registry or Registry())
        return [kind for kind in map(watched_kind, names) if kind is not None]

    async def _until_synced(self) -> bool:
        """Wait until every kind is listed; return False if the session ends before."""
        while not self.stop.is_set():
            if all(reflector.synced.is_set() for reflector in self._reflectors.values()):
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return False

    async def _judge(self, model: ClusterModel) -> None:
        clock = asyncio.get_running_loop().time
        stream = ChangeStream(clock, SETTLE_SECONDS)
        stream.is_listing = lambda kind: kind in self._reflectors and not self._reflectors[kind].complete
        asks, table = self._options.asks_extenders, model.cluster.table
        extenders = self._loaded.config.extenders if asks else ()
        client = HttpExtenderClient(extenders, lambda name: table.nodes[table.row_of[name]])
        shadow = ShadowScheduler(model, stream, self.tally, self._options.schedulers, self._tell, asks=asks)
        # no report comes between the listed objects and the changes that follow
        shadow.history.begin(obj for reflector in self._reflectors.values() for obj in reflector.objects.values())
        self._relay.stream = stream
        for kind, reflector in self._reflectors.items():
            reflector.reached = partial(stream.reached, kind)
        self.begun.set()
        began = told = clock()
        try:
            while not self._is_over(clock() - began):
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self.stop.wait()
                await answered(shadow.steps(), client.ask)
                if clock() - told >= self._options.line_seconds:
                    told = clock()
                    self._note(self.tally.line())
            # the changes that are known already
            await answered(shadow.steps(all_of_them=True), client.ask)
        finally:
            await client.close()

    def _is_over(self, seconds: float) -> bool:
        limits = self._options
        return (
            self.stop.is_set()
            or (limits.seconds is not None and seconds >= limits.seconds)
            or (limits.pods is not None and self.tally.judged >= limits.pods)
        )


class _ChangeRelay:
    """Passes reports on to the stream once it exists; until then the reflectors keep their lists."""

    stream: ChangeStream | None = None

    def put(self, obj: ApiObject) -> None:
        """Report a created or changed object."""
        if self.stream is not None:
            self.stream.put(obj)

    def drop(self, obj: ApiObject) -> None:
        """Report a deleted object."""
        if self.stream is not None:
            self.stream.drop(obj)


def _gaps(kinds: FollowableKinds) -> tuple[Gap, ...]:
    return tuple(Gap(kind, why, UNCERTAIN.get(kind, f"what depends on {kind}")) for kind, why in kinds.left_out)


async def _end(tasks: Collection["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)
