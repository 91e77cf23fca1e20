"""Waiting on the scheduler's own loop: plugins are asked again when what they wait for may have changed.

From reports (which kind changed) to the checks of PreBind plugins.
"""

import asyncio
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TypeVar

from kubesched.framework.waits import TimedOut

T = TypeVar("T")


class LoopWaits:
    """Waits on the running asyncio loop; its clock is the only clock, but for the date."""

    def __init__(self, date: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._date = date
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def now(self) -> float:
        """Return the loop's time."""
        return asyncio.get_running_loop().time()

    def date(self) -> datetime:
        """Return the date and time of day."""
        return self._date()

    def notify(self, kind: str) -> None:
        """Have everybody look again who waits for objects of a kind."""
        for event in self._waiting.get(kind, ()):
            event.set()

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        """Return the first answer of `check` that is not None; raises TimedOut if there is none in time."""
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
