"""Columns that a function computes for many nodes: asked again where what it reads changed."""

from typing import Any

import numpy as np
import pytest

from kubesched import ClusterView, Nodes, PluginError, Reads
from kubesched.testing import a_cluster, a_node, a_pod


def test_values_are_computed_where_something_changed() -> None:
    cluster = a_cluster(a_node("n1", cpu="4"), a_node("n2", cpu="2"))
    asked: list[list[str]] = []

    def share_taken(nodes: Nodes) -> Any:
        asked.append(nodes.names)
        return nodes.requested("cpu") / nodes.allocatable("cpu")

    view = ClusterView(cluster)
    column = view.computed_values(share_taken, reads=Reads.RESOURCES, default=-1.0, dtype=np.float64)
    assert view.nodes.values_of(column).tolist() == [0, 0]
    cluster.add(a_pod("p", cpu="1", node="n2"))
    assert view.nodes.values_of(column).tolist() == [0, 0.5]
    assert [node.value_of(column) for node in view.nodes] == [0, 0.5]
    assert asked == [["n1", "n2"], ["n2"]]
    cluster.remove(a_node("n2"))
    assert column.all().tolist() == [0, -1]


def test_a_function_that_reads_more_than_nodes_is_asked_again_on_request() -> None:
    prices = {"a": 3}
    cluster = a_cluster(a_node("n1", zone="a"), a_node("n2", zone="b"))
    view = ClusterView(cluster)
    column = view.computed_values(
        lambda nodes: nodes.by_label("topology.kubernetes.io/zone", lambda zone: prices.get(zone or "", 0)),
        reads=Reads.LABELS,
    )
    assert view.nodes.values_of(column).tolist() == [3, 0]
    prices["b"] = 5
    assert view.nodes.values_of(column).tolist() == [3, 0]
    column.recompute()
    assert view.nodes.values_of(column).tolist() == [3, 5]


def test_what_is_read_is_named() -> None:
    cluster = a_cluster(a_node("n1"))
    column = ClusterView(cluster).computed_values(lambda nodes: nodes.free("cpu"), reads=Reads.LABELS)
    with pytest.raises(PluginError, match="resources of nodes are read, which `reads` does not name"):
        column.all()
