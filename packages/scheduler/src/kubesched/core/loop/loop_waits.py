"""Waiting on the scheduler's loop: a plugin's check is repeated when an object of a kind that it named changes.

From reports (which kind changed) to the coroutines of PreBind plugins. Coroutines that name the same key take turns.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Hashable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TypeVar

from kubesched.common.notes import Note
from kubesched.core.binding.waiting_pods_map import PodsInPreBind, WaitingPodsMap
from kubesched.core.framework.services.waiting import TimedOut
from kubesched.core.loop.inbox import Inbox, Tasks
from kubesched.core.loop.loop_events import LoopEvent
from kubesched.core.loop.plugin_tasks import PluginTasks

T = TypeVar("T")


class Line:
    """A lock, and how many coroutines hold it or wait for it."""

    __slots__ = ("count", "lock")

    def __init__(self) -> None:
        self.count = 0
        # asyncio's locks are fair
        self.lock = asyncio.Lock()


class LoopWaits:
    """Waits on the running asyncio loop; its clock is the only clock, except for the date."""

    def __init__(self, inbox: Inbox, date: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._inbox = inbox
        self._date = date
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._lines: dict[Hashable, Line] = {}

    def now(self) -> float:
        """Return the loop's time."""
        return asyncio.get_running_loop().time()

    def date(self) -> datetime:
        """Return the date and time of day."""
        return self._date()

    def notify(self, kind: str) -> None:
        """Repeat the checks that wait for objects of a kind."""
        for event in self._waiting.get(kind, ()):
            event.set()

    async def between_cycles(self, change: Callable[[], T]) -> T:
        """Call `change` while no cycle is running; return its result."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def do() -> None:
            try:
                answer = change()
            except BaseException as raised:
                # every error of the function is passed to the plugin that waits
                if not done.cancelled():
                    done.set_exception(raised)
            else:
                if not done.cancelled():
                    done.set_result(answer)

        self._inbox.between_cycles(do)
        return await done

    @asynccontextmanager
    async def in_turn(self, key: Hashable) -> AsyncIterator[None]:
        """Enter when all earlier coroutines with the same key have left."""
        line = self._lines.setdefault(key, Line())
        line.count += 1
        try:
            async with line.lock:
                yield
        finally:
            line.count -= 1
            if not line.count:
                del self._lines[key]

    async def pause(self, seconds: float) -> None:
        """Wait for some time on the loop's clock."""
        await asyncio.sleep(seconds)

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        """Return the first result of `check` that is not None; raises TimedOut if there is none in time."""
        changed = asyncio.Event()
        for kind in kinds:
            self._waiting.setdefault(kind, set()).add(changed)
        try:
            async with asyncio.timeout(timeout_seconds):
                while (answer := check()) is None:
                    await changed.wait()
                    changed.clear()
                return answer
        except TimeoutError:
            raise TimedOut from None
        finally:
            for kind in kinds:
                self._waiting[kind].discard(changed)


class LoopServices:
    """Services that the loop shares with plugins: the inbox, the tasks, waits, the pods in Permit and PreBind."""

    def __init__(
        self,
        note: Note = lambda line: None,
        date: Callable[[], datetime] = lambda: datetime.now(UTC),
        record: Callable[[LoopEvent], None] = lambda event: None,
    ) -> None:
        self.note = note
        self.inbox = Inbox(note)
        # called with every event of the loop, in order
        self.record = record
        self.tasks = Tasks(note, self.inbox.wake)
        self.waits = LoopWaits(self.inbox, date)
        self.waiting_pods = WaitingPodsMap()
        self.pods_in_pre_bind = PodsInPreBind()
        self.plugin_tasks = PluginTasks(self.inbox)
