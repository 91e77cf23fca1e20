"""Whatever a plugin may ask of nodes is the same for one node and for many, and true in what-if worlds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched import FilterPlugin, Registry, Verdict, build_engine, unschedulable
from kubesched.core.framework.columns.row_worlds import WorldRow
from kubesched.core.framework.observing.observer import NOBODY
from kubesched.core.framework.views.nodes import NodeRow, Nodes, visited
from kubesched.core.framework.views.pod_matcher import PodMatcher
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.cycle import CycleContext, schedule
from kubesched.core.scheduling.outcomes import Failed, begin_attempt
from kubesched.testing import a_cluster, a_node, a_pod

TAKEN = unschedulable("node(s) taken")
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: OneEach}]}}
"""


class OneEach(FilterPlugin):
    """At most one pod a node."""

    name = "OneEach"


class ByRow(OneEach):
    def filter(self, cycle: Any, pod: Any, node: NodeRow) -> Any:
        return TAKEN if len(list(node.pods)) >= 1 else None


class ByRowCount(OneEach):
    def filter(self, cycle: Any, pod: Any, node: NodeRow) -> Any:
        return TAKEN if node.pod_count >= 1 else None


class ByColumn(OneEach):
    def filter_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(nodes.pod_count >= 1, TAKEN)


class ByRequests(OneEach):
    def filter_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(nodes.requested("pods") >= 1, TAKEN)


class ByMatcher(OneEach):
    def __init__(self) -> None:
        self.apps = PodMatcher({"app": "low"}, namespaces=["default"])

    def filter_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(nodes.count_pods(self.apps) >= 1, TAKEN)


class ByIteration(OneEach):
    def filter_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(np.array([len(list(node.pods)) >= 1 for node in nodes]), TAKEN)


@pytest.mark.parametrize("form", [ByRow, ByRowCount, ByColumn, ByRequests, ByMatcher, ByIteration])
def test_every_form_of_a_filter_that_counts_pods_lets_preemption_help(form: type[OneEach]) -> None:
    registry = Registry()
    registry.register(form)
    engine = build_engine(CONFIG, registry=registry)
    engine.cluster.add(a_node("n1", cpu="4"))
    engine.cluster.add(a_pod("low", node="n1", labels={"app": "low"}, priority=1))
    high = engine.cluster.reader.read(a_pod("high", priority=10))
    cycle = schedule(CycleContext(engine, lambda count: 0), begin_attempt(QueuedPod(high, 0.0), NOBODY))
    with pytest.raises(StopIteration) as ended:
        next(cycle)
    outcome = ended.value.value
    assert isinstance(outcome, Failed)
    assert outcome.preemption is not None
    assert outcome.preemption.node_name == "n1"
    assert [victim.name for victim in outcome.preemption.victims] == ["low"]


APPS = PodMatcher({"app": "a"})
ASKED: dict[str, tuple[Callable[[NodeRow], int], Callable[[Nodes], Any]]] = {
    "pod_count": (lambda node: node.pod_count, lambda nodes: nodes.pod_count),
    "count_pods": (lambda node: node.count_pods(APPS), lambda nodes: nodes.count_pods(APPS)),
    "free cpu": (lambda node: node.free.milli_cpu, lambda nodes: nodes.free("cpu")),
    "free pods": (lambda node: node.free.pods, lambda nodes: nodes.free("pods")),
    "free memory": (lambda node: node.free_of("memory"), lambda nodes: nodes.free("memory")),
    "free gpus": (lambda node: node.free_of("example.com/gpu"), lambda nodes: nodes.free("example.com/gpu")),
    "requested": (lambda node: node.requested_of("cpu"), lambda nodes: nodes.requested("cpu")),
    "allocatable": (lambda node: node.allocatable_of("pods"), lambda nodes: nodes.allocatable("pods")),
    "cordoned": (lambda node: int(node.unschedulable), lambda nodes: nodes.unschedulable.astype(int)),
    "zone": (
        lambda node: len(node.labels.get("zone") or ""),
        lambda nodes: nodes.by_label("zone", lambda text: len(text or "")),
    ),
}
PODS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["a", "b"]), st.sampled_from(["", "100m", "2"])), max_size=8
)


@given(pods=PODS, leaving=st.sets(st.integers(0, 7)))
def test_one_node_many_nodes_and_worlds_give_the_same_values(pods: list[Any], leaving: set[int]) -> None:
    nodes = [
        a_node("n0", cpu="4", labels={"zone": "a"}, allocatable={"example.com/gpu": 2}),
        a_node("n1", cpu="2", labels={"zone": "bb"}, unschedulable=True),
        a_node("n2", cpu="1"),
    ]
    placed = [
        a_pod(f"p{number}", node=f"n{row}", labels={"app": app}, cpu=cpu or None, requests={"example.com/gpu": 1})
        for number, (row, app, cpu) in enumerate(pods)
    ]
    full = a_cluster(*nodes, *placed)
    staying = [pod for number, pod in enumerate(placed) if number not in leaving]
    without = a_cluster(*nodes, *staying)
    for name, (of_one, of_many) in ASKED.items():
        many = of_many(Nodes.all_of(full.table)).tolist()
        assert [of_one(node) for node in Nodes.all_of(full.table)] == many, name
        assert [of_one(node) for _, node in visited(Nodes.all_of(full.table))] == many, name
        # worlds of the full cluster, with the pods of the other
        expected = of_many(Nodes.all_of(without.table)).tolist()
        worlds = [WorldRow(full.table, row, dict(without.table.pods_on[row])) for row in range(3)]
        assert [of_one(world) for world in worlds] == expected, name
        assert [of_many(world.alone()).tolist()[0] for world in worlds] == expected, name


def test_labels_and_annotations_are_lists_of_texts() -> None:
    cluster = a_cluster(a_node("n0", labels={"zone": "a"}), a_node("n1", annotations={"team": "x"}))
    nodes = Nodes.all_of(cluster.table)
    assert nodes.labels("zone") == ["a", None]
    assert nodes.annotations("team") == [None, "x"]
    assert [nodes.label_values("zone")[code] for code in nodes.label_codes("zone")] == ["a", ""]


@pytest.mark.parametrize("view", [lambda nodes: nodes, lambda nodes: next(iter(nodes))], ids=["nodes", "node"])
def test_the_table_is_out_of_reach(view: Any) -> None:
    shown = view(Nodes.all_of(a_cluster(a_node("n0")).table))
    with pytest.raises(AttributeError, match="the table is not that of a what-if world; ask the view itself"):
        shown.table  # noqa: B018
