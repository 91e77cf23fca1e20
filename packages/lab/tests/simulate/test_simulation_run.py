"""However a simulation is driven, its decisions and figures are those of a run to the end."""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.simulation.page_run import PageRun
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation import MeasuredRun, Run
from kubesched_lab.simulate.traces.trace import (
    ConfigurationChange,
    ObjectDeletion,
    ObjectPut,
    PodArrival,
    Trace,
    TraceEvent,
)

LOADED = load_config()
FIRST_NODE_ONLY = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 1
"""


def a_trace(seed: int) -> Trace:
    """Return a small cluster where pods compete and preempt, many of them at the same moment; nodes come and go."""
    chance = Random(seed)
    events: list[TraceEvent] = [ObjectPut(0.0, a_node(f"n{each}", cpu="4", zone=f"z{each % 2}")) for each in range(3)]
    for number in range(chance.randrange(4, 30)):
        pod = a_pod(f"p{number}", cpu=chance.choice(["1", "2", "3", "9"]), priority=chance.choice([0, 0, 5]))
        events.append(PodArrival(chance.choice([0.0, 1.0, 1.5, 4.0]), pod, chance.choice([None, 0.0, 2.0, 30.0])))
    events.append(ObjectDeletion(chance.choice([1.0, 3.0]), "Node", "n1"))
    events.append(ConfigurationChange(chance.choice([1.0, 2.0]), FIRST_NODE_ONLY))
    events.append(ObjectPut(6.0, a_node("late", cpu="4")))
    return Trace("small", lambda _: iter(sorted(events, key=lambda event: event.at)))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    seed = draw(st.integers(0, 2**16))
    binding, attempt = draw(st.sampled_from([0.0, 0.25])), draw(st.sampled_from([0.0, 0.1]))
    pace = Pace(binding_seconds=binding, attempt_seconds=attempt)
    until, one_by_one = draw(st.sampled_from([None, 5.0, 40.0])), draw(st.booleans())
    return Run(a_trace(seed), LOADED, Registry(), seed=seed, until=until, pace=pace, one_by_one=one_by_one)


def outcome(simulation: MeasuredRun, log: PodLog) -> tuple[bytes, bytes]:
    figures = msgspec.json.encode(simulation.figures())
    return figures, msgspec.json.encode([msgspec.to_builtins(each) for each in log.records])


@settings(max_examples=40)
@given(runs(), st.lists(st.integers(1, 30) | st.floats(0.0, 60.0), max_size=20))
def test_steps_and_times_lead_to_the_figures_and_decisions_of_a_run_to_the_end(
    run: Run, way: list[int | float]
) -> None:
    logs = PodLog(), PodLog()
    driven = MeasuredRun(run, log=logs[1])
    for part in way:
        if isinstance(part, float):
            driven.driver.until(part)
        else:
            for _ in range(part):
                driven.driver.step()
    assert outcome(driven, logs[1]) == outcome(MeasuredRun(run, log=logs[0]), logs[0])


def test_a_step_makes_one_attempt() -> None:
    events: list[TraceEvent] = [ObjectPut(0.0, a_node("n", cpu="2"))]
    events += (PodArrival(0.0, a_pod(f"p{each}"), 5.0) for each in range(9))
    for one_by_one in (False, True):
        run = Run(Trace("nine", lambda _: iter(events)), LOADED, Registry(), one_by_one=one_by_one)
        simulation = MeasuredRun(run)
        driver = simulation.driver
        bound: dict[int, int] = {}
        while driver.cycles < 9:
            before = driver.cycles
            driver.step()
            assert driver.cycles - before <= 1
            bound[driver.cycles] = sum(bool(pod.spec.node_name) for pod in driver.api.pods.values())
        assert list(bound) == list(range(10))
        assert list(bound.values())[:9] == (list(range(9)) if one_by_one else [0] * 9)
        assert simulation.figures().pods["ended"] == 9


@pytest.mark.parametrize("seed", range(5))
def test_the_page_decides_as_a_run_one_by_one(seed: int) -> None:
    trace, log = a_trace(seed), PodLog()
    MeasuredRun(Run(trace, LOADED, Registry(), seed=seed, until=40.0, one_by_one=True), log=log).figures()
    page = PageRun(PageScenario(trace, SimulatedConfiguration("", LOADED), seed=seed), lambda *_: None)
    while page.next_seconds <= 40.0 or not page.resting:
        if page.resting:
            page.jump(page.next_seconds)
        page.step()
    shown = [(mark.at, mark.pod.partition("/")[2], mark.node) for mark in page.marks.marks if mark.kind == "bound"]
    page.close()
    bound = [(each.bound, each.name, each.node) for each in log.records if each.bound is not None]
    assert sorted(shown) == sorted(bound)
