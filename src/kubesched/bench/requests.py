"""Many requests at once, as many as the reference sends."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

AT_ONCE = 30


async def many_at_once(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Carry out coroutines, so many at a time; the first error ends it.

    What has begun is carried out also when this is cancelled: nobody would know whether it was.
    """
    left, ending = iter(work), False

    async def worker() -> None:
        while not ending and (each := next(left, None)) is not None:
            await each

    workers = [asyncio.create_task(worker()) for _ in range(AT_ONCE)]
    try:
        await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        ending = True
        await asyncio.wait(workers)
    for each in workers:
        each.result()
