"""Plugins from plain functions: one node or columns, filter or score."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kubesched.core.framework.building.functions import filter_plugin, score_plugin
from kubesched.core.framework.building.registry import plugin_class
from kubesched.core.framework.plugin import extension_points_of
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.errors import PluginError
from kubesched.testing import a_cluster, a_node, a_pod

CLUSTER = a_cluster(a_node("big", cpu="8"), a_node("small", cpu="1"), a_pod("busy", cpu="950m", node="small"))
POD = CLUSTER.reader.read(a_pod("p"))
NEARLY_FULL = unschedulable("node(s) nearly full")


@filter_plugin("QuietNodes")
def quiet_nodes(pod: Any, node: NodeRow) -> Any:
    """Keep off nodes that are nearly full."""
    return NEARLY_FULL if node.free.milli_cpu < 100 else None


@filter_plugin("QuietColumns")
def quiet_columns(pod: Any, nodes: Nodes) -> Verdict:
    """The same, over columns."""
    return Verdict.rejecting(nodes.free("cpu") < 100, NEARLY_FULL)


@score_plugin("Roomy")
def roomy(pod: Any, node: NodeRow) -> int:
    """Ten points a core."""
    return 10 * (node.free.milli_cpu // 1000)


@score_plugin("RoomyColumns")
def roomy_columns(pod: Any, nodes: Nodes) -> Any:
    """The same, over columns."""
    return 10 * (nodes.free("cpu") // 1000)


def made_of(function: Callable[..., Any]) -> Any:
    """Return the plugin of a decorated function."""
    plugin = plugin_class(function)
    assert plugin is not None
    return plugin()


def test_a_decorated_function_can_be_called() -> None:
    big, small = NodeRow(CLUSTER.table, 0), NodeRow(CLUSTER.table, 1)
    assert quiet_nodes(POD, big) is None
    assert quiet_nodes(POD, small) == NEARLY_FULL
    assert quiet_columns(POD, Nodes(CLUSTER.table)).which.tolist() == [0, 1]
    assert roomy(POD, big) == 80


@pytest.mark.parametrize("plugin", [quiet_nodes, quiet_columns])
def test_a_filter_answers_for_one_node_and_for_all(plugin: Callable[..., Any]) -> None:
    made, cycle = made_of(plugin), CycleState()
    verdict = made.filter_nodes(cycle, POD, Nodes(CLUSTER.table))
    assert [verdict.statuses[index] for index in verdict.which.tolist()] == [None, NEARLY_FULL]
    assert made.filter(cycle, POD, NodeRow(CLUSTER.table, 0)) is None
    assert made.filter(cycle, POD, NodeRow(CLUSTER.table, 1)) == NEARLY_FULL


@pytest.mark.parametrize("plugin", [roomy, roomy_columns])
def test_a_score_answers_for_one_node_and_for_all(plugin: Callable[..., Any]) -> None:
    made, cycle = made_of(plugin), CycleState()
    scores = made.score_nodes(cycle, POD, Nodes(CLUSTER.table))
    assert isinstance(scores, np.ndarray)
    assert scores.tolist() == [80, 0]
    assert made.score(cycle, POD, NodeRow(CLUSTER.table, 0)) == 80


def test_the_class_is_named_after_the_function() -> None:
    plugin = type(made_of(quiet_nodes))
    assert plugin.name == "QuietNodes"
    assert plugin.__name__ == plugin.__qualname__ == "quiet_nodes"
    assert plugin.__module__ == __name__
    assert plugin.__doc__ == "Keep off nodes that are nearly full."
    assert extension_points_of(plugin) == {"filter"}
    assert extension_points_of(type(made_of(roomy))) == {"score"}


def test_an_error_status_of_one_node_is_the_answer_for_all() -> None:
    @score_plugin("Broken")
    def broken(pod: Any, node: NodeRow) -> Any:
        return unschedulable("no")

    assert made_of(broken).score_nodes(CycleState(), POD, Nodes(CLUSTER.table)) == unschedulable("no")


async def _async_filter(pod: Any, node: Any) -> None: ...


def _one_parameter(pod: Any) -> None: ...


@pytest.mark.parametrize("decorator", [filter_plugin, score_plugin])
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (_async_filter, "plugin 'X': _async_filter is `async def`; filters and scores are plain functions"),
        (_one_parameter, "plugin 'X': _one_parameter must take (pod, node) or (pod, nodes)"),
    ],
)
def test_a_function_of_the_wrong_shape_is_refused(decorator: Any, function: Any, text: str) -> None:
    with pytest.raises(PluginError) as caught:
        decorator("X")(function)
    assert str(caught.value) == text
