"""The reflector: lists and watches one kind, and reports every object that is new, changed or deleted.

    listing ──list complete──▶ watching ──watch ends──▶ watching, from the last resource version
       ▲                           │ gap: version expired, new incarnation of the server, relist asked for
       └──────── backoff ◀─────────┘

A list is streamed (`sendInitialEvents`), or read in pages if streaming failed. After a gap the kind is listed again and
only the differences are reported. Errors are retried with backoff until the reflector is cancelled; no change is
reported twice or omitted.
"""

# upstream: client-go/tools/cache/reflector.go (v1.36)

import asyncio
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Generic, NoReturn, TypeVar

from kubesched.api.meta import ApiObject
from kubesched.client.informers.object_cache import EventHandler, ObjectCache
from kubesched.client.informers.object_reader import ObjectReader
from kubesched.client.informers.paged_list import read_pages
from kubesched.client.informers.server_incarnation import IncarnationTracker, is_older
from kubesched.client.informers.watch_events import WatchEvent, lines, read_bookmark, read_event
from kubesched.client.rest import Query, Refused, Rest, Unreachable

T = TypeVar("T", bound=ApiObject)

FIRST_WAIT_SECONDS = 0.8
LONGEST_WAIT_SECONDS = 30.0
# the backoff is reset after so long without an error
CALM_SECONDS = 120.0
# the server ends a watch after 5 to 10 minutes, so that load is spread anew
SHORTEST_WATCH_SECONDS = 300
# after a watch that ends sooner, the next one waits
SHORT_SECONDS = 1.0
# a server that has just started may not know its users and roles yet
PASSING = (401, 403, 429, 500, 503, 504)
# the longest silence within a streamed list; a proxy may buffer it for ever
LIST_SILENCE_SECONDS = 40.0
# how long lists are read in pages after one could not be streamed
STREAMED_AGAIN_SECONDS = 1800.0
# objects reported before other tasks have a turn
SLICE = 200


class ExpiredError(Exception):
    """The resource version to continue from is too old: list again."""


class Reflector(Generic[T]):
    """Lists and watches one kind; `path` is the path of its resource, `query` selects among its objects."""

    def __init__(
        self,
        rest: Rest,
        path: str,
        kind: type[T],
        handler: EventHandler,
        *,
        query: Query | None = None,
        note: Callable[[str], None] = lambda line: None,
        random: Random | None = None,
        server: IncarnationTracker | None = None,
    ) -> None:
        self.kind = kind
        self.path = path
        self.synced = asyncio.Event()
        self._cache = ObjectCache(kind, path, handler, note)
        # the resource version up to which everything was reported
        self.version = ""
        # nobody needs the kind any more: it is not watched
        self.ended = False
        # the plugins that need the kind
        self.needed_by: Sequence[str] = ()
        # called with each resource version that is reached
        self.reached: Callable[[str], None] = lambda version: None
        self._rest = rest
        self._server = server or IncarnationTracker(rest, note)
        self._server.followers.append(self.new_incarnation)
        # the incarnation of the server that was listed, and the one that is being listed
        self.incarnation = -1
        self._listing = -1
        self._query = dict(query or {})
        self._note = note
        self._random = random or Random()
        # when lists are streamed again
        self._streams_from = 0.0
        # whether the list is complete
        self._complete = False
        self._relist_asked = False
        # whether `relist` was called: no pause comes before the list
        self._hurry = False
        self._watch_task: asyncio.Task[None] | None = None

    @property
    def objects(self) -> Mapping[str, T]:
        """Return every object as it was last reported, by namespace/name."""
        return self._cache.objects

    @property
    def reader(self) -> ObjectReader[T]:
        """Return the reader of the kind's objects."""
        return self._cache.reader

    async def run(self) -> None:
        """List and watch until cancelled."""
        wait = FIRST_WAIT_SECONDS
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                self._relist_asked = self._hurry = False
                self._listing = await self._server.current_incarnation()
                await self._list_and_watch()
            except ExpiredError:
                if not self._hurry and loop.time() - began < FIRST_WAIT_SECONDS:
                    # a server that always responds with Expired must not be asked without a pause
                    await asyncio.sleep(FIRST_WAIT_SECONDS * self._random.random())
            except (Refused, Unreachable) as error:
                self._server.complain(f"failed to list and watch {self.path}", error, self._consequence(error))
                if loop.time() - began > CALM_SECONDS:
                    wait = FIRST_WAIT_SECONDS
                wait = await self._later(wait, error)
            except Exception as error:  # otherwise the kind would silently not be watched any more
                self._note(f"failed to list and watch {self.path}, internal error: {type(error).__name__}: {error}")
                wait = await self._later(wait, None)
            finally:
                self._complete = False

    async def _list_and_watch(self) -> None:
        """List, then watch until there is a gap; list in pages if the list cannot be streamed."""
        now = asyncio.get_running_loop().time
        unstreamed: Refused | Unreachable | None = None
        if now() >= self._streams_from:
            try:
                await self._watch_on()
            except (Refused, Unreachable) as error:
                if self._complete or getattr(error, "code", 0) == 429:
                    raise
                unstreamed = error
        await self._paged_list()
        if unstreamed is not None:
            self._server.lists_in_pages(self.path, unstreamed)
            self._streams_from = now() + STREAMED_AGAIN_SECONDS
        await self._watch_on()

    def _consequence(self, error: Exception) -> str:
        """Return the consequence if the server does not serve the kind, or an empty text."""
        if self.synced.is_set() or not isinstance(error, Refused) or error.code != 404:
            return ""
        needed = f" (needed by {', '.join(self.needed_by)})" if self.needed_by else ""
        return f"nothing is scheduled until the API server serves {self.path}{needed}"

    async def _later(self, wait: float, error: Refused | Unreachable | None) -> float:
        """Wait after an error; return how long to wait the next time."""
        asked = getattr(error, "retry_after_seconds", None)
        if asked:
            await asyncio.sleep(asked)
        elif await self._server.pause(wait * (1 + self._random.random())):
            return FIRST_WAIT_SECONDS
        return min(2 * wait, LONGEST_WAIT_SECONDS)

    @property
    def complete(self) -> bool:
        """Return whether the kind is listed and being watched; False while it is listed again."""
        return self._complete

    def relist(self) -> None:
        """List again at once, since the watch may be behind."""
        self._hurry = True
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._relist_asked = True
        if self._watch_task is not None:
            self._watch_task.cancel()

    def new_incarnation(self) -> None:
        """List again: the server is in a new incarnation."""
        if self._complete:
            self._begin_anew()

    # -- listing

    async def _paged_list(self) -> None:
        seen: set[str] = set()
        # the first time from the server's cache; the watch brings the objects up to date
        meta = await read_pages(
            self._rest,
            self.path,
            self._query,
            lambda items: self._take_items(items, seen),
            seen.clear,
            version=None if self.version else "0",
        )
        await self._listed(seen, meta.resource_version)

    async def _take_items(self, items: list[bytes], seen: set[str]) -> None:
        for number, item in enumerate(items, 1):
            self._cache.put(item, seen)
            if number % SLICE == 0 or number == len(items):
                await asyncio.sleep(0)

    async def _listed(self, seen: set[str], version: str) -> None:
        """Complete a list: report the objects that it does not contain as deleted, and the kind as synced."""
        for number, obj in enumerate(self._cache.missing_from(seen)):
            self._cache.drop(obj)
            if number % SLICE == SLICE - 1:
                await asyncio.sleep(0)
        # free memory: the watch lasts long after its list
        seen.clear()
        if self._listing != self._server.incarnation:
            # the server is in another incarnation by now
            raise ExpiredError
        self._complete = True
        self.incarnation = self._listing
        self._reach(version)
        self.synced.set()
        self._server.listed()

    # -- watching

    async def _watch_on(self) -> NoReturn:
        """Watch, again and again, until there is a gap, which is raised."""
        wait = FIRST_WAIT_SECONDS
        now = asyncio.get_running_loop().time
        while True:
            if self._relist_asked and self._complete:
                raise ExpiredError
            began, error = now(), await self._watch_once()
            lasted = now() - began
            if lasted > LONGEST_WAIT_SECONDS:
                wait = FIRST_WAIT_SECONDS
            if error is None and lasted > SHORT_SECONDS:
                continue
            # the last resource version is known: no need to list
            if error is not None:
                self._server.complain(f"watch of {self.path} broke off", error)
            wait = await self._later(wait, error)

    async def _watch_once(self) -> Refused | Unreachable | None:
        """Watch until the watch ends; return the error that ended it, if the watch may be resumed nevertheless."""
        self._watch_task = asyncio.ensure_future(self._watch())
        try:
            await self._watch_task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            # only the watch was cancelled: to list again
            raise ExpiredError from None
        except (Refused, Unreachable) as error:
            if not self._complete or not _is_passing(error):
                raise
            return error
        finally:
            self._watch_task = None
        return None

    async def _watch(self) -> None:
        """Watch from the last resource version, or with a streamed list first."""
        if self._complete:
            await self._check_incarnation()
        query = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(round(SHORTEST_WATCH_SECONDS * (1 + self._random.random()))),
        }
        if self._complete:
            query["resourceVersion"] = self.version
        else:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        try:
            async with asyncio.timeout(None if self._complete else LIST_SILENCE_SECONDS) as limit:
                await self._follow(query, limit)
        except TimeoutError:
            # the timeout is for streamed lists only
            raise Unreachable(
                f"the streamed list said nothing for {LIST_SILENCE_SECONDS:g} seconds", maybe_done=False
            ) from None
        if not self._complete:
            raise Unreachable("the streamed list ended before it was complete", maybe_done=False)

    async def _follow(self, query: Query, limit: asyncio.Timeout) -> None:
        """Report the events of a watch; the time limit is for silence within a streamed list."""
        seen: set[str] = set()
        now = asyncio.get_running_loop().time
        async with self._rest.stream(self.path, query) as stream:
            if self._complete:
                self._server.is_well()
            async for whole in lines(stream):
                for number, line in enumerate(whole):
                    event = read_event(line)
                    if self._complete:
                        self._take(event)
                    else:
                        await self._take_listed(event, seen)
                    if number % SLICE == SLICE - 1:
                        await asyncio.sleep(0)
                if not self._complete:
                    limit.reschedule(now() + LIST_SILENCE_SECONDS)
                elif limit.when() is not None:
                    limit.reschedule(None)

    async def _check_incarnation(self) -> None:
        """Raise ExpiredError if the kind was listed in another incarnation of the server."""
        if not await self._server.is_still(self.incarnation, self.path, self.version):
            raise ExpiredError

    async def _take_listed(self, event: WatchEvent, seen: set[str]) -> None:
        """Report an event of a streamed list; a bookmark completes the list."""
        if event.type == "BOOKMARK":
            mark = read_bookmark(event)
            if mark.ends_list:
                await self._listed(seen, mark.resource_version)
            return
        if event.type == "DELETED":
            seen.discard(self._cache.delete(event.object).full_name)
        else:
            self._cache.put(event.object, seen)

    def _take(self, event: WatchEvent) -> None:
        if event.type == "BOOKMARK":
            version = read_bookmark(event).resource_version
            if is_older(version, self.version):
                raise ExpiredError
            self._reach(version)
            return
        if event.type == "DELETED":
            self._reach(self._cache.delete(event.object).resource_version)
        else:
            self._reach(self._cache.put(event.object))

    def _reach(self, version: str) -> None:
        if version:
            self.version = version
            self.reached(version)


def _is_passing(error: Exception) -> bool:
    """Return whether a watch may be resumed after an error; raises ExpiredError if its resource version is too old."""
    if isinstance(error, Refused) and error.code == 410:
        raise ExpiredError from None
    return isinstance(error, Unreachable) or (isinstance(error, Refused) and error.code in PASSING)
