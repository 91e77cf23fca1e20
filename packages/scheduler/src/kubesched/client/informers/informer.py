"""The informers of a scheduler: a reflector for each kind that its plugins need.

From the enabled plugins to list-and-watch of just their kinds: a kind that the scheduler's role does not allow to list
would never be synced, and no pod would be scheduled. Kinds of out-of-tree plugins (`foos.v1.example.com`) are watched,
too, as objects with any fields.
"""

# upstream: eventhandlers.go (addAllEventHandlers), scheduler.go (NewInformerFactory) (v1.36)

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from random import Random

from kubesched.api.meta import ApiObject
from kubesched.client.informers.object_cache import EventHandler
from kubesched.client.informers.reflector import Reflector
from kubesched.client.informers.server_incarnation import IncarnationTracker, is_older
from kubesched.client.informers.watched_kinds import WatchedKind
from kubesched.client.rest import Refused, Rest, Unreachable

TRY_AGAIN_SECONDS = 1.0
# how long a watch may take to catch up before the kind is listed instead; a list takes LISTED_SECONDS for each object
MOST_PATIENCE_SECONDS = 2.0
LEAST_PATIENCE_SECONDS = 0.05
LISTED_SECONDS = 0.0001


class Informers:
    """The reflectors of one scheduler."""

    def __init__(
        self,
        rest: Rest,
        kinds: Sequence[WatchedKind],
        handler: EventHandler,
        note: Callable[[str], None],
        random: Random | None = None,
    ) -> None:
        self._rest = rest
        self._handler = handler
        self._note = note
        self._random = random
        self._tell: Callable[[str, str, str], None] | None = None
        self._server = IncarnationTracker(rest, note)
        self.reflectors = {each.name: self._reflector(each) for each in kinds}
        self._same_incarnation = False
        # the server's progress and the number of kinds when that was computed
        self._checked_at = (-1, -1)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        # kinds that nobody needs any more and whose objects are leaving
        self._leaving: set[asyncio.Task[None]] = set()

    def _reflector(self, kind: WatchedKind) -> Reflector[ApiObject]:
        reflector = Reflector(
            self._rest,
            kind.path,
            kind.kind,
            self._handler,
            query=kind.query,
            note=self._note,
            random=self._random,
            server=self._server,
        )
        reflector.needed_by = kind.needed_by
        if self._tell is not None:
            reflector.reader.tell = self._tell
        return reflector

    async def add(self, kinds: Sequence[WatchedKind], within_seconds: float) -> list[WatchedKind]:
        """List and watch more kinds; stop watching kinds that are not listed in time, and return them."""
        # objects of a kind that is watched again have left before
        await asyncio.gather(*self._leaving)
        added = [(kind, self._reflector(kind)) for kind in kinds if kind.name not in self.reflectors]
        if not self._tasks:
            # they are listed when the others are
            self.reflectors |= {kind.name: reflector for kind, reflector in added}
            return []
        listing = [asyncio.create_task(reflector.run()) for _, reflector in added]
        with suppress(TimeoutError):
            async with asyncio.timeout(within_seconds):
                await asyncio.gather(*(reflector.synced.wait() for _, reflector in added))
        missing = []
        for (kind, reflector), task in zip(added, listing, strict=True):
            if reflector.synced.is_set():
                self.reflectors[kind.name] = reflector
                self._tasks[kind.name] = task
            else:
                missing.append(kind)
                await self._drop(reflector, task)
        return missing

    def keep(self, kinds: Collection[str]) -> None:
        """Stop watching all kinds but some, and report the objects of the other kinds as deleted."""
        for name in [each for each in self.reflectors if each not in kinds]:
            reflector, listing = self.reflectors.pop(name), self._tasks.pop(name, None)
            reflector.ended = True
            # a start that waits for this kind goes on
            reflector.synced.set()
            if listing is None:
                self._server.followers.remove(reflector.new_incarnation)
            else:
                leaving = asyncio.create_task(self._drop(reflector, listing))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)

    async def _drop(self, reflector: Reflector[ApiObject], listing: "asyncio.Task[None]") -> None:
        """Stop a reflector, and report the objects that it had listed as deleted."""
        listing.cancel()
        await asyncio.gather(listing, return_exceptions=True)
        self._server.followers.remove(reflector.new_incarnation)
        reflector.reader.forget_all()
        for obj in list(reflector.objects.values()):
            self._handler.drop(obj)

    def tell_of_unreadable(self, tell: Callable[[str, str, str], None]) -> None:
        """Call `tell` for objects that cannot be decoded: with kind, name and reason, which is empty once they can."""
        self._tell = tell
        for reflector in self.reflectors.values():
            reflector.reader.tell = tell

    def start(self) -> None:
        """Begin to list and watch."""
        self._tasks = {name: asyncio.create_task(each.run()) for name, each in self.reflectors.items()}

    async def stop(self) -> None:
        """Stop all reflectors."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), *self._leaving, return_exceptions=True)

    @property
    def synced(self) -> bool:
        """Return whether every kind has been listed once."""
        return all(reflector.synced.is_set() for reflector in self.reflectors.values())

    @property
    def same_incarnation(self) -> bool:
        """Return whether all kinds were listed in the server's current incarnation."""
        progress = self._server.progress, len(self.reflectors)
        if progress != self._checked_at:
            # this is asked at every turn of the scheduler's loop
            current = self._server.incarnation
            self._same_incarnation = all(each.incarnation == current for each in self.reflectors.values())
            self._checked_at = progress
        return self._same_incarnation

    async def until_synced(self) -> None:
        """Wait until every kind has been listed once."""
        for reflector in list(self.reflectors.values()):
            await reflector.synced.wait()

    # differs (D-039): a new leader of the reference schedules with a cache that may lack the last bindings of the old
    # leader
    async def catch_up(self) -> None:
        """Wait until every kind has reached the API server's current resource version."""
        await asyncio.gather(*(self._catch_up(reflector) for reflector in self.reflectors.values()))

    async def _catch_up(self, reflector: Reflector[ApiObject]) -> None:
        while not reflector.ended:
            try:
                newest = await self._server.newest(reflector.path)
            except (Refused, Unreachable) as error:
                self._server.complain(f"cannot tell how new {reflector.path} is", error)
                await asyncio.sleep(TRY_AGAIN_SECONDS)
            else:
                await reach(reflector, newest)
                return

    def objects(self) -> list[ApiObject]:
        """Return all objects of all kinds."""
        return [obj for reflector in self.reflectors.values() for obj in reflector.objects.values()]


async def reach(reflector: Reflector[ApiObject], version: str) -> None:
    """Wait until a reflector has reached a resource version; list again if its watch does not reach it soon.

    Resource versions count the changes of all kinds: the watch of a kind without changes may never reach it, nor does a
    watch that is stuck. Only a list distinguishes the two.
    """
    reached = asyncio.Event()

    def look(known: str) -> None:
        if not is_older(known, version):
            reached.set()

    before, reflector.reached = reflector.reached, look
    try:
        look(reflector.version)
        while not reached.is_set() and not reflector.ended:
            try:
                async with asyncio.timeout(_patience_seconds(len(reflector.objects))):
                    await reached.wait()
            except TimeoutError:
                # a list that is under way is not interrupted
                if reflector.complete:
                    reflector.relist()
    finally:
        reflector.reached = before


def _patience_seconds(objects: int) -> float:
    """Return how long to wait for a watch: about as long as a list of so many objects takes."""
    return min(MOST_PATIENCE_SECONDS, LEAST_PATIENCE_SECONDS + objects * LISTED_SECONDS)
