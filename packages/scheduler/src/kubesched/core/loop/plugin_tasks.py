"""The background work of plugins on the scheduler's loop.

From jobs that plugins name in their constructors to tasks that run as long as the scheduler does. A job that fails is
logged, at most once a minute, and continues.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from kubesched.core.framework.services.background import TIMEOUT_SECONDS, Background
from kubesched.core.framework.values.texts import described
from kubesched.core.loop.inbox import Inbox
from kubesched.core.loop.loop_events import Activate
from kubesched.errors import PluginError

SHORTEST_SECONDS = 0.1
COMPLAIN_AFTER_SECONDS = 60.0


class PluginTasks:
    """Jobs by plugin, started and ended with the scheduler."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        # each job with the seconds for which scheduling waits for its first result
        self._jobs: list[tuple[Job, float]] = []
        self._tasks: dict[Job, asyncio.Task[None]] = {}
        self._awaited: set[Job] = set()

    def of(self, plugin: str) -> Background:
        """Return the background of a plugin."""
        return PluginBackground(plugin, self)

    def add(self, job: "Job", wait_seconds: float = 0.0) -> None:
        """Add a job, which starts with the scheduler."""
        self._jobs.append((job, wait_seconds))

    def start(self) -> None:
        """Start all jobs that do not run yet."""
        loop = asyncio.get_running_loop()
        for job, wait_seconds in self._jobs:
            if job in self._tasks:
                continue
            if wait_seconds > 0:
                self._awaited.add(job)
                loop.call_later(wait_seconds, self._no_longer_awaited, job)
            self._tasks[job] = loop.create_task(job.run(self._no_longer_awaited))

    def remove(self, job: "Job") -> None:
        """End a job of a plugin that is not used any more."""
        self._jobs = [each for each in self._jobs if each[0] is not job]
        task = self._tasks.pop(job, None)
        if task is not None:
            task.cancel()
        self._no_longer_awaited(job)

    def nothing_awaited(self) -> bool:
        """Return whether pods may be scheduled: no first look-up is awaited."""
        return not self._awaited

    def _no_longer_awaited(self, job: "Job") -> None:
        if job in self._awaited:
            self._awaited.remove(job)
            self.inbox.wake()

    async def stop(self) -> None:
        """End all jobs."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks = {}


class PluginBackground:
    """The background of one plugin."""

    def __init__(self, plugin: str, tasks: PluginTasks) -> None:
        self._plugin = plugin
        self._tasks = tasks
        self._jobs: list[Job] = []

    def release(self) -> None:
        """End the jobs of the plugin."""
        while self._jobs:
            self._tasks.remove(self._jobs.pop())

    def every(
        self,
        seconds: float,
        fetch: Callable[[], Awaitable[Any] | Any],
        apply: Callable[[Any], None] | None = None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        wait_seconds: float = 0.0,
    ) -> None:
        """Fetch data now and then at an interval in seconds, and apply each result between two cycles."""
        for what, length in (("an interval", seconds), ("a timeout", timeout_seconds)):
            if not length >= SHORTEST_SECONDS:
                raise PluginError(f"background.every({length}, ...): {what} is at least {SHORTEST_SECONDS} seconds")
        job = Job(self._plugin, seconds, timeout_seconds, fetch, apply, self._tasks.inbox)
        self._jobs.append(job)
        self._tasks.add(job, wait_seconds)

    def timer(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call a function at an interval in seconds, between two cycles."""

        async def nothing() -> None: ...

        self.every(seconds, nothing, lambda found: callback())

    def activate(self, uids: Iterable[str]) -> None:
        """Try pods again, by UID."""
        self._tasks.inbox.post(Activate(tuple(uids)))


class Job:
    """Something that a plugin looks up again and again."""

    def __init__(
        self,
        plugin: str,
        seconds: float,
        timeout_seconds: float,
        fetch: Callable[[], Awaitable[Any] | Any],
        apply: Callable[[Any], None] | None,
        inbox: Inbox,
    ) -> None:
        self._seconds = seconds
        self._timeout_seconds = timeout_seconds
        self._fetch = fetch
        self._apply = apply
        self._inbox = inbox
        self._log = logging.getLogger(f"kubesched.plugins.{plugin}")
        self._quiet_until = 0.0
        # a plain function that runs in a thread
        self._in_thread: asyncio.Task[Any] | None = None

    async def run(self, looked_up: Callable[["Job"], None]) -> None:
        """Fetch and apply until it is cancelled; say so after each look-up."""
        try:
            while True:
                await self._once()
                looked_up(self)
                await asyncio.sleep(self._seconds)
        finally:
            if self._in_thread is not None:
                self._in_thread.cancel()

    async def _once(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_seconds) as timeout:
                found = await self._fetched()
        except Exception as error:
            late = TimeoutError(f"no answer within {self._timeout_seconds:g} seconds")
            self._complain("Lookup failed", late if timeout.expired() else error)
        else:
            if self._apply is not None:
                self._inbox.between_cycles(lambda: self._applied(found))

    async def _fetched(self) -> Any:
        if inspect.iscoroutinefunction(self._fetch):
            return await self._fetch()
        if self._in_thread is None:
            self._in_thread = asyncio.create_task(asyncio.to_thread(self._fetch))
        # a thread cannot be cancelled: the next look-up waits for the same one
        await asyncio.wait([self._in_thread])
        thread, self._in_thread = self._in_thread, None
        found = thread.result()
        return await found if inspect.isawaitable(found) else found

    def _applied(self, found: Any) -> None:
        assert self._apply is not None
        try:
            self._apply(found)
        except Exception as error:
            self._complain("Fetched data cannot be applied", error)

    def _complain(self, message: str, error: Exception) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._quiet_until:
            self._quiet_until = now + COMPLAIN_AFTER_SECONDS
            self._log.warning(message, extra={"err": described(error)})
