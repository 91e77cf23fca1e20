"""Retries of requests if the connection breaks or the server is busy, and their end.

From a request to its result, or to the error of the last attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from kubesched.client.rest import Refused, Unreachable

T = TypeVar("T")
AGAIN_SECONDS: Final = 0.5
# temporary refusals
PASSING: Final = (429, 500, 503, 504)


async def patiently(ask: Callable[[], Awaitable[T]], attempts: int, *, hurries: bool = False) -> T:
    """Return the result of a request; raises Refused or Unreachable after the last attempt.

    If no server listens there is one attempt. With `hurries` a request without a response is not repeated.
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
    """Return the result of some work; None if `stop` is set before it ends."""
    tasks = working, _ = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
