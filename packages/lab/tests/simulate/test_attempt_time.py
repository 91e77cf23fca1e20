"""Scheduling attempts take simulated time: others wait for them, and the cluster changes meanwhile."""

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from tests.support.pod_groups import a_group, member

from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.simulation.page_run import PageRun
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

NODE = ObjectPut(0, a_node("n", cpu="2", memory="4Gi"))
GROUPS = FeatureGates.parse("GenericWorkload=true,GangScheduling=true")


def pod(at: float, name: str, runs: float | None = None, **options: Any) -> PodArrival:
    return PodArrival(at, a_pod(name, **options), runs)


def giants(count: int, at: float = 0.0) -> list[TraceEvent]:
    """Return pods that fit nowhere and are attempted before others."""
    return [pod(at, f"giant-{number}", cpu="64", priority=5) for number in range(count)]


def simulated(
    *events: TraceEvent, attempt: float, gates: FeatureGates | None = None, **options: Any
) -> tuple[Figures, dict[str, float | None]]:
    """Return the figures, and when each pod was bound."""
    log, trace = PodLog(), Trace("story", lambda seed: iter(events))
    config = load_config(gates=gates) if gates is not None else load_config()
    figures = simulate(Run(trace, config, Registry(), pace=Pace(attempt_seconds=attempt), **options), pod_log=log)
    return figures, {each.name: each.bound for each in log.records}


@pytest.mark.parametrize(
    ("what", "events", "attempt", "bound"),
    [
        ("an attempt takes its time", [NODE, pod(0, "p")], 0.5, 0.5),
        ("attempts may take no time", [NODE, *giants(20), pod(0, "p")], 0.0, 0.0),
        ("a pod waits for the attempts of pods that fit nowhere", [NODE, *giants(20), pod(0, "p")], 0.1, 2.1),
        (
            "a pod that arrives during an attempt is attempted next by its priority",
            [NODE, *giants(20), pod(0.55, "p", priority=9)],
            0.1,
            0.7,
        ),
        (
            "room that a pod leaves during an attempt is there for the next one",
            [NODE, pod(0, "runs", 1, cpu="2", priority=9), *giants(12), pod(0, "p", cpu="2")],
            0.1,
            1.4,
        ),
        (
            "a pod that is deleted during an attempt needs none",
            [
                NODE,
                *giants(9),
                pod(0, "p"),
                *(ObjectDeletion(0.45, "Pod", f"default/giant-{n}") for n in range(5, 9)),
            ],
            0.1,
            0.6,
        ),
    ],
)
def test_a_pod_is_bound_after_the_attempts_before_its_own(
    what: str, events: list[TraceEvent], attempt: float, bound: float
) -> None:
    _, bound_at = simulated(*events, attempt=attempt)
    assert bound_at["p"] == pytest.approx(bound), what


def test_the_attempt_of_a_group_takes_as_long_as_those_of_its_pods() -> None:
    members = [PodArrival(0, member(f"p{number}", cpu="100m")) for number in range(3)]
    _, bound_at = simulated(NODE, ObjectPut(0, a_group()), *members, attempt=0.5, gates=GROUPS)
    assert list(bound_at.values()) == [1.5, 1.5, 1.5]


def test_a_simulation_on_the_page_takes_the_same_time() -> None:
    events = [NODE, *giants(20), pod(0, "p")]
    scenario = PageScenario(
        Trace("story", lambda seed: iter(events)),
        SimulatedConfiguration("", load_config()),
        Registry(),
        pace=Pace(attempt_seconds=0.1),
    )
    run = PageRun(scenario, lambda *_: None)
    while not run.driver.api.pods.get("default/p") or not run.driver.api.pods["default/p"].spec.node_name:
        if run.resting:
            run.jump(run.next_seconds)
        run.step()
    assert run.moment.seconds == pytest.approx(2.1)
    run.close()


def crowded(seed: int) -> Iterator[TraceEvent]:
    """Yield a cluster that is too small: each pod that ends has all that wait attempted again."""
    chance, at = Random(seed), 0.0
    for number in range(4):
        yield ObjectPut(0, a_node(f"n{number}", cpu="4"))
    for number in range(120):
        at += chance.random()
        yield pod(at, f"p{number}", chance.uniform(3, 30), cpu=chance.choice(["1", "2", "3"]))


def test_where_pods_compete_attempts_delay_them_and_the_same_seed_gives_the_same_figures() -> None:
    def run(attempt: float) -> Figures:
        return simulate(
            Run(Trace("crowd", crowded), load_config(), Registry(), seed=3, pace=Pace(attempt_seconds=attempt))
        )

    free, paid, again = run(0.0), run(0.02), run(0.02)
    assert msgspec.json.encode(paid) == msgspec.json.encode(again)
    # an attempt before the backoff is over may take a share of the time only
    assert paid.attempts_a_pod < free.attempts_a_pod
    assert paid.waiting.mean > free.waiting.mean
    assert paid.pods["bound"] == free.pods["bound"] == 120
