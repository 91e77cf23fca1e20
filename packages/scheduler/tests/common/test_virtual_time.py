"""Virtual time: it jumps when nothing can run, and is the same every time."""

import asyncio
from datetime import timedelta

import pytest

from kubesched.common.virtual_time import BEGINNING, VirtualTime, run_in_virtual_time


def test_waiting_takes_no_time() -> None:
    async def work() -> float:
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*(asyncio.sleep(seconds) for seconds in (3600, 60, 1)))
        return asyncio.get_running_loop().time() - began

    assert run_in_virtual_time(work()) == pytest.approx(3600)


def test_timers_come_in_their_order() -> None:
    with VirtualTime() as virtual:
        called: list[int] = []
        for seconds in (3, 1, 2):
            virtual.loop.call_later(seconds, called.append, seconds)
        virtual.run(2.5)
        assert called == [1, 2]
        virtual.run(1)
        assert called == [1, 2, 3]
        assert virtual.seconds == pytest.approx(3.5)
        assert virtual.date - BEGINNING == pytest.approx(timedelta(seconds=3.5), abs=timedelta(milliseconds=1))


def test_what_nobody_can_end_is_an_error_and_no_hang() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="cannot happen in virtual time"):
        run_in_virtual_time(work())


def test_a_function_for_a_thread_is_called_at_once_and_its_error_is_told() -> None:
    with VirtualTime() as virtual:
        assert virtual.wait_for(asyncio.to_thread(sum, (1, 2))) == 3
        with pytest.raises(ZeroDivisionError):
            virtual.wait_for(asyncio.to_thread(divmod, 1, 0))
        assert virtual.seconds == 0


def test_a_function_is_called_where_it_may_set_timers() -> None:
    with VirtualTime() as virtual:
        timer = virtual.call(lambda: asyncio.get_running_loop().call_later(5, lambda: None))
        assert timer.when() == virtual.loop.time() + 5


def test_what_is_under_way_at_the_end_is_cancelled() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cancelled")

    with VirtualTime() as virtual:
        task = virtual.loop.create_task(work())
        virtual.run(1)
    assert ended == ["cancelled"]
    assert task.cancelled()
    virtual.close()
