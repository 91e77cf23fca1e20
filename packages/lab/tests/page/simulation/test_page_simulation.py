"""Simulations of the page: played, paused, stepped, and taken back and forth."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from kubesched.core.assembly import load_config
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.simulation.commands import ENDED
from kubesched_lab.page.simulation.page_simulation import PageSimulation
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

SECONDS = 30.0
DEFAULT = SimulatedConfiguration("", load_config())


def a_scenario(*events: TraceEvent, seed: int = 0) -> PageScenario:
    return PageScenario(Trace("test", lambda _: iter(events)), DEFAULT, seed=seed)


def a_day() -> PageScenario:
    """Pods of several priorities arrive, run, are preempted; a node joins and one leaves."""
    nodes: list[TraceEvent] = [ObjectPut(0.0, a_node(f"n{each}", cpu="4", memory="8Gi")) for each in range(4)]
    pods: list[TraceEvent] = [
        PodArrival(each * 0.5, a_pod(f"p{each}", cpu="1500m", priority=each % 3 * 10), 5.0 + each % 7)
        for each in range(28)
    ]
    late: list[TraceEvent] = [
        ObjectPut(12.25, a_node("late", cpu="4", memory="8Gi")),
        ObjectDeletion(15.0, "Node", "n0"),
    ]
    return a_scenario(*sorted((*nodes, *pods, *late), key=lambda event: event.at))


@asynccontextmanager
async def shown(scenario: PageScenario) -> AsyncIterator[PageState]:
    state = PageState(None)
    await state.simulate(scenario)
    try:
        yield state
    finally:
        await state.close()


def simulation_of(state: PageState) -> PageSimulation:
    assert state.simulation is not None
    return state.simulation


async def go_to(state: PageState, seconds: float) -> dict[str, Any]:
    """Seek, and return the cluster there, without the numbers that tell the way."""
    simulation = simulation_of(state)
    simulation.seek(seconds)
    await simulation.rested()
    found: dict[str, Any] = msgspec.json.decode(state.encoded())
    del found["seq"], found["clock"]["behind"]
    return found


def test_back_and_forth_is_the_same_to_the_byte() -> None:
    async def story() -> None:
        async with shown(a_day()) as state:
            await go_to(state, math.inf)
            simulation = simulation_of(state)
            end = state.encoded()
            seen = {seconds: await go_to(state, seconds) for seconds in (12.25, 7.7)}
            for seconds in (12.25, 3.0, 7.7):
                again = await go_to(state, seconds)
                if seconds in seen:
                    assert msgspec.json.encode(again) == msgspec.json.encode(seen[seconds])
            again = await go_to(state, math.inf)
            first: dict[str, Any] = msgspec.json.decode(end)
            del first["seq"], first["clock"]["behind"]
            assert again == first
            assert simulation.clock.state == ENDED

    asyncio.run(story())


def test_a_step_is_one_scheduling_cycle() -> None:
    async def story() -> None:
        async with shown(a_day()) as state:
            simulation = simulation_of(state)
            assert (simulation.clock.cycles, simulation.clock.seconds) == (0, 0.0)
            for cycles in range(1, 30):
                simulation.step()
                clock = await simulation.rested()
                assert clock.cycles == cycles
                attempts = await simulation.ask(lambda run: run.recorder.ring.recorded)
                assert attempts == cycles

    asyncio.run(story())


def test_steps_and_a_seek_meet() -> None:
    """Pauses leave no trace: stepping to a moment is the same as going there at once."""

    async def story() -> None:
        async with shown(a_day()) as state, shown(a_day()) as other:
            simulation = simulation_of(state)
            while simulation.clock.seconds < 9:
                simulation.step()
                await simulation.rested()
            one, two = await go_to(state, 10.0), await go_to(other, 10.0)
            assert one == two

    asyncio.run(story())
