"""The thread of leader election: a separate loop and connections, which the scheduler cannot delay.

From a RestConfig and settings to a leader, and to a callback from this thread when the lease is lost, even while the
scheduler's loop is blocked. Other threads share with it a stop flag and values that they may read.
"""

# upstream: cmd/kube-scheduler/app/{server.go,options/options.go} (v1.36)

import asyncio
import faulthandler
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread

from kubesched.client.election.candidates import CandidateVersions, LeaseCandidateKeeper
from kubesched.client.election.leader_elector import ElectionObserver, ElectionSettings, LeaderElector
from kubesched.client.election.leader_events import LeaderEvents
from kubesched.client.election.leases import LeaseLock
from kubesched.client.rest import RestClient, RestConfig
from kubesched.common.loop_errors import quiet_closed_connections

STANDARD_ERROR = 2
SHORTEST_TIMEOUT_SECONDS = 1.0
# how long after the end of the lease a process that still runs may take to report the loss
LAST_WORDS_SECONDS = 2.0
# how long the thread waits at its end for the last event to be written
LAST_EVENT_SECONDS = 0.5


# code whose name of a file, which stacks show, is the reason for them
_REASON = compile(
    "wait()",
    "kubesched ends: its lease ran out while the process was suspended, or while an extension held the interpreter "
    "(its stack is below). Another replica leads; start this one again, as Kubernetes does",
    "eval",
)


class ExitingObserver(ElectionObserver):
    """Ends the process with code 1 when the lease is lost, even while the scheduler's loop is blocked.

    Python code cannot run while an extension holds the interpreter, or before a process that was suspended is dumped.
    For these cases a timer outside of it ends the process soon after the lease has run out, and writes the stack of
    every thread to standard error. The timer can write nothing else, so the first stack is the reason.
    """

    def __init__(self, say: Callable[[str], None], leave: Callable[[int], None] = os._exit) -> None:
        self._say = say
        self._leave = leave
        self._reason = Lock()

    def renewed(self, seconds_left: float) -> None:
        """Set the timer anew."""
        if seconds_left > 0:
            seconds = seconds_left + LAST_WORDS_SECONDS
            self._begin_with_reason()
            faulthandler.dump_traceback_later(seconds, file=STANDARD_ERROR, exit=True)

    def _begin_with_reason(self) -> None:
        """Start a thread whose stack is the reason; stacks are written with that of the newest thread first."""
        self._end_reason()
        self._reason = Lock()
        self._reason.acquire()
        Thread(target=eval, args=(_REASON, {"wait": self._reason.acquire}), name="lease", daemon=True).start()

    def _end_reason(self) -> None:
        if self._reason.locked():
            self._reason.release()

    def lost(self, reason: str) -> None:
        """End the process."""
        faulthandler.cancel_dump_traceback_later()
        try:
            self._say(f"Leaderelection lost: {reason}")
        finally:
            self._leave(1)

    def stopped(self) -> None:
        """Stop the timer."""
        faulthandler.cancel_dump_traceback_later()
        self._end_reason()


class LeaderThread:
    """Runs a LeaderElector in a thread until stopped."""

    def __init__(
        self,
        rest_config: RestConfig,
        settings: ElectionSettings,
        user_agent: str,
        observer: ElectionObserver,
        *,
        reporter: str = "default-scheduler",
        versions: CandidateVersions | None = None,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        # set when this process begins to lead
        self.leading: Future[None] = Future()
        self.leading.set_running_or_notify_cancel()
        self._rest_config = rest_config
        self._settings = settings
        self._user_agent = f"{user_agent}/leader-election"
        self._observer = observer
        self._reporter = reporter
        self._versions = versions
        self._note = note
        self._stop = asyncio.Event()
        # how long releasing the lease may take, once the thread is asked to stop
        self._last_seconds: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._elector: LeaderElector | None = None
        self._thread = Thread(target=self._main, name="leader-election", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """Stop the election, which releases the lease; return whether the thread ended within so many seconds."""
        self._last_seconds = seconds
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._stop.set)
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def holds(self) -> bool:
        """Return whether this process holds the lease at this moment; a process that was suspended may have lost it."""
        return self._elector is not None and self._elector.holds

    def check(self) -> str | None:
        """Return the failure of the leader election for the health checks, None while the lease is renewed in time."""
        return self._elector.check() if self._elector is not None else None

    def _main(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:  # the lease is no longer renewed
            self._observer.lost(f"the election ended with {type(error).__name__}: {error}")

    async def _run(self) -> None:
        settings = self._settings
        self._loop = asyncio.get_running_loop()
        quiet_closed_connections(self._loop)
        if self._last_seconds is not None:
            # `stop` was called before the loop existed
            self._stop.set()
        timeout = max(SHORTEST_TIMEOUT_SECONDS, settings.renew_seconds / 2)
        rest = RestClient(self._rest_config, self._user_agent, timeout_seconds=timeout, most_connections=10)
        lock = LeaseLock(rest, settings.namespace, settings.name)
        events = LeaderEvents(rest, lock, settings.identity, self._reporter, note=self._note)
        elector = LeaderElector(
            settings, lock, self._observer, self._loop.time, note=self._note, record_event=events.record
        )
        self._elector = elector
        background = [asyncio.create_task(self._beside(events.run))]
        if self._versions is not None:
            candidate = LeaseCandidateKeeper(
                rest, settings.namespace, settings.name, settings.identity, self._versions, note=self._note
            )
            background.append(asyncio.create_task(self._beside(candidate.run)))
        try:
            await self._lead(elector, events)
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await rest.close()

    async def _lead(self, elector: LeaderElector, events: LeaderEvents) -> None:
        """Acquire the lease, lead, and report how it ended."""
        if await elector.acquire(self._stop):
            self.leading.set_result(None)
            reason = await elector.renew(self._stop)
            if reason:
                self._observer.lost(reason)
                return
        try:
            async with asyncio.timeout(self._last_seconds):
                await elector.release()
                await events.drain(LAST_EVENT_SECONDS)
        except TimeoutError:
            self._note(f"lease {self._settings.lock} could not be released in time")
        self._observer.stopped()

    async def _beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a task whose failure must not end leadership; a failure is logged."""
        try:
            await work()
        except Exception as error:  # a bug there must not end leadership
            self._note(f"leader election goes on without a part that failed: {type(error).__name__}: {error}")
