"""The forms of a filter and of a score: one is enough, the other is derived from it."""

from typing import Any

import numpy as np
import pytest

from kubesched.core.framework.calling.forms import filter_each, score_alone
from kubesched.core.framework.plugin import FilterPlugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.pod_topology_spread import PodTopologySpread
from kubesched.testing import a_cluster, a_node, a_pod

CLUSTER = a_cluster(a_node("good"), a_node("bad"))
POD = CLUSTER.reader.read(a_pod("p"))
NODES = Nodes.all_of(CLUSTER.table)


class OfOne(FilterPlugin, ScorePlugin):
    name = "OfOne"

    def filter(self, cycle: CycleState, pod: Any, node: NodeRow) -> Status | None:
        return unschedulable("bad") if node.name == "bad" else None

    def score(self, cycle: CycleState, pod: Any, node: NodeRow) -> int:
        return len(node.name)


class OfMany(FilterPlugin, ScorePlugin):
    name = "OfMany"

    def filter_nodes(self, cycle: CycleState, pod: Any, nodes: Nodes) -> Verdict:
        return Verdict.rejecting(np.array([name == "bad" for name in nodes.names]), unschedulable("bad"))

    def score_nodes(self, cycle: CycleState, pod: Any, nodes: Nodes) -> Any:
        return np.array([len(name) for name in nodes.names])


@pytest.mark.parametrize("plugin", [OfOne(), OfMany()], ids=lambda plugin: plugin.name)
def test_both_forms_can_be_asked_whichever_is_defined(plugin: Any) -> None:
    cycle = CycleState()
    verdict = plugin.filter_nodes(cycle, POD, NODES)
    assert [verdict.statuses[which] for which in verdict.which] == [None, unschedulable("bad")]
    assert [plugin.filter(cycle, POD, node) for node in NODES] == [None, unschedulable("bad")]
    assert list(plugin.score_nodes(cycle, POD, NODES)) == [4, 3]
    assert [plugin.score(cycle, POD, node) for node in NODES] == [4, 3]


def test_a_subclass_that_defines_the_other_form_keeps_both() -> None:
    class Both(OfOne):
        def filter_nodes(self, cycle: CycleState, pod: Any, nodes: Nodes) -> Verdict:
            return Verdict.uniform(len(nodes), None)

    assert Both.filter is OfOne.filter
    assert OfOne.filter_nodes is filter_each
    assert not Both().filter_nodes(CycleState(), POD, NODES).which.any()


def test_a_subclass_that_redefines_its_form_is_asked_through_the_derived_one() -> None:
    class Strict(OfOne):
        def filter(self, cycle: CycleState, pod: Any, node: NodeRow) -> Status | None:
            return unschedulable("all of them")

    assert Strict().filter_nodes(CycleState(), POD, NODES).which.all()


def test_a_plugin_without_either_form_says_so() -> None:
    spread: Any = object.__new__(PodTopologySpread)
    with pytest.raises(NotImplementedError, match="PodTopologySpread has no filter of single nodes"):
        spread.filter(CycleState(), POD, next(iter(NODES)))
    with pytest.raises(NotImplementedError, match="PodTopologySpread has no score of many nodes"):
        spread.score_nodes(CycleState(), POD, NODES)


def test_what_a_plugin_promises_can_be_said_by_its_constructor() -> None:
    class Configured(OfOne):
        def __init__(self, reads: int) -> None:
            self.reads = reads
            self.key_of_template = True

    assert (Configured(8).reads, Configured(8).key_of_template) == (8, True)
    assert not OfOne().key_of_template


def test_a_plugin_may_ask_its_column_form_about_one_node() -> None:
    assert score_alone(OfMany(), CycleState(), POD, next(iter(NODES))) == 4
