"""An asyncio loop whose clock jumps: waiting takes no time, and the same script takes the same steps every time.

From a coroutine to its result, with `loop.time()` standing still while anything can run and jumping to the next timer
when nothing can.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
# a round number
START = 1_000_000.0


class _JumpingSelector(selectors.SelectSelector):
    """Never waits for input; tells the loop to jump instead."""

    loop: "VirtualTimeLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.loop.jump(timeout)
        elif not ready and timeout is None:
            raise RuntimeError("everybody waits for something that cannot happen in virtual time")
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


def run_in_virtual_time(work: Coroutine[Any, Any, T], start: float = START) -> T:
    """Return what a coroutine returns, run in virtual time."""
    loop = VirtualTimeLoop(start)
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
