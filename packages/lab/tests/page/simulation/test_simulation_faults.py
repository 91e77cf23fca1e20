"""What can go wrong in a simulation is told in a sentence, and the page lives on."""

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from packages.lab.tests.page.simulation.test_page_simulation import a_day, a_scenario, go_to, shown, simulation_of

from kubesched.api.meta import ObjectMeta
from kubesched.api.scheduling import PodGroup
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.errors import KubeschedError
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.simulation import page_simulation
from kubesched_lab.page.simulation.commands import ENDED, PAUSED
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival, Trace, TraceEvent


def breaking_off() -> PageScenario:
    def events(seed: int) -> Iterator[TraceEvent]:
        yield ObjectPut(0.0, a_node("n"))
        yield PodArrival(1.0, a_pod("p"))
        raise TraceError("trace.jsonl, line 3: it ends within an object")

    return PageScenario(Trace("torn", events), SimulatedConfiguration("", load_config()))


def test_a_trace_that_breaks_off_is_told_and_earlier_moments_can_be_seen() -> None:
    async def story() -> None:
        async with shown(breaking_off()) as state:
            await go_to(state, 5.0)
            clock = simulation_of(state).clock
            assert (clock.state, clock.problem) == (ENDED, "trace.jsonl, line 3: it ends within an object")
            before = await go_to(state, 0.5)
            assert before["clock"]["problem"] == ""
            assert before["nodes"]["name"] == ["n"]

    asyncio.run(story())


def test_a_trace_that_cannot_begin_is_an_error_at_the_start() -> None:
    def events(seed: int) -> Iterator[TraceEvent]:
        raise TraceError("trace.jsonl, line 1: no JSON")
        yield

    async def story() -> None:
        state = PageState(None)
        with pytest.raises(KubeschedError, match="line 1: no JSON"):
            await state.simulate(PageScenario(Trace("torn", events), SimulatedConfiguration("", load_config())))
        assert state.simulation is None

    asyncio.run(story())


def test_an_action_that_cannot_be_done_changes_nothing() -> None:
    extenders = SimulatedConfiguration("", load_config(EXTENDER))

    async def story() -> None:
        async with shown(a_day()) as state:
            before = await go_to(state, 6.0)
            simulation = simulation_of(state)
            with pytest.raises(KubeschedError, match="extenders"):
                await simulation.apply("another configuration", configuration=extenders)
            await simulation.rested()
            assert simulation.scenario.actions == ()
            assert await go_to(state, 6.0) == before

    asyncio.run(story())


EXTENDER = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: [{urlPrefix: "http://127.0.0.1:1", filterVerb: filter}]
"""


class SlowFilter(FilterPlugin):
    """Does not return until it is told to."""

    name = "SlowFilter"
    entered, go_on = threading.Event(), threading.Event()

    def filter(self, cycle: Any, pod: Any, node: Any) -> None:
        """Wait."""
        self.entered.set()
        self.go_on.wait(20)


SLOW = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {filter: {enabled: [{name: SlowFilter}]}}}]
"""


def test_a_plugin_that_does_not_return_leaves_the_page_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_simulation, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(page_simulation, "ENDING_SECONDS", 0.1)
    registry = Registry()
    registry.register(SlowFilter)
    configuration = SimulatedConfiguration(SLOW, load_config(SLOW, registry=registry))
    events = (ObjectPut(0.0, a_node("n")), PodArrival(0.0, a_pod("p")))

    async def story() -> None:
        state = PageState(None)
        await state.simulate(PageScenario(Trace("slow", lambda _: iter(events)), configuration, registry))
        simulation = simulation_of(state)
        simulation.step()
        assert await asyncio.to_thread(SlowFilter.entered.wait, 20)
        with pytest.raises(KubeschedError, match="the simulation does not answer"):
            await simulation.records_of("default/p")
        assert simulation.clock.state == PAUSED
        began = time.monotonic()
        await state.close()
        assert time.monotonic() - began < 10

    try:
        asyncio.run(story())
    finally:
        SlowFilter.go_on.set()


def test_actions_happen_again_at_their_moments() -> None:
    async def story() -> None:
        events = (ObjectPut(0.0, a_node("n", cpu="1")), PodArrival(0.0, a_pod("p", cpu="1"), 100.0))
        async with shown(a_scenario(*events)) as state:
            simulation = simulation_of(state)
            await go_to(state, 5.5)
            done = await simulation.apply("a node joins", [ObjectPut(0.0, a_node("new", cpu="1"))])
            assert done.at.seconds == 5.5
            simulation.seek(7.0)
            await simulation.rested()
            await simulation.apply("a pod comes", [PodArrival(0.0, a_pod("q", cpu="1"), 1.0)])
            late = await go_to(state, 7.5)
            assert late["pods"]["name"] == ["p", "q"]
            early = await go_to(state, 5.0)
            assert early["nodes"]["name"] == ["n"]
            assert await go_to(state, 7.5) == late
            kinds = [mark.kind for mark in simulation.marks.between(0, 100)]
            assert kinds.count("action") == 2
            # undone: the pod came without a node
            scenario = simulation.scenario
            simulation.rerun(msgspec.structs.replace(scenario, actions=scenario.actions[1:]))
            await simulation.rested()
            found = await go_to(state, 7.5)
            assert found["nodes"]["name"] == ["n"]
            assert found["pods"]["node"] == [0, -1]

    asyncio.run(story())


def test_an_object_that_cannot_be_understood_is_left_out_with_a_note() -> None:
    events = (
        ObjectPut(0.0, a_node("n")),
        PodArrival(1.0, a_pod("bad", cpu="many")),
        PodArrival(1.0, a_pod("good", cpu="1")),
    )

    async def story() -> None:
        async with shown(a_scenario(*events)) as state:
            found = await go_to(state, 2.0)
            assert found["pods"]["name"] == ["good"]
            assert found["pods"]["node"] == [0]
            assert "Pod default/bad cannot be understood and is left out" in found["clock"]["note"]

    asyncio.run(story())


def test_pod_groups_that_are_ignored_are_told() -> None:
    group = PodGroup(metadata=ObjectMeta(name="g", namespace="default"))

    async def story() -> None:
        async with shown(a_scenario(ObjectPut(0.0, group))) as state:
            assert "--feature-gates GenericWorkload=true,GangScheduling=true" in simulation_of(state).clock.note

    asyncio.run(story())
