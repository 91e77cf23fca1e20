"""Looking back: a moment that is known is shown at once, the same to the byte as the run that goes there."""

import asyncio
import math
import random
from typing import Any

import msgspec
import pytest
from packages.lab.tests.page.simulation.test_page_simulation import a_day, a_scenario, go_to, shown, simulation_of

from kubesched.core.assembly import load_config
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.simulation import history, simulation_thread
from kubesched_lab.page.simulation.commands import ENDED, PAUSED, PLAYING
from kubesched_lab.page.simulation.history import Checkpoint, RunHistory
from kubesched_lab.page.simulation.scenario import Moment, PageScenario, SimulatedConfiguration, UserAction
from kubesched_lab.page.simulation.simulated_queue import simulated_queue
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival

PACKED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
DEFAULT = SimulatedConfiguration("", load_config())


def an_eventful_day() -> PageScenario:
    """A day on which somebody puts another configuration in force, removes a node and brings a pod."""
    packed = SimulatedConfiguration(PACKED, load_config(PACKED))
    actions = (
        UserAction(Moment(4.0, 3), "Apply a configuration", configuration=packed),
        UserAction(Moment(6.25), "Remove node n1", (ObjectDeletion(0.0, "Node", "n1"),)),
        UserAction(Moment(8.0, 1), "Create a pod", (PodArrival(0.0, a_pod("extra", cpu="1")),)),
    )
    return msgspec.structs.replace(a_day(), actions=actions)


async def go_to_cycle(state: PageState, cycle: int) -> bytes:
    """Go to the end of a cycle, and return the cluster there."""
    simulation_of(state).seek_cycle(cycle)
    await simulation_of(state).rested()
    return without_way(state)


def without_way(state: PageState) -> bytes:
    """Return the cluster without what tells the way to it: numbers of changes, and how far it is known."""
    found: dict[str, Any] = msgspec.json.decode(state.encoded())
    del found["seq"]
    for field in ("behind", "furthest", "furthestCycles"):
        del found["clock"][field]
    return msgspec.json.encode(found)


@pytest.mark.parametrize("scenario", [a_day(), an_eventful_day()], ids=["a day", "an eventful day"])
def test_looking_at_any_cycle_or_time_is_the_same_to_the_byte_as_going_there(scenario: PageScenario) -> None:
    async def story() -> None:
        async with shown(scenario) as state, shown(scenario) as forward:
            simulation = simulation_of(state)
            end = await go_to(state, math.inf)
            cycles, last = simulation.clock.cycles, simulation.clock.seconds
            there: dict[int, bytes] = {}
            for cycle in range(cycles + 1):
                there[cycle] = await go_to_cycle(forward, cycle)
                assert simulation_of(forward).clock.behind is None
            order = list(there)
            random.Random(7).shuffle(order)
            for cycle in order:
                assert await go_to_cycle(state, cycle) == there[cycle], f"cycle {cycle}"
            assert simulation.clock.behind == 0.0
            assert await go_to(state, math.inf) == end
            assert simulation.clock.state == ENDED
        async with shown(scenario) as state, shown(scenario) as forward:
            simulation_of(state).seek(math.inf)
            times = sorted({each * last / 40 for each in range(40)} | {4.0, 6.25, 8.0, 12.25})
            at = {}
            for seconds in times:
                await go_to(forward, seconds)
                at[seconds] = without_way(forward)
            random.Random(8).shuffle(times)
            for seconds in times:
                await go_to(state, seconds)
                assert without_way(state) == at[seconds], f"{seconds} seconds"

    asyncio.run(story())


def test_a_look_does_not_run_again_and_what_needs_the_run_waits_for_it() -> None:
    async def story() -> None:
        async with shown(a_day()) as state, shown(a_day()) as forward:
            simulation, other = simulation_of(state), simulation_of(forward)
            await go_to(state, math.inf)
            before = await simulation.ask(lambda run: (id(run), run.cycles), anywhere=True)
            for cycle in (20, 3, 9):
                looked = await go_to_cycle(state, cycle)
                assert await simulation.ask(lambda run: (id(run), run.cycles), anywhere=True) == before
                assert looked == await go_to_cycle(forward, cycle)
            assert simulation.clock.behind is not None
            queue = await simulation.ask(simulated_queue)
            assert queue == await other.ask(simulated_queue)
            await simulation.rested()
            assert simulation.clock.behind is None
            assert without_way(state) == looked
            records = [await each.records_of("default/p3") for each in (simulation, other)]
            assert records[0] == records[1] is not None

    asyncio.run(story())


def test_playing_and_stepping_go_on_from_where_it_is_looked_at() -> None:
    async def story() -> None:
        async with shown(a_day()) as state, shown(a_day()) as forward:
            simulation = simulation_of(state)
            await go_to(state, math.inf)
            await go_to(state, 3.0)
            cycles = simulation.clock.cycles
            simulation.step()
            clock = await simulation.rested()
            assert (clock.cycles, clock.state) == (cycles + 1, PAUSED)
            assert without_way(state) == await go_to_cycle(forward, cycles + 1)
            simulation.play(1e6)
            async with asyncio.timeout(30):
                while simulation.clock.state in (PAUSED, "seeking", PLAYING):
                    await asyncio.sleep(0.01)
            ends = [await go_to(each, math.inf) for each in (state, forward)]
            assert ends[0]["pods"] == ends[1]["pods"]
            assert ends[0]["clock"]["cycles"] == ends[1]["clock"]["cycles"]

    asyncio.run(story())


def test_what_is_done_in_the_past_is_done_there_and_later_is_forgotten() -> None:
    nodes = [ObjectPut(0.0, a_node("n", cpu="1"))]
    pods = [PodArrival(float(each), a_pod(f"p{each}", cpu="1"), 1.5) for each in range(6)]

    async def story() -> None:
        async with shown(a_scenario(*nodes, *pods)) as state:
            simulation = simulation_of(state)
            await go_to(state, math.inf)
            await go_to(state, 2.5)
            done = await simulation.apply("a node joins", [ObjectPut(0.0, a_node("new", cpu="1"))])
            assert done.at.seconds == 2.5
            await simulation.rested()
            assert simulation.clock.furthest == 2.5
            assert (await go_to(state, 2.5))["nodes"]["name"] == ["n", "new"]
            late = await go_to(state, 4.5)
            assert (await go_to(state, 2.25))["nodes"]["name"] == ["n"]
            assert await go_to(state, 4.5) == late
            async with shown(simulation.scenario) as again:
                assert without_way(again) != without_way(state)
                await go_to(again, 4.5)
                assert without_way(again) == without_way(state)

    asyncio.run(story())


def test_beyond_what_is_kept_it_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_thread, "RunHistory", lambda: RunHistory(40))

    async def story() -> None:
        async with shown(a_day()) as state, shown(a_day()) as forward:
            simulation = simulation_of(state)
            await go_to(state, math.inf)
            first = await go_to_cycle(state, 2)
            assert simulation.clock.behind is None, "it was run again"
            assert first == await go_to_cycle(forward, 2)
            last = simulation.clock.furthest_cycles - 1
            assert await go_to_cycle(state, last) == await go_to_cycle(forward, last)

    asyncio.run(story())


def test_a_history_keeps_the_last_changes() -> None:
    kept = RunHistory(8)
    for number in range(1, 21):
        kept.add(number, ("Pod", f"p{number % 3}"), None, a_pod(f"p{number}"))
        kept.reach(Checkpoint(Moment(float(number)), number, number, True, "", DEFAULT))
    assert not kept.has(8)
    assert kept.has(20)
    assert kept.at_cycle(3) is None
    assert kept.at_seconds(3.0) is None
    found = kept.at_seconds(19.5)
    assert found is not None
    assert (found.point.changes, found.moment) == (19, Moment(19.5))
    assert {key[1] for key in kept.between(18, 20)} == {"p1", "p2"}
    # a run that catches up adds nothing
    kept.add(19, ("Pod", "other"), None, None)
    assert {key[1] for key in kept.between(18, 20)} == {"p1", "p2"}
    assert history.MOST_CHANGES > 100_000
