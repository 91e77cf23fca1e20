"""What is to be looked at, on the loop that people run it on."""

import asyncio
from collections.abc import Callable

import pytest
import uvloop

from kubesched_controlplane.controllers.framework.workqueue import Workqueue

LOOPS = [("asyncio's loop", asyncio.new_event_loop), ("uvloop", uvloop.new_event_loop)]


@pytest.mark.parametrize(("name", "new_loop"), LOOPS, ids=[row[0] for row in LOOPS])
def test_delays_too_short_for_a_timer_are_kept(name: str, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """uvloop calls what is due within half a millisecond at once, and its handle then does not tell when."""
    looked: list[int] = []
    notes: list[str] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()
        workqueue: Workqueue[int] = Workqueue(loop, looked.append, notes.append)
        for number in range(50):
            workqueue.add_after(number, 0.0004 - 0.000005 * number)
        async with asyncio.timeout(10):
            while len(workqueue):
                await asyncio.sleep(0)

    loop = new_loop()
    loop.run_until_complete(story())
    loop.close()
    assert sorted(looked) == list(range(50))
    assert not notes
