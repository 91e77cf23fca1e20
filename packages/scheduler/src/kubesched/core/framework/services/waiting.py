"""Waiting in coroutines of plugins: on any event loop, and in virtual time.

From PreBind to the loop. A plugin waits until its check of the cluster returns a value; the check is repeated whenever
an object of the given kinds changes, until a timeout.
"""

from collections.abc import Callable, Collection, Hashable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from typing import Protocol, TypeVar

T = TypeVar("T")


class TimedOut(Exception):  # noqa: N818 - an outcome, not an error
    """The condition that was waited for did not hold in time."""


class Waits(Protocol):
    """Waits for conditions and times."""

    def now(self) -> float:
        """Return a monotonic time in seconds."""

    def date(self) -> datetime:
        """Return the date and time of day, to be compared with timestamps of objects."""

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        """Return the first result of `check` that is not None.

        It is called at once and after every change of an object of one of the kinds; an error that it raises ends the
        wait. Raises TimedOut if there is no result in time.
        """

    async def between_cycles(self, change: Callable[[], T]) -> T:
        """Call `change` while no scheduling cycle is running, so that it may change the cluster; return its result."""

    def in_turn(self, key: Hashable) -> AbstractAsyncContextManager[None]:
        """Return a context that coroutines with the same key enter one at a time, first come, first served."""

    async def pause(self, seconds: float) -> None:
        """Wait for some time."""


class NoWaits:
    """Waits that never wait: a condition that does not hold at once has timed out. For engines without a loop."""

    def __init__(self, date: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._date = date

    def now(self) -> float:
        """Return a time that stands still."""
        return 0.0

    def date(self) -> datetime:
        """Return a date that stands still, too."""
        return self._date

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        """Return the result if there is one now."""
        answer = check()
        if answer is None:
            raise TimedOut
        return answer

    async def between_cycles(self, change: Callable[[], T]) -> T:
        """Call `change` at once; return its result."""
        return change()

    def in_turn(self, key: Hashable) -> AbstractAsyncContextManager[None]:
        """Return a context that can be entered at once."""
        return nullcontext()

    async def pause(self, seconds: float) -> None:
        """Return at once: time stands still."""
