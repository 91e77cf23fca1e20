"""How the coroutines of plugins wait: on any event loop, and in virtual time.

From PreBind to the loop. A plugin waits until its check of the cluster has an answer; the check is repeated whenever an
object of the kinds that it named changes, until a timeout.
"""

from collections.abc import Callable, Collection, Hashable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from typing import Protocol, TypeVar

T = TypeVar("T")


class TimedOut(Exception):  # noqa: N818 - an outcome, not an error
    """What was waited for did not come about in time."""


class Waits(Protocol):
    """How to wait."""

    def now(self) -> float:
        """Return the time in seconds; only differences mean anything."""

    def date(self) -> datetime:
        """Return the date and time of day, to be compared with what objects say."""

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        """Return the first answer of `check` that is not None.

        It is asked at once and after every change of an object of one of the kinds; whatever it raises ends the wait.
        Raises TimedOut if there is no answer in time.
        """

    async def between_cycles(self, change: Callable[[], T]) -> T:
        """Return what `change` returns, called while no scheduling cycle is running: it may change the cluster."""

    def in_turn(self, key: Hashable) -> AbstractAsyncContextManager[None]:
        """Return a context that coroutines with the same key enter one at a time, first come, first served."""

    async def pause(self, seconds: float) -> None:
        """Let some time pass."""


class NoWaits:
    """Waits that never wait: what is not true at once has timed out. For engines without a loop."""

    def __init__(self, date: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._date = date

    def now(self) -> float:
        """Return a time that stands still."""
        return 0.0

    def date(self) -> datetime:
        """Return a date that stands still, too."""
        return self._date

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        """Return the answer if there is one now."""
        answer = check()
        if answer is None:
            raise TimedOut
        return answer

    async def between_cycles(self, change: Callable[[], T]) -> T:
        """Return what `change` returns, called at once."""
        return change()

    def in_turn(self, key: Hashable) -> AbstractAsyncContextManager[None]:
        """Return a context that can be entered at once."""
        return nullcontext()

    async def pause(self, seconds: float) -> None:
        """Return at once: time stands still."""
