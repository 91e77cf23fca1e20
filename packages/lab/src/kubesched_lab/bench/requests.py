"""Many requests at once, as many as in the reference."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

AT_ONCE = 30


async def many_at_once(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Carry out coroutines, a limited number at a time; the first error ends it.

    When cancelled, it still finishes the coroutines that have begun: otherwise the state of their objects would be
    unknown.
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
