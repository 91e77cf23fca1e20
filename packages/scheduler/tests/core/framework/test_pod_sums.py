"""Sums over pods by node: kept up to date by change, true in what-if worlds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched import Engine, FilterPlugin, Reads, Registry, Verdict, build_engine, decide, unschedulable
from kubesched.core.framework.observing.observer import NOBODY
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext, schedule
from kubesched.core.scheduling.outcomes import Failed, begin_attempt
from kubesched.testing import a_cluster, a_node, a_pod

FULL = unschedulable("node(s) full of points")
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Points}]}}
"""


def points_of(pod: Any) -> int:
    return int(pod.labels.get("points", 0))


class Points(FilterPlugin):
    """At most ten points a node, over columns."""

    name = "Points"

    def __init__(self, cluster: ClusterView) -> None:
        self.points = cluster.pod_sums(points_of)

    def filter_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(nodes.values_of(self.points) + points_of(pod) > 10, FULL)


class PointsOfOne(Points):
    """The same, node by node."""

    filter_nodes: Any = FilterPlugin.filter_nodes

    def filter(self, cycle: Any, pod: Any, node: NodeRow) -> Any:
        return FULL if node.value_of(self.points) + points_of(pod) > 10 else None


class PointsComputed(Points):
    """The same, with a column that is computed from another one."""

    def __init__(self, cluster: ClusterView) -> None:
        sums = cluster.pod_sums(points_of)
        self.points: Any = cluster.computed_values(lambda nodes: nodes.values_of(sums) * 1, reads=sums.reads)


class PointsComputedOfOne(PointsOfOne, PointsComputed):
    """The same, node by node."""

    __init__ = PointsComputed.__init__


def an_engine(plugin: type[Points] = Points) -> Engine:
    registry = Registry()
    registry.register(plugin)
    engine = build_engine(CONFIG, registry=registry)
    engine.cluster.add(a_node("n1", cpu="64"))
    return engine


def with_points(name: str, points: int, **more: Any) -> Any:
    return a_pod(name, labels={"points": str(points)}, **more)


@pytest.mark.parametrize("plugin", [Points, PointsOfOne, PointsComputed, PointsComputedOfOne])
def test_preemption_takes_what_a_sum_needs(plugin: type[Points]) -> None:
    engine = an_engine(plugin)
    for name, points in (("much", 8), ("little", 2)):
        engine.cluster.add(with_points(name, points, node="n1", priority=1))
    high = engine.cluster.reader.read(with_points("high", 5, priority=10))
    cycle = schedule(CycleContext(engine, lambda count: 0), begin_attempt(QueuedPod(high, 0.0), NOBODY))
    with pytest.raises(StopIteration) as ended:
        next(cycle)
    outcome = ended.value.value
    assert isinstance(outcome, Failed)
    assert outcome.preemption is not None
    assert [victim.name for victim in outcome.preemption.victims] == ["much"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5)), max_size=12))
def test_sums_that_are_kept_equal_fresh_ones(changes: list[tuple[int, int, int]]) -> None:
    cluster = a_cluster(*(a_node(f"n{number}") for number in range(3)))
    sums = ClusterView(cluster).pod_sums(points_of)
    placed: dict[str, Any] = {}
    for pod, node, points in changes:
        name = f"p{pod}"
        if name in placed:
            cluster.remove(placed.pop(name))
        else:
            placed[name] = with_points(name, points, node=f"n{node}")
            cluster.add(placed[name])
        nodes = ClusterView(cluster).nodes
        assert nodes.values_of(sums).tolist() == [sums.over(node.pods) for node in nodes]


def test_a_function_whose_answer_becomes_zero_is_asked_again_where_it_was_not() -> None:
    asked: list[str] = []
    recent = True

    def value_of(pod: Any) -> int:
        asked.append(pod.name)
        return points_of(pod) * recent

    cluster = a_cluster(a_node("n1"), a_node("n2"), with_points("a", 0, node="n1"), with_points("b", 5, node="n2"))
    sums = ClusterView(cluster).pod_sums(value_of)
    nodes = ClusterView(cluster).nodes
    assert nodes.values_of(sums).tolist() == [0, 5]
    recent = False
    asked.clear()
    assert nodes.values_of(sums).tolist() == [0, 5]
    sums.recount()
    assert nodes.values_of(sums).tolist() == [0, 0]
    assert asked == ["b"]


class Narrow(Points):
    """Keeps its answers, and does not say that they depend on sums."""

    reads = Reads.LABELS

    def key(self, pod: Any) -> str:
        return ""


def test_an_answer_that_is_kept_names_the_sums_it_reads() -> None:
    engine = an_engine(Narrow)
    failed = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0)
    assert "the plugin's own `reads` does not name" in failed.message
