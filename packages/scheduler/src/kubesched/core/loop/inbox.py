"""The inbox: events that wait until no cycle is running; and the tasks beside the loop.

From informers and tasks to the loop. Events are applied in the order in which they were posted. Every posted event
wakes the loop; the end of a task does if the loop waits for one.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from kubesched.common.notes import Note
from kubesched.core.framework.calling.hooks import is_interrupt
from kubesched.core.framework.values.texts import described
from kubesched.core.loop.loop_events import Call, LoopEvent

# The number of events that are applied between two readings of the clock.
BETWEEN_LOOKS = 16


class Inbox:
    """Events that wait to be applied, in order."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._events: deque[LoopEvent] = deque()
        # like an asyncio.Event, but faster: it is set several times for each pod
        self._woken = False
        self._resting: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._events)

    def post(self, event: LoopEvent) -> None:
        """Queue an event; it is applied as soon as no cycle is running."""
        self._events.append(event)
        self.wake()

    def between_cycles(self, function: Callable[[], None]) -> None:
        """Queue a function; it is called as soon as no cycle is running."""
        self.post(Call(function))

    def wake(self) -> None:
        """Wake the loop."""
        self._woken = True
        resting = self._resting
        if resting is not None:
            self._resting = None
            if not resting.done():
                resting.set_result(None)

    def drain(self, apply: Callable[[LoopEvent], None], until: float, now: Callable[[], float]) -> bool:
        """Apply events until a time; return whether all were applied. A failing event does not affect the next ones."""
        self._woken = False
        done = 0
        while self._events:
            event = self._events.popleft()
            try:
                apply(event)
            except BaseException as raised:
                # a plugin may raise anything; no task is awaited here, so even CancelledError must not end the loop
                if is_interrupt(raised):
                    raise
                self._note(f"a report could not be taken in: {described(raised)}")
            done += 1
            if done % BETWEEN_LOOKS == 0 and now() >= until:
                break
        return not self._events

    async def rest(self) -> None:
        """Wait until the loop is woken."""
        if not self._woken:
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
            self._resting = self._loop.create_future()
            await self._resting


class Tasks:
    """Tasks beside the loop: referenced until they end, and logged if they fail."""

    def __init__(self, note: Note, wake: Callable[[], None]) -> None:
        self._note = note
        self._wake = wake
        # whether the loop waits for a task to end
        self.awaited = False
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start a task."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    async def one_done(self) -> None:
        """Wait until a task has ended; return at once if there is none."""
        if self._tasks:
            await asyncio.wait(list(self._tasks), return_when=asyncio.FIRST_COMPLETED)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if self.awaited:
            self.awaited = False
            self._wake()
        if not task.cancelled() and task.exception() is not None:
            self._note(f"a task failed: {task.exception()!r}")
