"""Timed evaluations decide as untimed ones do, and tell who was asked."""

from random import Random
from typing import Any

import pytest

from kubesched.core.assembly import build_engine
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import (
    FILTER,
    PRE_FILTER,
    PRE_SCORE,
    SCORE,
    Observer,
    Observers,
    Stopwatch,
)
from kubesched.core.framework.plugin import UNCACHED, FilterPlugin, PreFilterPlugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status, unresolvable
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.scheduling.decision import decide
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_node, a_pod, a_spread, an_affinity


class Recording(Observer):
    """Remembers what it is told of evaluations."""

    def __init__(self) -> None:
        self.points: list[tuple[str, str]] = []
        self.asked: dict[str, tuple[tuple[str, ...], int]] = {}
        self.plugins: set[tuple[str, str, str]] = set()
        self.rejections: list[str] = []

    def points_ran(self, profile: str, laps: Any) -> None:
        self.points += [(point, code.text) for point, code, _ in laps]

    def plugins_asked(self, profile: str, asked: Any) -> None:
        self.asked |= {point: (plugins, times) for point, plugins, times in asked}

    def plugin_ran(self, plugin: str, point: str, status: str, seconds: float) -> None:
        self.plugins.add((plugin, point, status))

    def pre_filter_rejected(self, pod: PodInfo, status: Status) -> None:
        self.rejections.append(status.message)


def watched(*, sampled: bool) -> tuple[Recording, Stopwatch]:
    recording = Recording()
    observers = Observers((recording,), clock=lambda: 0.0, note=pytest.fail, sampled=lambda: sampled)
    return recording, Stopwatch(observers, "default-scheduler")


def engine_of(nodes: int, registry: Registry | None = None, config: str | None = None) -> Engine:
    engine = build_engine(config, registry=registry)
    for number in range(nodes):
        engine.cluster.add(a_node(f"n{number}", cpu="4", zone=f"z{number % 2}"))
    return engine


KINDS: dict[str, dict[str, Any]] = {
    "plain": {"cpu": "1"},
    "spread": {
        "cpu": "1",
        "labels": {"app": "a"},
        "spread": [a_spread("zone", "app=a")],
    },
    "apart": {"cpu": "1", "labels": {"app": "b"}, "affinity": an_affinity(apart="app=b@kubernetes.io/hostname")},
}


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_timing_changes_no_decision(kind: str, sampled: bool) -> None:
    plain, timed = engine_of(12), engine_of(12)
    dice = Random(7)
    for number in range(30):
        chosen = []
        for engine in (plain, timed):
            pod = engine.cluster.reader.read(a_pod(f"p{number}", **KINDS[kind]))
            stopwatch = watched(sampled=sampled)[1] if engine is timed else None
            evaluator = engine.evaluators["default-scheduler"]
            evaluation = evaluator.evaluation_of(pod, stopwatch) if stopwatch else evaluator.evaluation_of(pod)
            decision = decide(evaluation, lambda n, seed=number: Random(seed).randrange(n))  # type: ignore[misc]
            if decision.node_name:
                engine.cluster.assume(pod, decision.node_name)
            chosen.append((decision.node_name, decision.feasible_nodes))
        assert chosen[0] == chosen[1], f"pod {number}"
        if dice.random() < 0.2:
            gone = dice.choice(sorted(plain.cluster.table.pods))
            plain.cluster.remove_pod(gone)
            timed.cluster.remove_pod(gone)


def test_all_four_points_are_told_with_who_was_asked() -> None:
    engine, (recording, stopwatch) = engine_of(3), watched(sampled=False)
    pod = engine.cluster.reader.read(a_pod("p", cpu="1"))
    decide(engine.evaluators["default-scheduler"].evaluation_of(pod, stopwatch), lambda n: 0)
    stopwatch.tell()
    assert recording.points == [(point, "Success") for point in (PRE_FILTER, FILTER, PRE_SCORE, SCORE)]
    assert recording.asked[PRE_FILTER] == (("NodeResourcesFit",), 1)
    assert recording.asked[FILTER] == (("NodeUnschedulable", "NodeName", "TaintToleration", "NodeResourcesFit"), 3)
    assert recording.asked[SCORE][1] == 3
    assert "NodeResourcesFit" in recording.asked[SCORE][0]
    assert not recording.plugins


def test_one_feasible_node_is_not_scored() -> None:
    engine, (recording, stopwatch) = engine_of(1), watched(sampled=False)
    pod = engine.cluster.reader.read(a_pod("p", cpu="1"))
    decide(engine.evaluators["default-scheduler"].evaluation_of(pod, stopwatch), lambda n: 0)
    stopwatch.tell()
    assert [point for point, _ in recording.points] == [PRE_FILTER, FILTER]


def test_the_promised_node_is_filtered_alone() -> None:
    engine, (recording, stopwatch) = engine_of(5), watched(sampled=False)
    pod = engine.cluster.reader.read(a_pod("p", cpu="1", nominated="n3"))
    assert decide(engine.evaluators["default-scheduler"].evaluation_of(pod, stopwatch), lambda n: 0).node_name == "n3"
    stopwatch.tell()
    assert recording.asked[FILTER][1] == 1


# -- plugins of one's own, timed one by one


class Choosy(PreFilterPlugin, FilterPlugin, ScorePlugin):
    """Rejects pods labelled so at PreFilter, and all nodes but n0; asked anew for every pod."""

    name = "Choosy"

    def key(self, pod: PodInfo) -> Any:
        return UNCACHED

    score_key = key

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        return unresolvable("not today") if "reject" in pod.labels else None

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return unresolvable("not there") if "nowhere" in pod.labels else None

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int:
        return 1


CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Choosy}]}}
"""


def ask_choosy(**labels: str) -> Recording:
    registry = Registry()
    registry.register(Choosy)
    engine, (recording, stopwatch) = engine_of(3, registry, CONFIG), watched(sampled=True)
    pod = engine.cluster.reader.read(a_pod("p", cpu="1", labels=labels))
    decide(engine.evaluators["default-scheduler"].evaluation_of(pod, stopwatch), lambda n: 0)
    stopwatch.tell()
    return recording


def test_a_plugin_of_ones_own_is_timed_at_every_point() -> None:
    of_choosy = {told for told in ask_choosy().plugins if told[0] == "Choosy"}
    assert of_choosy == {("Choosy", point, "Success") for point in (PRE_FILTER, FILTER, SCORE)}


def test_what_it_said_is_told_with_it() -> None:
    assert ("Choosy", PRE_FILTER, "UnschedulableAndUnresolvable") in ask_choosy(reject="").plugins
    assert ("Choosy", FILTER, "UnschedulableAndUnresolvable") in ask_choosy(nowhere="").plugins


def test_a_rejection_by_pre_filter_ends_it_and_is_told() -> None:
    recording = ask_choosy(reject="")
    assert recording.points == [(PRE_FILTER, "UnschedulableAndUnresolvable")]
    assert recording.rejections == ["not today"]
    assert "Choosy" in recording.asked[PRE_FILTER][0]
