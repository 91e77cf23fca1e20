"""The queue of a simulation over its time."""

import asyncio

from packages.lab.tests.page.simulation.test_page_simulation import a_scenario, go_to, shown, simulation_of

from kubesched.testing import a_node, a_pod
from kubesched_lab.page.simulation.simulated_queue import simulated_queue
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival


def test_samples_moves_and_waiting_pods_follow_the_simulated_time() -> None:
    scenario = a_scenario(
        ObjectPut(0.0, a_node("n", cpu="1")),
        PodArrival(0.0, a_pod("held", gates=["quota"])),
        *(PodArrival(5.0 + row, a_pod(f"p{row}", cpu="1")) for row in range(3)),
        ObjectPut(60.0, a_node("m", cpu="1")),
    )

    async def story() -> None:
        async with shown(scenario) as state:
            await go_to(state, 50.0)
            found = await simulation_of(state).ask(simulated_queue)
            assert found["kind"] == "scheduler"
            assert found["now"] - found["beginning"] == 50.0
            assert found["counts"] == {"active": 0, "backoff": 0, "unschedulable": 2, "gated": 1, "inFlight": 0}
            at = [round(time - found["beginning"], 3) for time in found["history"]["at"]]
            assert at[0] == 0.0
            assert at[-1] == 50.0
            waiting = dict(zip(at, found["history"]["unschedulable"], strict=True))
            assert [waiting[time] for time in (5.0, 6.0, 7.0)] == [0, 1, 2]
            assert [each["pod"] for each in found["first"] if each["place"] == "unschedulable"] == [
                "default/p1",
                "default/p2",
            ]
            await go_to(state, 100.0)
            later = await simulation_of(state).ask(simulated_queue)
            assert later["counts"]["unschedulable"] == 1
            moved = {(each["event"], each["from"]): each["pods"] for each in later["moved"]}
            assert moved["NodeAdd", "unschedulable"] == 2
            events = {each["event"]: each["at"] - later["beginning"] for each in later["moves"]}
            assert events["NodeAdd"] == 60.0
            await go_to(state, 6.0)
            back = await simulation_of(state).ask(simulated_queue)
            assert back["counts"]["unschedulable"] == 1
            assert max(back["history"]["at"]) - back["beginning"] == 6.0

    asyncio.run(story())
