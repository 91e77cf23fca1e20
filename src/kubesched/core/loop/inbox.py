"""What is to be done between cycles, and what runs beside the loop.

From reports and tasks to the loop: changes of the table and the queue wait here in order until no cycle is under way,
and whatever arrives or ends wakes the loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from kubesched.common.notes import Note
from kubesched.core.framework.hooks import is_interrupt
from kubesched.core.framework.texts import described

# so many changes are made between two looks at the clock
BETWEEN_LOOKS = 16


class Inbox:
    """Changes that wait for their turn, in order."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._changes: deque[Callable[[], None]] = deque()
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        return len(self._changes)

    def later(self, change: Callable[[], None]) -> None:
        """Have something done as soon as no cycle is under way."""
        self._changes.append(change)
        self._wake.set()

    def wake(self) -> None:
        """End a rest."""
        self._wake.set()

    def apply(self, until: float, now: Callable[[], float]) -> bool:
        """Do what waits until a time has come; return whether that was all. One strange object must not stop others."""
        self._wake.clear()
        done = 0
        while self._changes:
            change = self._changes.popleft()
            try:
                change()
            except BaseException as raised:
                # plugins may follow what is reported, and nothing here waits: whatever it is, it is no call to end
                if is_interrupt(raised):
                    raise
                self._note(f"a report could not be taken in: {described(raised)}")
            done += 1
            if done % BETWEEN_LOOKS == 0 and now() >= until:
                break
        return not self._changes

    async def rest(self, seconds: float) -> None:
        """Return when something arrived, or after a while."""
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._wake.wait()
        except TimeoutError:
            pass


class Tasks:
    """Work that runs beside the loop; held until it is done, and noted if it fails."""

    def __init__(self, note: Note, ended: Callable[[], None]) -> None:
        self._note = note
        self._ended = ended
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Begin something."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    async def one_done(self) -> None:
        """Return when a task has ended, at once if there is none."""
        if self._tasks:
            await asyncio.wait(list(self._tasks), return_when=asyncio.FIRST_COMPLETED)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._ended()
        if not task.cancelled() and task.exception() is not None:
            self._note(f"a task failed: {task.exception()!r}")
