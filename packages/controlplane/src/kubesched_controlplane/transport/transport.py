"""The transport between a client and the API server, which injects faults: late, lost and failed requests.

    client ──Request──▶ Transport ──▶ ApiServer.answer
       ◀── Response, Watch, or ConnectionLostError ──

`http` sends requests through it, and so does a client in the same process that wants the faults of a network. Timers
run on the asyncio loop, so faults also happen in virtual time. Without faults requests pass unchanged.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from kubesched.errors import KubeschedError
from kubesched_controlplane.api.requests import Request, Response, Target, refusal, target_of
from kubesched_controlplane.api.statuses import ApiError, too_old
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.server.verbs.watching import Watch
from kubesched_controlplane.storage.store import ADDED, DELETED, MODIFIED
from kubesched_controlplane.transport.faults import Dice, WatchDice

BOOKMARK_SECONDS = 60.0
# lines that are sent at once
MOST_LINES = 500
MOST_BYTES = 1024 * 1024
_CHANGES = (ADDED, MODIFIED, DELETED)


class ConnectionLostError(KubeschedError):
    """A lost connection; the request may or may not have been carried out."""


class Transport:
    """Carries requests to a server and responses back, with injected faults."""

    def __init__(self, server: ApiServer, dice: Dice | None = None) -> None:
        self.server = server
        # True while the server cannot be reached
        self.away = False
        # called when an outage begins
        self.cut: Callable[[], None] = lambda: None
        self._dice = dice
        # in the order of their start, so that a seed is deterministic
        self._watches: dict[Watch, None] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def ask(self, request: Request) -> Response | Watch:
        """Return the response to a request, or its watch; raises ConnectionLostError for a lost request or response."""
        if self.away:
            raise ConnectionLostError("connection refused")
        if self._dice is None:
            return self._begun(await self.server.answer(request))
        target = _target_of(request, self.server)
        plan = self._dice.plan(target)
        if plan.lost_request:
            raise ConnectionLostError("connection lost before the request was carried out")
        if plan.refusal is not None:
            await asyncio.sleep(plan.seconds)
            return refusal(plan.refusal)
        found = self._begun(await self.server.answer(request))
        if isinstance(found, Watch) and target is not None:
            trouble(found, self._dice.of_watch(target), self.server)
        try:
            if plan.seconds:
                await asyncio.sleep(plan.seconds)
            if plan.lost_response or self.away:
                raise ConnectionLostError("connection lost before the answer arrived")
        except BaseException:
            if isinstance(found, Watch):
                found.end()
            raise
        return found

    def _begun(self, found: Response | Watch) -> Response | Watch:
        """Remember a watch until it ends."""
        if isinstance(found, Watch) and not found.ended:
            self._watches[found] = None
            found.on_end(lambda: self._watches.pop(found, None))
        return found

    # -- bookmarks and outages

    def start(self) -> None:
        """Start the timers of bookmarks and outages, until `stop`."""
        self._later("bookmark", BOOKMARK_SECONDS, self._bookmark)
        self._plan_outage()

    def stop(self) -> None:
        """Cancel the timers, and end all watches of this transport."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.end_watches()

    def end_watches(self) -> None:
        """End all watches of this transport."""
        for watch in list(self._watches):
            watch.end()

    def go_away(self, seconds: float) -> None:
        """Begin an outage: cut all connections, and refuse new ones for some seconds."""
        self.away = True
        self.end_watches()
        self.cut()
        self._later("return", seconds, self.come_back)

    def come_back(self) -> None:
        """End an outage."""
        self.away = False

    def calm(self) -> None:
        """Inject no more faults, except into watches that have begun; end an outage."""
        self._dice = None
        outage = self._timers.pop("outage", None)
        if outage is not None:
            outage.cancel()
        self.come_back()

    def _bookmark(self) -> None:
        self.server.watching.bookmark()
        self._later("bookmark", BOOKMARK_SECONDS, self._bookmark)

    def _plan_outage(self) -> None:
        outage = self._dice.outage if self._dice is not None else None
        if self._dice is None or outage is None:
            return
        dice, seconds = self._dice, outage.seconds

        def begin() -> None:
            dice.thrown["outage"] += 1
            self.go_away(seconds)
            self._later("outage", seconds, self._plan_outage)

        self._later("outage", dice.about(outage.every), begin)

    def _later(self, name: str, seconds: float, work: Callable[[], None]) -> None:
        timer = self._timers.get(name)
        if timer is not None:
            timer.cancel()
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, work)


def _target_of(request: Request, server: ApiServer) -> Target | None:
    try:
        return target_of(request, server.registry.catalog)
    except ApiError:
        return None


def end_after(watch: Watch, seconds: float, server: ApiServer) -> None:
    """End a watch after some seconds; with a bookmark if the client asked for bookmarks."""
    if watch.ended:
        return

    def time_is_up() -> None:
        if watch.bookmarks and not watch.ended:
            watch.bookmark(server.registry.store.version)
        watch.end()

    timer = asyncio.get_running_loop().call_later(seconds, time_is_up)
    watch.on_end(timer.cancel)


class Lines:
    """Iterates over the lines of a watch until it ends; a slow client gets many lines at once."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._ready = asyncio.Event()
        watch.on_ready(self._ready.set)
        self._waiting = False

    @property
    def all_taken(self) -> bool:
        """Return whether the client has handled all lines so far."""
        return self._waiting and not self._ready.is_set()

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> bytes:
        while True:
            lines = self._watch.take(MOST_LINES, MOST_BYTES)
            if lines:
                return lines
            if self._watch.ended:
                raise StopAsyncIteration
            self._ready.clear()
            self._waiting = True
            try:
                await self._ready.wait()
            finally:
                self._waiting = False


def trouble(watch: Watch, dice: WatchDice | None, server: ApiServer) -> None:
    """Inject faults into a watch and its events from now on."""
    if dice is None or watch.ended:
        return
    gate = _Gate(watch, dice)
    watch.send_through(gate.pass_on)
    watch.on_end(gate.close)
    lifetime = dice.lifetime()
    if lifetime:
        timer = asyncio.get_running_loop().call_later(lifetime, expire, watch, server)
        watch.on_end(timer.cancel)


def expire(watch: Watch, server: ApiServer) -> None:
    """End a watch with 410, and drop the history of its objects."""
    objects = server.registry.store.set_of(watch.resource.prefix)
    objects.forget_history()
    watch.fail(too_old(0, objects.forgotten))


class _Gate:
    """Injects faults between the changes and the lines of a watch; keeps their order, as every real watch does."""

    def __init__(self, watch: Watch, dice: WatchDice) -> None:
        self._watch = watch
        self._dice = dice
        # (time, type, body) of delayed events
        self._late: deque[tuple[float, str, bytes]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def pass_on(self, kind: str, body: bytes) -> None:
        """Send an event never, once or several times, now or later; errors at once."""
        if kind == "ERROR":
            self._watch.put(kind, body)
            return
        # a bookmark stays behind the events before it, but is not dropped, duplicated or delayed itself
        copies, seconds = self._dice.fate() if kind in _CHANGES else (1, 0.0)
        if not seconds and not self._late:
            for _ in range(copies):
                self._watch.put(kind, body)
            return
        when = asyncio.get_running_loop().time() + seconds
        if self._late:
            when = max(when, self._late[-1][0])
        self._late.extend((when, kind, body) for _ in range(copies))
        self._wait()

    def close(self) -> None:
        """Drop the delayed events."""
        self._late.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self) -> None:
        if self._late and (self._timer is None or self._timer.cancelled()):
            self._timer = asyncio.get_running_loop().call_at(self._late[0][0], self._send)

    def _send(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        while self._late and self._late[0][0] <= now:
            _, kind, body = self._late.popleft()
            self._watch.put(kind, body)
        self._wait()
