"""The cycle of a group: it leaves the table as it was, evicts as few as it can, and survives plugins that are odd."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod, PodSchedulingGroup
from kubesched.api.scheduling import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.conformance.groups import GroupJudge
from kubesched.conformance.scenarios import Scenario
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.comparison import content, differences
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import PlacementGeneratePlugin, PlacementScorePlugin
from kubesched.core.framework.values.placements import Placement
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_budget, a_node, a_pod

CORPUS = Path(__file__).parents[2] / "conformance" / "data" / "pod-groups.jsonl.gz"
GATES = ("GenericWorkload", "GangScheduling")
WHOLE = (*GATES, "WorkloadAwarePreemption")
PLACED = (*GATES, "TopologyAwareWorkloadScheduling")


def a_group(name: str = "g", min_count: int = 2, topology: str = "", **spec: Any) -> PodGroup:
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=min_count))
    constraints = PodGroupSchedulingConstraints(topology=(TopologyConstraint(key=topology),)) if topology else None
    return PodGroup(
        metadata=ObjectMeta(name=name, namespace="default", uid=f"group-{name}"),
        spec=PodGroupSpec(scheduling_policy=policy, scheduling_constraints=constraints, **spec),
    )


def member(name: str, group: str = "g", **words: Any) -> Pod:
    return a_pod(name, **{"cpu": "2", **words}, scheduling_group=PodSchedulingGroup(pod_group_name=group))


def an_engine(*objects: ApiObject, gates: Sequence[str] = GATES, **options: Any) -> Engine:
    engine = build_engine(gates=FeatureGates(dict.fromkeys(gates, True)), **options)
    for obj in objects:
        engine.cluster.add(obj)
    return engine


def judged(engine: Engine, name: str = "default/g") -> dict[str, Any]:
    """Return what a group comes to, having held that the table stays as it was: asked again, it comes to the same."""
    judge = GroupJudge(engine, sequence=False)
    # columns that nobody has asked for yet come into being
    entry = judge.judge(name)
    before = content(engine.cluster)
    assert judge.judge(name) == entry
    assert not list(differences(before, content(engine.cluster)))
    return entry


def test_the_table_is_as_before_whatever_a_group_comes_to() -> None:
    with gzip.open(CORPUS) as stream:
        lines = [msgspec.json.decode(line) for line in stream]
    for line in lines[::8]:
        engine = build_engine(line.get("config"), FeatureGates(line["featureGates"]), validate=False)
        scenario = Scenario(engine, line)
        for name in scenario.groups:
            judged(engine, name)


def test_promises_to_pods_of_a_group_are_kept() -> None:
    promised = member("a", nominated="n1", priority=5)
    engine = an_engine(a_node("n1"), a_node("n2"), a_group(), promised, member("b", priority=5))
    entry = judged(engine)
    assert [pod["node"] for pod in entry["pods"]] == ["n1", "n2"]
    assert engine.cluster.nominations.node_of(promised.uid) == "n1"


# -- evicting for a group


def on(node: str, name: str = "", **words: Any) -> Pod:
    return a_pod(
        name or f"on-{node}", node=node, phase="Running", **{"cpu": "2", "start": "2024-01-01T00:00:00Z", **words}
    )


@pytest.mark.parametrize(
    ("objects", "victims"),
    [
        pytest.param([on("n1"), on("n2"), on("n3")], 2, id="as many as it takes"),
        pytest.param(
            [on("n1", priority=3), on("n2", priority=2), on("n3", priority=1)], {"on-n2", "on-n3"}, id="the least"
        ),
        pytest.param([on("n1"), on("n2", priority=10), on("n3")], {"on-n1", "on-n3"}, id="nobody as important"),
        pytest.param(
            [on("n1", start="2024-01-03T00:00:00Z"), on("n2"), on("n3", start="2024-01-02T00:00:00Z")],
            {"on-n1", "on-n3"},
            id="who started last",
        ),
        pytest.param(
            [on("n1", labels={"app": "kept"}), on("n2", priority=1), on("n3", priority=1), a_budget("b", "app=kept")],
            {"on-n2", "on-n3"},
            id="rather more important ones than to break a budget",
        ),
        pytest.param(
            [*(on(f"n{i}", labels={"app": "kept"}) for i in (1, 2, 3)), a_budget("b", "app=kept", allowed=2)],
            2,
            id="what a budget allows",
        ),
        pytest.param([on("n1", priority=10), on("n2", priority=10), on("n3")], None, id="not enough of them"),
        pytest.param([on("n1", priority=10), on("n2", priority=10), on("n3", priority=10)], None, id="nobody"),
    ],
)
def test_whom_a_group_evicts(objects: list[ApiObject], victims: set[str] | int | None) -> None:
    nodes = [a_node(f"n{i}", cpu="2") for i in (1, 2, 3)]
    pods = [member("a", priority=10), member("b", priority=10)]
    entry = judged(an_engine(*nodes, *objects, a_group(priority=10), *pods, gates=WHOLE))
    found = {name.removeprefix("default/") for name in entry.get("victims", ())}
    assert bool(entry.get("waitingOnPreemption")) is (victims is not None)
    assert (len(found) if isinstance(victims, int) else found) == (victims or set())


def test_a_group_with_a_pod_that_never_preempts_evicts_nobody() -> None:
    objects = [a_node("n1", cpu="2"), on("n1"), a_group(min_count=1, priority=10)]
    entry = judged(an_engine(*objects, member("a", priority=10, preemption_policy="Never"), gates=WHOLE))
    assert entry["workloadPreemption"]["reasons"] == ["not eligible due to preemptionPolicy=Never."]


def test_groups_with_constraints_and_profiles_without_preemption_evict_nobody() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {disabled: [{name: DefaultPreemption}]}}}]
"""
    nodes = [a_node("n1", cpu="2"), on("n1")]
    constrained = an_engine(*nodes, a_group(topology="zone", priority=10), member("a"), member("b"), gates=WHOLE)
    said = judged(constrained)["workloadPreemption"]["reasons"]
    assert said == ["workload aware preemption is not supported for pod groups with scheduling constraints"]
    without = an_engine(*nodes, a_group(priority=10), member("a"), member("b"), gates=WHOLE, config=config)
    said = judged(without)["workloadPreemption"]["reasons"]
    assert said == ["default preemption plugin is not registered, workload aware preemption is disabled"]


# -- plugins that talk nonsense


class Odd(PlacementGeneratePlugin, PlacementScorePlugin):
    """Says what a test tells it to."""

    name = "Odd"
    placements: Any = None
    score: Any = 1
    scores: Any = None

    def generate_placements(self, group: PodGroup, everywhere: Placement) -> Any:
        halves = [Placement("left", everywhere.rows[:1]), Placement("right", everywhere.rows[1:])]
        return halves if self.placements is None else self.placements

    def score_placement(self, pods: Sequence[Any], nodes: Nodes) -> Any:
        if isinstance(self.score, Exception):
            raise self.score
        return self.score

    def normalize_placement_scores(self, scores: Sequence[int]) -> Any:
        return scores if self.scores is None else self.scores


ODD_CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    placementGenerate: {enabled: [{name: Odd}], disabled: [{name: "*"}]}
    placementScore: {enabled: [{name: Odd}], disabled: [{name: "*"}]}
"""


@pytest.mark.parametrize(
    ("says", "message"),
    [
        pytest.param({"placements": ["n1"]}, "return a list of Placement", id="no placements"),
        pytest.param({"placements": 5}, "return a list of Placement", id="no list"),
        pytest.param({"placements": []}, "no feasible placements found", id="none at all"),
        pytest.param({"score": "good"}, "return an integer", id="no number"),
        pytest.param({"score": RuntimeError("boom")}, "RuntimeError: boom", id="a plugin that raises"),
        pytest.param({"score": 101}, "returns an invalid score 101", id="too good"),
        pytest.param({"scores": [1]}, "answered for 1 placements, was asked about 2", id="too few"),
        pytest.param({"scores": {"a": 1}}, "return a list of int", id="no list of numbers"),
    ],
)
def test_a_plugin_that_talks_nonsense_is_named(says: dict[str, Any], message: str) -> None:
    registry = Registry()
    registry.register(type("Told", (Odd,), says))
    objects = [a_node("n1"), a_node("n2"), a_group(min_count=1), member("a")]
    engine = an_engine(*objects, gates=PLACED, config=ODD_CONFIG, registry=registry)
    entry = judged(engine)
    assert entry["code"] in ("Error", "Unschedulable")
    assert message in entry["message"]


@pytest.mark.parametrize(
    "spoiler",
    [
        pytest.param({"schedulingPolicy": None}, id="no policy"),
        pytest.param({"schedulingPolicy": {"gang": {"minCount": -5}}}, id="fewer than none"),
        pytest.param({"schedulingPolicy": {"gang": {"minCount": 2**31 - 1}}}, id="more than there can be"),
        pytest.param({"schedulingConstraints": {"topology": [{"key": ""}]}}, id="an empty key"),
        pytest.param({"schedulingConstraints": {"topology": None}, "priority": None}, id="nulls"),
    ],
)
def test_odd_groups_are_judged(spoiler: dict[str, Any]) -> None:
    document = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}, **spoiler},
    }
    for gates in (GATES, WHOLE, PLACED):
        entry = judged(an_engine(a_node("n1"), decode(document), member("a"), gates=gates))
        assert entry["group"] == "default/g"
