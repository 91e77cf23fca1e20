"""NodeResourcesFit and NodeResourcesBalancedAllocation: all forms of an answer are one answer.

One row and all rows agree, columns that were caught up equal fresh ones, and a world equals the table in which its
pods really came and went.
"""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.devices import DeviceClass, DeviceClassSpec
from kubesched.api.meta import ObjectMeta
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.config.args import (
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.columns.questions import Feasible
from kubesched.core.framework.columns.row_questions import RowFilterQuestion, RowScoreQuestion
from kubesched.core.framework.plugin import ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status, StatusTable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.node_resources import NodeResourcesBalancedAllocation, NodeResourcesFit
from kubesched.testing import a_cluster, a_node, a_pod

GPU, NIC = "example.com/gpu", "example.com/nic"
GATES = FeatureGates()
CLASS = DeviceClass(metadata=ObjectMeta(name="nic"), spec=DeviceClassSpec(extended_resource_name=NIC))

milli_cpus = st.sampled_from([0, 1, 100, 333, 1000, 1999, 4000, 7910])
memory = st.one_of(st.sampled_from([0, 1, 2**30, 2**33, 2**61, 2**63 - 1]), st.integers(0, 2**34))
few = st.integers(0, 3)
requests: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={"cpu": milli_cpus.map(lambda m: f"{m}m"), "memory": memory, "ephemeral-storage": few, GPU: few, NIC: few},
)
small_requests: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={"cpu": milli_cpus.map(lambda m: f"{m}m"), "memory": st.integers(0, 2**32), GPU: few, NIC: few}
)
resources = st.lists(
    st.builds(
        ResourceSpec,
        name=st.sampled_from(["cpu", "memory", "ephemeral-storage", GPU, NIC, "pods"]),
        weight=st.integers(1, 100),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda resource: resource.name,
).map(tuple)
shapes = st.dictionaries(st.integers(0, 100), st.integers(0, 10), min_size=1, max_size=4).map(
    lambda points: tuple(UtilizationShapePoint(utilization=x, score=y) for x, y in sorted(points.items()))
)
strategies = st.builds(
    ScoringStrategy,
    type=st.sampled_from(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]),
    resources=resources,
    requested_to_capacity_ratio=st.builds(RequestedToCapacityRatioParam, shape=shapes),
)


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    name = f"n{draw(st.integers(0, 3))}"
    return a_node(name, cpu=0, memory=0, pods=draw(few), allocatable=draw(requests))


@st.composite
def placed(draw: st.DrawFn) -> Pod:
    name = f"p{draw(st.integers(0, 5))}"
    return a_pod(name, requests=draw(small_requests), node=f"n{draw(st.integers(0, 3))}")


def fit_of(cluster: ClusterState, strategy: ScoringStrategy, ignored: tuple[str, ...] = ()) -> NodeResourcesFit:
    return NodeResourcesFit(NodeResourcesFitArgs(scoring_strategy=strategy, ignored_resources=ignored), cluster, GATES)


def balance_of(cluster: ClusterState, strategy: ScoringStrategy) -> NodeResourcesBalancedAllocation:
    args = NodeResourcesBalancedAllocationArgs(resources=strategy.resources)
    return NodeResourcesBalancedAllocation(args, cluster, GATES)


def listed(verdict: Verdict) -> list[Status | None]:
    assert verdict.statuses[0] is None
    return [verdict.statuses[index] for index in verdict.which]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(nodes(), min_size=1, max_size=4),
    st.lists(placed(), max_size=4),
    requests,
    strategies,
    st.booleans(),
    st.sampled_from([(), (GPU,)]),
)
def test_one_row_is_all_rows(
    cluster_nodes: list[Node],
    pods: list[Pod],
    wanted: dict[str, Any],
    strategy: ScoringStrategy,
    devices: bool,
    ignored: tuple[str, ...],
) -> None:
    cluster = a_cluster(*cluster_nodes, *pods, *([CLASS] if devices else []))
    table, cycle = cluster.table, CycleState()
    pod = cluster.reader.read(a_pod("incoming", requests=wanted))
    fit = fit_of(cluster, strategy, ignored)
    statuses = listed(fit.filter_nodes(cycle, pod, Nodes(table)))
    rows = table.present_rows()
    worlds = listed(fit.filter_worlds(pod, rows).verdict())
    for row, in_world in zip(rows.tolist(), worlds, strict=True):
        assert statuses[row] == fit.filter(cycle, pod, NodeRow(table, row)) == in_world
    scoring: list[ScorePlugin] = [fit, balance_of(cluster, strategy)]
    for plugin in scoring:
        scores = plugin.score_nodes(cycle, pod, Nodes(table))
        some = plugin.score_nodes(cycle, pod, Nodes(table, rows))
        assert not isinstance(scores, Status)
        assert not isinstance(some, Status)
        for row, gathered in zip(rows.tolist(), some.tolist(), strict=True):
            assert scores[row] == plugin.score(cycle, pod, NodeRow(table, row)) == gathered


class Columns:
    """The questions of one pod, kept over changes of a cluster."""

    def __init__(self, cluster: ClusterState, wanted: dict[str, Any], strategy: ScoringStrategy) -> None:
        pod = cluster.reader.read(a_pod("incoming", requests=wanted))
        self.statuses = StatusTable()
        self.cluster = cluster
        fit, cycle = fit_of(cluster, strategy), CycleState()
        self.filter = RowFilterQuestion(fit, pod, cluster.table, self.statuses, cycle, pre_filter=True)
        self.scores = [
            RowScoreQuestion(plugin, pod, cluster.table, cycle, pre_score=False)
            for plugin in (fit, balance_of(cluster, strategy))
        ]

    def by_node(self) -> dict[str, tuple[Any, ...]]:
        """Return each node's status and scores, brought up to date."""
        table = self.cluster.table
        self.filter.refresh()
        everything = Feasible(table.present[: table.size], table.log.seq)
        for question in self.scores:
            question.prepare(everything)
        return {
            table.names[row]: (self.statuses[self.filter.ids[row]], *(int(q.raw[row]) for q in self.scores))
            for row in table.present_rows().tolist()
        }


changes = st.one_of(
    nodes().map(lambda node: ("add", node)),
    placed().map(lambda pod: ("add", pod)),
    st.one_of(nodes(), placed()).map(lambda obj: ("remove", obj)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(changes, max_size=4), min_size=2, max_size=5), requests, strategies)
def test_columns_that_were_caught_up_are_fresh(
    script: list[list[tuple[str, Node | Pod]]], wanted: dict[str, Any], strategy: ScoringStrategy
) -> None:
    cluster = a_cluster()
    kept = Columns(cluster, wanted, strategy)
    for step in script:
        for action, obj in step:
            getattr(cluster, action)(obj)
        assert kept.by_node() == Columns(cluster, wanted, strategy).by_node()


@settings(max_examples=60, deadline=None)
@given(st.lists(nodes(), min_size=1, max_size=4), st.lists(placed(), min_size=1, max_size=6), requests)
def test_a_world_is_the_table_after_the_change(
    cluster_nodes: list[Node], pods: list[Pod], wanted: dict[str, Any]
) -> None:
    cluster = a_cluster(*cluster_nodes, *pods, CLASS)
    table = cluster.table
    fit = fit_of(cluster, ScoringStrategy(type="LeastAllocated", resources=(ResourceSpec(name="cpu", weight=1),)))
    pod = cluster.reader.read(a_pod("incoming", requests=wanted))
    rows = table.present_rows()
    worlds = fit.filter_worlds(pod, rows)
    here = {row: index for index, row in enumerate(rows.tolist())}
    gone = [each for each in table.pods.values() if table.slots.row_of(each.slot) in here]
    for each in gone:
        worlds.change(np.array([here[table.slots.row_of(each.slot)]]), np.array([each.slot]), -1)
    without = listed(worlds.verdict())
    for each in gone:
        worlds.change(np.array([here[table.slots.row_of(each.slot)]]), np.array([each.slot]), 1)
    assert listed(worlds.verdict()) == listed(fit.filter_nodes(CycleState(), pod, Nodes(table, rows)))
    for each in gone:
        cluster.remove_pod(each.uid)
    assert without == listed(fit.filter_nodes(CycleState(), pod, Nodes(table, rows)))
