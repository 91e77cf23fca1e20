"""Requests that are made again, if the connection breaks or the server asks for patience; and the end of patience.

From a request to what it returns, or to the error of the last attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from kubesched.client.rest import Refused, Unreachable

T = TypeVar("T")
AGAIN_SECONDS: Final = 0.5
# refusals that pass
PASSING: Final = (429, 500, 503, 504)


async def patiently(ask: Callable[[], Awaitable[T]], attempts: int, *, hurries: bool = False) -> T:
    """Return what a request returns; raises Refused, Unreachable after so many attempts.

    Where nobody listens there is one attempt. With `hurries` a request that gets no answer is not made again.
    """
    for left in reversed(range(attempts)):
        try:
            return await ask()
        except Unreachable as error:
            if not left or not error.maybe_done or hurries:
                raise
            wait = AGAIN_SECONDS
        except Refused as refused:
            if not left or refused.code not in PASSING:
                raise
            wait = refused.retry_after_seconds or AGAIN_SECONDS
        await asyncio.sleep(wait)
    raise AssertionError("there is at least one attempt")


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Return what some work returns; None if `stop` is set before, whatever the work waits for."""
    tasks = working, _ = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
