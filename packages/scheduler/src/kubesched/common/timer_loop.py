"""An asyncio loop of callbacks and timers only, in virtual time: for simulations, in which each pod needs some of
both.

From a coroutine to its result. Time stands still while anything can run and jumps to the next timer when nothing can.
There is no input: no sockets, no processes, no signals, no threads. A callback that raises ends the run.
"""

import asyncio
import contextvars
import logging
import math
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
_log = logging.getLogger(__name__)
# cancelled timers are dropped from the heap when they reach this number and are most of it
MOST_CANCELLED = 1000
NO_NETWORK = "a simulation has no network"


class _Callback:
    """A function to call, and whether it was cancelled."""

    __slots__ = ("args", "context", "function", "loop")

    def __init__(
        self,
        loop: "TimerLoop",
        function: Callable[..., Any],
        args: tuple[Any, ...],
        context: contextvars.Context | None,
    ) -> None:
        self.loop = loop
        self.function: Callable[..., Any] | None = function
        self.args = args
        self.context = context

    def cancel(self) -> None:
        """Do not call the function."""
        self.function = None
        self.args = ()

    def cancelled(self) -> bool:
        """Return whether the call was cancelled."""
        return self.function is None


class _Timer(_Callback):
    """A function to call at a time."""

    __slots__ = ("at", "in_heap")

    def __init__(
        self,
        loop: "TimerLoop",
        at: float,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        context: contextvars.Context | None,
    ) -> None:
        super().__init__(loop, function, args, context)
        self.at = at
        self.in_heap = True

    def when(self) -> float:
        """Return the time."""
        return self.at

    def cancel(self) -> None:
        """Cancel the call; its place in the heap is freed later."""
        if self.function is not None:
            super().cancel()
            if self.in_heap:
                self.loop.timer_cancelled()


class TimerLoop(asyncio.AbstractEventLoop):
    """A loop in virtual time without input; each turn, which runs all ready callbacks, takes `turn_seconds`."""

    def __init__(self, start: float = 0.0, turn_seconds: float = 0.0) -> None:
        self._now = start
        self._turn_seconds = turn_seconds
        # calls for the next turn; the rest of this turn; the rest of a paused turn
        self._ready: deque[_Callback] = deque()
        self._current: deque[_Callback] = deque()
        self._paused: list[_Callback] | None = None
        self._timers: list[tuple[float, int, _Timer]] = []
        self._numbers = count()
        self._cancelled = 0
        self._running = self._closed = False

    # -- the interface for coroutines, tasks and futures

    def time(self) -> float:
        """Return the virtual time."""
        return self._now

    def get_debug(self) -> bool:
        """Return False: there is no debug mode."""
        return False

    def is_running(self) -> bool:
        """Return whether the loop runs."""
        return self._running

    def is_closed(self) -> bool:
        """Return whether the loop was closed."""
        return self._closed

    def create_future(self) -> "asyncio.Future[Any]":
        """Return a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, T], **options: Any) -> "asyncio.Task[T]":  # type: ignore[override]
        """Start a task."""
        return asyncio.Task(coro, loop=self, **options)

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> _Callback:
        """Call a function after all callbacks that are ready now."""
        found = _Callback(self, callback, args, context)
        self._ready.append(found)
        return found

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> _Timer:
        """Call a function after some seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> _Timer:
        """Call a function at a time; calls at the same time keep their order."""
        timer = _Timer(self, when, callback, args, context)
        heappush(self._timers, (when, next(self._numbers), timer))
        return timer

    def timer_cancelled(self) -> None:
        """Count a cancelled timer; drop cancelled timers when they are most of the heap."""
        self._cancelled += 1
        if self._cancelled > MOST_CANCELLED and 2 * self._cancelled > len(self._timers):
            self._timers = [entry for entry in self._timers if entry[2].function is not None]
            heapify(self._timers)
            self._cancelled = 0

    def run_in_executor(  # type: ignore[override]
        self, executor: object, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        """Call a function now: a thread would take real time."""
        return called_at_once(self, func, *args)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Log an error that no coroutine awaits, such as that of a failed task."""
        _log.error("%s", context.get("message", "an error in the loop"), exc_info=context.get("exception"))

    async def getaddrinfo(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse to look up a host."""
        raise OSError(NO_NETWORK)

    async def create_connection(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse to connect."""
        raise OSError(NO_NETWORK)

    async def shutdown_asyncgens(self) -> None:
        """Do nothing: asynchronous generators end with the coroutines that use them."""

    # -- running

    def run_until_complete(self, future: Coroutine[Any, Any, T]) -> T:  # type: ignore[override]
        """Return the result of a coroutine."""
        task = self.create_task(future)
        try:
            self.run_until(task)
        except (KeyboardInterrupt, SystemExit):
            # it is raised here, so asyncio must not also log it as never retrieved
            _know(task)
            raise
        return task.result()

    def cancel_all(self) -> None:
        """Cancel the remaining tasks, and run until they are done.

        An interrupt in one of them is raised again in the tasks that wait for it.
        """
        left = asyncio.all_tasks(self)
        for task in left:
            task.cancel()
        for task in left:
            while not task.done():
                with suppress(KeyboardInterrupt, SystemExit):
                    self.run_until(task)
            _know(task)

    def call(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function as the loop does; no time passes."""
        self._running = True
        asyncio._set_running_loop(self)
        try:
            return function(*args)
        finally:
            asyncio._set_running_loop(None)
            self._running = False

    def _run_until(self, task: "asyncio.Future[Any]", until: float) -> None:
        while not task.done():
            if not self._current and not self._ready:
                at = self.next_time()
                if at > until:
                    self.advance(until)
                    return
                if at == math.inf:
                    raise RuntimeError("all tasks wait for something that cannot happen in virtual time")
                self._now = max(self._now, at)
            self._call_ready()
            self._now += self._turn_seconds

    def _call_ready(self) -> None:
        """Run the calls that are ready or due now; new calls run after the timers that are due by then."""
        current = self._current
        if not current:
            ready, timers = self._ready, self._timers
            while timers and timers[0][0] <= self._now:
                timer = heappop(timers)[2]
                timer.in_heap = False
                if timer.function is not None:
                    ready.append(timer)
                else:
                    self._cancelled -= 1
            self._current, self._ready = ready, current
            current = ready
        while current:
            each = current.popleft()
            function, context = each.function, each.context
            if function is None:
                continue
            if context is None:
                function(*each.args)
            else:
                context.run(function, *each.args)
        if self._paused is not None:
            # the last new call resumes the task that paused
            current.append(self._ready.pop())
            current.extend(self._paused)
            self._paused = None

    # -- running piece by piece

    async def pause(self) -> None:
        """End this turn here, in the calling task; the next turn is the rest of it, so that the order is the same."""
        self._paused = list(self._current)
        self._current.clear()
        await asyncio.sleep(0)

    @property
    def idle(self) -> bool:
        """Return whether nothing more happens at this time."""
        return not self._ready and not self._current and self.next_time() > self._now

    def next_time(self) -> float:
        """Return when the next active timer is due, infinity without one."""
        timers = self._timers
        while timers and timers[0][2].function is None:
            heappop(timers)
            self._cancelled -= 1
        return timers[0][0] if timers else math.inf

    def turn(self) -> None:
        """Run the calls that are ready or due now, once, or the rest of a paused turn."""
        self.call(self._call_ready)

    def run_until(self, task: "asyncio.Future[Any]", until: float = math.inf) -> None:
        """Run until a task is done, or until all events up to a time have happened."""
        self.call(self._run_until, task, until)

    def advance(self, to: float) -> None:
        """Let time pass, at most until the next timer, without running calls."""
        self._now = max(self._now, min(to, self.next_time()))

    def close(self) -> None:
        """Drop the remaining calls."""
        self._closed = True
        self._ready.clear()
        self._current.clear()
        self._timers.clear()


def called_at_once(loop: asyncio.AbstractEventLoop, function: Callable[..., T], *args: Any) -> "asyncio.Future[T]":
    """Call a function now; return a future with its result or its exception."""
    done: asyncio.Future[T] = loop.create_future()
    try:
        done.set_result(function(*args))
    except Exception as error:
        done.set_exception(error)
    return done


def run_on_timers(work: Coroutine[Any, Any, T], start: float = 0.0, *, turn_seconds: float = 0.0) -> T:
    """Return the result of a coroutine, run in virtual time without input; remaining tasks are cancelled."""
    # only the methods for input are abstract; they raise NotImplementedError
    loop = TimerLoop(start, turn_seconds)  # type: ignore[abstract]
    try:
        return loop.run_until_complete(work)
    finally:
        loop.cancel_all()
        loop.close()


def _know(task: "asyncio.Task[Any]") -> None:
    """Retrieve a task's exception, so that asyncio does not warn about it."""
    if task.done() and not task.cancelled():
        task.exception()
