"""Combined columns of a class of pods while rows come and go, and questions whose plugin failed."""

from typing import Any, ClassVar

import numpy as np

from kubesched import Reads, Registry, build_engine
from kubesched.core.evaluation.pod_class import WORST
from kubesched.core.framework.plugin import FilterPlugin, ScorePlugin
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.scheduling.decision import Decision, decide
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_node, a_pod, an_affinity

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Moody}]
"""


def evaluation(engine: Engine, **fields: Any) -> Any:
    return engine.evaluation_of(engine.cluster.reader.read(a_pod("p", cpu="1", **fields)))


def filter_failure(now: Any) -> Status | None:
    failure: Status | None = now.feasible().failure
    return failure


def feasible(engine: Engine) -> list[str]:
    names = engine.cluster.table.names
    return [name for name, passes in zip(names, evaluation(engine).feasible().mask.tolist(), strict=True) if passes]


def test_a_pod_on_a_node_that_is_not_known_yet_adds_a_row_that_nobody_passes() -> None:
    """It changes nothing that a taint column reads, and yet the column must grow."""
    engine = build_engine()
    engine.cluster.add(a_node("tainted", taints=["a=b:NoSchedule"]))
    engine.cluster.add(a_node("free"))
    assert feasible(engine) == ["free"]
    engine.cluster.add(a_pod("early", node="late", cpu="1"))
    assert feasible(engine) == ["free"]
    engine.cluster.add(a_node("late", cpu="2"))
    assert feasible(engine) == ["free", "late"]


def test_passing_has_another_version_only_when_a_row_begins_or_ceases_to_pass() -> None:
    engine = build_engine()
    for name in ("a", "b"):
        engine.cluster.add(a_node(name, cpu="2"))
    passing = evaluation(engine).pod_class.passing
    first = evaluation(engine).feasible().version
    engine.cluster.add(a_pod("x", node="a", cpu="1"))
    assert evaluation(engine).feasible().version == first, "a still has room"
    mask = passing.mask
    engine.cluster.add(a_pod("y", node="a", cpu="1"))
    assert evaluation(engine).feasible().version != first
    assert passing.mask is mask, "the one row was looked at"
    assert mask.tolist() == [False, True]


def test_the_ranking_has_the_base_scores_of_the_rows_that_pass() -> None:
    engine = build_engine()
    for name, cpu in (("small", "2"), ("large", "32"), ("full", "1")):
        engine.cluster.add(a_node(name, cpu=cpu))
    engine.cluster.add(a_pod("x", node="full", cpu="1"))

    def ranking() -> list[int]:
        now = evaluation(engine)
        totals = now.score().totals
        column = now.pod_class.ranking(now.feasible().mask, totals)
        assert column is not None
        ranked = column.totals
        assert list(column.leaders()) == np.flatnonzero(ranked == ranked.max()).tolist()
        assert ranked.tolist() == np.where(now.feasible().mask, totals, WORST).tolist()
        return [int(total) for total in ranked]

    before = ranking()
    assert before[2] == WORST
    engine.cluster.add(a_pod("y", node="large", cpu="30"))
    after = ranking()
    assert after[1] < before[1]
    assert (after[0], after[2]) == (before[0], before[2])
    engine.cluster.remove(a_pod("x", node="full", cpu="1"))
    assert ranking()[2] > WORST


def test_columns_of_its_own_alone_are_ranked_by_a_class() -> None:
    engine = build_engine()
    engine.cluster.add(a_node("a"))
    now = evaluation(engine)
    totals = now.score().totals
    assert now.pod_class.ranking(now.feasible().mask, totals) is not None
    assert now.pod_class.ranking(now.feasible().mask.copy(), totals) is None
    assert now.pod_class.ranking(now.feasible().mask, totals + 1) is None


class Moody(FilterPlugin, ScorePlugin):
    """Fails when it is told to; counts how often it is asked."""

    name = "Moody"
    reads = Reads.LABELS
    score_reads = Reads.LABELS
    failing: ClassVar[str] = ""
    asked: ClassVar[list[str]] = []

    def key(self, pod: Any) -> str:
        return "same"

    score_key = key

    def filter(self, cycle: Any, pod: Any, node: Any) -> Status | None:
        Moody.asked.append(f"filter {node.name}")
        if Moody.failing == "filter":
            raise RuntimeError("in a mood")
        return unschedulable("bad") if node.labels.get("bad") else None

    def score(self, cycle: Any, pod: Any, node: Any) -> int:
        Moody.asked.append(f"score {node.name}")
        if Moody.failing == "score":
            raise RuntimeError("in a mood")
        return 1


def moody_engine() -> Engine:
    Moody.failing, Moody.asked = "", []
    registry = Registry()
    registry.register(Moody)
    engine = build_engine(CONFIG, registry=registry)
    engine.cluster.add(a_node("a"))
    return engine


def test_a_question_whose_plugin_failed_is_made_anew_for_every_class_that_has_it_and_no_other_is() -> None:
    engine = moody_engine()
    assert filter_failure(evaluation(engine)) is None
    other = evaluation(engine, labels={"some": "label"})
    assert filter_failure(other) is None
    taints = {q.plugin.name: q for q in other.pod_class.filters}["TaintToleration"]
    Moody.failing = "filter"
    engine.cluster.add(a_node("a", labels={"x": "y"}))
    failure = filter_failure(evaluation(engine))
    assert failure is not None
    assert "in a mood" in failure.message
    Moody.failing = ""
    for labels in ({}, {"some": "label"}):
        now = evaluation(engine, labels=labels)
        assert filter_failure(now) is None
        assert all(q.keep for q in (*now.pod_class.filters, *now.pod_class.scored))
        assert {q.plugin.name: q for q in now.pod_class.filters}["TaintToleration"] is taints


def test_a_score_that_failed_is_asked_again_for_the_next_pod() -> None:
    engine = moody_engine()
    Moody.failing = "score"
    assert evaluation(engine).score().failure is not None
    Moody.failing = ""
    Moody.asked = []
    assert evaluation(engine).score().failure is None
    assert Moody.asked == ["score a"]
    Moody.asked = []
    assert evaluation(engine).score().failure is None
    assert Moody.asked == []


def test_another_node_on_a_row_is_asked_about_whatever_a_plugin_says_that_it_reads() -> None:
    class Narrow(Moody):
        reads = Reads.NOTHING

        def filter(self, cycle: Any, pod: Any, node: Any) -> Status | None:
            return unschedulable("odd") if node.name.startswith("odd") else None

    registry = Registry()
    registry.register(Narrow)
    engine = build_engine(CONFIG, registry=registry)
    engine.cluster.add(a_node("odd-1"))
    engine.cluster.add(a_node("b"))
    assert feasible(engine) == ["b"]
    engine.cluster.remove(a_node("odd-1"))
    engine.cluster.add(a_node("even"))
    assert engine.cluster.table.row_of["even"] == 0, "rows are recycled"
    assert feasible(engine) == ["even", "b"]


def test_pods_for_one_node_each_share_every_question_but_which_node_that_is() -> None:
    engine = build_engine()
    for name in ("a", "b", "full"):
        engine.cluster.add(a_node(name, cpu="2"))
    engine.cluster.add(a_pod("big", node="full", cpu="2"))

    def for_node(name: str) -> Any:
        return evaluation(engine, affinity=an_affinity(nodes=f"metadata.name={name}"), tolerations=["x:NoSchedule"])

    first, second = for_node("a"), for_node("b")
    shared = {one.plugin.name for one, other in pairs(first, second) if one is other}
    assert {one.plugin.name for one, _ in pairs(first, second)} - shared == {"NodeAffinity"}
    assert [decide(now, lambda _: 0).node_name for now in (first, second)] == ["a", "b"]
    assert "Insufficient cpu" in decide(for_node("full"), lambda _: 0).message
    engine.cluster.remove_pod("default-big")
    engine.cluster.add(a_pod("other", node="b", cpu="2"))
    assert decide(for_node("full"), lambda _: 0).node_name == "full"
    assert "Insufficient cpu" in decide(for_node("b"), lambda _: 0).message


def pairs(first: Any, second: Any) -> list[tuple[Any, Any]]:
    return list(zip(first.pod_class.filters, second.pod_class.filters, strict=True))


def test_a_pod_for_several_nodes_is_scored_on_them() -> None:
    engine = build_engine()
    for name, cpu in (("a", "4"), ("b", "8"), ("c", "64")):
        engine.cluster.add(a_node(name, cpu=cpu))
    now = evaluation(engine, affinity=an_affinity(nodes="metadata.name in (a)"))
    assert now.score().failure is None
    several = an_affinity(nodes=["metadata.name=a", "metadata.name=b"])
    assert decide(evaluation(engine, affinity=several), lambda _: 0) == Decision("b", 2)


def test_scores_are_normalised_over_the_feasible_nodes_of_each_class_that_shares_its_row_filters() -> None:
    """The classes differ in a filter that reads several rows, and one cached score serves both."""
    engine = build_engine()
    for name, zone, taints in (
        ("a-clean", "a", 0),
        ("a-tainted", "a", 1),
        ("b-tainted", "b", 1),
        ("b-twice", "b", 2),
    ):
        engine.cluster.add(a_node(name, zone=zone, taints=[f"t{n}=x:PreferNoSchedule" for n in range(taints)]))
    engine.cluster.add(a_pod("in-a", node="a-clean", labels={"app": "a"}))
    engine.cluster.add(a_pod("in-b", node="b-twice", labels={"app": "b"}))

    def taint_scores(zone: str) -> dict[str, int]:
        now = evaluation(engine, affinity=an_affinity(near=f"app={zone}@zone"))
        rows = np.flatnonzero(now.feasible().mask)
        now.score()
        question = next(q for q in now.pod_class.scored if q.plugin.name == "TaintToleration")
        scores = question.scores(now.feasible())
        return {engine.cluster.table.names[row]: int(scores[row]) for row in rows}

    assert taint_scores("a") == {"a-clean": 100, "a-tainted": 0}
    assert taint_scores("b") == {"b-tainted": 50, "b-twice": 0}
