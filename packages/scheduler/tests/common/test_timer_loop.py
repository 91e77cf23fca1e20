"""A loop of timers alone does what asyncio's own loop does in virtual time."""

import asyncio
import gc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.common.timer_loop import MOST_CANCELLED, NO_NETWORK, TimerLoop, run_on_timers
from kubesched.common.virtual_time import run_in_virtual_time

SECONDS = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 30.0])
STEPS = st.lists(
    st.tuples(st.sampled_from(["sleep", "yield", "soon", "later", "cancelled", "task", "timeout"]), SECONDS), max_size=6
)


async def _story(scripts: list[list[tuple[str, float]]]) -> list[tuple[float, Any]]:
    """Run scripts side by side; return what happened, and when."""
    loop = asyncio.get_running_loop()
    began, seen = loop.time(), []

    def note(what: Any) -> None:
        seen.append((round(loop.time() - began, 6), what))

    async def play(name: str, script: list[tuple[str, float]]) -> None:
        for number, (step, seconds) in enumerate(script):
            what = f"{name}.{number} {step}"
            note(what)
            if step == "sleep":
                await asyncio.sleep(seconds)
            elif step == "yield":
                await asyncio.sleep(0)
            elif step == "soon":
                loop.call_soon(note, f"{what} called")
            elif step == "later":
                loop.call_later(seconds, note, f"{what} called")
            elif step == "cancelled":
                loop.call_later(seconds, note, f"{what} called").cancel()
            elif step == "task":
                tasks.append(loop.create_task(play(what, [("sleep", seconds)])))
            else:
                try:
                    async with asyncio.timeout(seconds):
                        await asyncio.sleep(1.0)
                except TimeoutError:
                    note(f"{what} timed out")

    tasks = [loop.create_task(play(str(index), script)) for index, script in enumerate(scripts)]
    while any(not task.done() for task in tasks):
        await asyncio.wait(list(tasks))
    await asyncio.sleep(60)
    return seen


@given(st.lists(STEPS, min_size=1, max_size=4))
def test_everything_happens_at_the_times_of_asyncios_loop(
    scripts: list[list[tuple[str, float]]],
) -> None:
    # asyncio does not say which of two timers of one time comes first
    assert sorted(run_on_timers(_story(scripts))) == sorted(run_in_virtual_time(_story(scripts), start=0.0))


def test_timers_of_one_time_come_in_the_order_in_which_they_were_set() -> None:
    async def work() -> list[int]:
        seen: list[int] = []
        for number in range(20):
            asyncio.get_running_loop().call_at(1.0 if number % 2 else 1.5, seen.append, number)
        await asyncio.sleep(2)
        return seen

    assert run_on_timers(work()) == [*range(1, 20, 2), *range(0, 20, 2)]


def test_what_nobody_can_end_is_an_error_and_no_hang() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(5, print).cancel()
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="cannot happen in virtual time"):
        run_on_timers(work())


def test_a_callback_that_raises_ends_the_run() -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_later(1, divmod, 1, 0)
        await asyncio.sleep(5)

    with pytest.raises(ZeroDivisionError):
        run_on_timers(work())


def test_tasks_that_are_left_are_cancelled() -> None:
    ended = []

    async def left() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(asyncio.get_running_loop().time())

    async def work() -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(left())
        await asyncio.sleep(1)
        return task

    assert run_on_timers(work()).cancelled()
    assert ended == [1.0]


@pytest.mark.parametrize("where", ["main", "task", "callback"])
def test_an_interrupt_ends_it_without_a_word(where: str, caplog: pytest.LogCaptureFixture) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    async def other() -> None:
        if where == "task":
            interrupted()
        await asyncio.sleep(3600)

    async def work() -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(other())
        if where == "callback":
            loop.call_later(1, interrupted)
        try:
            await asyncio.sleep(2)
            if where == "main":
                interrupted()
            await task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                # raises it again, if it was there
                await task

    with pytest.raises(KeyboardInterrupt):
        run_on_timers(work())
    gc.collect()
    assert caplog.records == []


def test_cancelled_timers_leave_the_heap() -> None:
    loop = TimerLoop()  # type: ignore[abstract]
    kept = [loop.call_later(50, print) for _ in range(10)]
    for _ in range(5 * MOST_CANCELLED):
        loop.call_later(100, print).cancel()
    assert len(loop._timers) <= MOST_CANCELLED + len(kept) + 1


def test_there_is_no_network() -> None:
    async def work() -> None:
        await asyncio.open_connection("localhost", 80)

    with pytest.raises(OSError, match=NO_NETWORK):
        run_on_timers(work())


def test_a_function_for_a_thread_is_called_at_once() -> None:
    assert run_on_timers(asyncio.to_thread(sum, (1, 2))) == 3
    with pytest.raises(ZeroDivisionError):
        run_on_timers(asyncio.to_thread(divmod, 1, 0))
