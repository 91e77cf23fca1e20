"""An asyncio loop whose clock jumps: waiting takes no time, and the same script takes the same steps every time.

From a coroutine to its result, with `loop.time()` standing still while anything can run and jumping to the next timer
when nothing can. Functions that would run in a thread run at once.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from kubesched.common.timer_loop import called_at_once

T = TypeVar("T")
# a round number
START = 1_000_000.0
# the date at the beginning of virtual time
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class _JumpingSelector(selectors.SelectSelector):
    """Never waits for input; makes the loop jump instead."""

    loop: "VirtualTimeLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # the loop has one for signals and other threads, which do not occur here
        ready = super().select(0) if len(self._fd_to_key) > 1 else []  # type: ignore[attr-defined]
        if not ready and timeout:
            self.loop.jump(timeout)
        elif not ready and timeout is None:
            raise RuntimeError("all tasks wait for something that cannot happen in virtual time")
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop in virtual time."""

    def __init__(self, start: float = START) -> None:
        selector = _JumpingSelector()
        selector.loop = self
        self._virtual_now = start
        super().__init__(selector)

    def time(self) -> float:
        """Return the virtual time."""
        return self._virtual_now

    def jump(self, seconds: float) -> None:
        """Let time pass."""
        self._virtual_now += seconds

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        """Call a function now: a thread would take real time."""
        return called_at_once(self, func, *args)


def run_in_virtual_time(work: Coroutine[Any, Any, T], start: float = START) -> T:
    """Return the result of a coroutine, run in virtual time."""
    loop = VirtualTimeLoop(start)
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


class VirtualTime:
    """A period of virtual time that starts on 1 January 2026; a `with` block closes it."""

    def __init__(self) -> None:
        self.loop = VirtualTimeLoop()
        self._began = self.loop.time()

    @property
    def seconds(self) -> float:
        """Return the elapsed time."""
        return self.loop.time() - self._began

    @property
    def date(self) -> datetime:
        """Return the date and time of day."""
        return BEGINNING + timedelta(seconds=self.seconds)

    def run(self, seconds: float = 30.0) -> None:
        """Let time pass, with all events that are due."""
        self.wait_for(asyncio.sleep(seconds))

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine; time passes until it ends."""
        return self.loop.run_until_complete(work)

    def call(self, function: Callable[..., T], *args: Any) -> T:
        """Return the result of a function, called on the loop, where it may set timers; no time passes."""

        async def work() -> T:
            return function(*args)

        return self.wait_for(work())

    def close(self) -> None:
        """End all work under way."""
        if self.loop.is_closed():
            return
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.wait_for(_ended(left))
        self.loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _ended(tasks: "set[asyncio.Task[Any]]") -> None:
    await asyncio.gather(*tasks, return_exceptions=True)
