"""Requests that are made again: if the connection breaks, or the server asks for patience.

From a request to what it returns, or to the error of the last attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

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
