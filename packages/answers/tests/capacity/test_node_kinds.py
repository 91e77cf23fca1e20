"""Kinds of node: which nodes are alike, and what a new one of a kind has."""

from typing import Any

import pytest
from tests.support.models import a_model

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.testing import a_csi_node, a_node, a_pod
from kubesched.testing.devices import a_slice
from kubesched_answers.capacity.node_kinds import HOSTNAME, ZONE, NodePrices, kinds_of_cluster, pool_label_of

ITYPE = "node.kubernetes.io/instance-type"


def kinds(*objects: ApiObject, pool_label: str = "") -> list[tuple[str, int]]:
    """Return the kinds of a cluster with their numbers of nodes."""
    found = kinds_of_cluster(a_model(*objects), pool_label, NodePrices())
    return [(kind.name, kind.count) for kind in found]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param({}, {}, True, id="equal nodes"),
        pytest.param({"zone": "a"}, {"zone": "b"}, True, id="in two zones"),
        pytest.param({"cpu": "2"}, {"cpu": "4"}, False, id="with other resources"),
        pytest.param({"memory": "8Gi"}, {"memory": "8388600Ki"}, False, id="with a little less memory"),
        pytest.param(
            {"memory": "8Gi", "labels": {ITYPE: "m"}},
            {"memory": "8388600Ki", "labels": {ITYPE: "m"}},
            True,
            id="of one instance type, with a little less memory",
        ),
        pytest.param({"labels": {"disk": "ssd"}}, {"labels": {"disk": "hdd"}}, False, id="with other labels"),
        pytest.param(
            {"labels": {"machine": "n1"}}, {"labels": {"machine": "n2"}}, True, id="with labels of their names"
        ),
        pytest.param({"taints": ["a=b:NoSchedule"]}, {}, False, id="with a taint"),
        pytest.param({"taints": ["node.kubernetes.io/not-ready=:NoExecute"]}, {}, True, id="with a taint of a state"),
        pytest.param(
            {"taints": ["ToBeDeletedByClusterAutoscaler=1:NoSchedule"]}, {}, True, id="of which one is about to go"
        ),
        pytest.param({"unschedulable": True}, {}, True, id="of which one is cordoned"),
    ],
)
def test_nodes_are_of_one_kind(one: dict[str, Any], other: dict[str, Any], alike: bool) -> None:
    assert len(kinds(a_node("n1", **one), a_node("n2", **other))) == (1 if alike else 2)


def test_the_most_frequent_kind_comes_first_under_its_type_and_pool() -> None:
    labels = {ITYPE: "m5", "pool": "workers"}
    nodes = [a_node("a"), *(a_node(f"n{number}", labels=labels) for number in range(3))]
    assert kinds(*nodes, pool_label="pool") == [("m5 (workers)", 3), ("like a", 1)]


def test_kinds_of_one_name_are_told_apart() -> None:
    nodes = [a_node("a", labels={"pool": "x"}), a_node("b", labels={"pool": "x", "gpu": "yes"})]
    assert kinds(*nodes, pool_label="pool") == [("x like a", 1), ("x like b", 1)]


def test_labels_that_differ_on_each_of_many_nodes_are_no_part_of_a_kind() -> None:
    assert kinds(*(a_node(f"n{number}", labels={"serial": f"s{number}"}) for number in range(12))) == [("like n0", 12)]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        pytest.param([{"eks.amazonaws.com/nodegroup": "a"}], "eks.amazonaws.com/nodegroup", id="a provider's label"),
        pytest.param([{"example.com/pool": "a"}, {"pool": "b"}, {"pool": "c"}], "pool", id="that of most nodes"),
        pytest.param([{"disk": "ssd"}], "", id="none"),
    ],
)
def test_the_label_of_pools_is_guessed(labels: list[dict[str, str]], found: str) -> None:
    assert pool_label_of([a_node(f"n{number}", labels=each) for number, each in enumerate(labels)]) == found


def test_a_new_node_comes_with_what_the_others_have() -> None:
    model = a_model(
        a_node("n1", zone="a", labels={"disk": "ssd"}),
        a_node("n2", zone="b", labels={"disk": "ssd"}),
        a_pod("agent-1", node="n1", owner="DaemonSet/agent"),
        a_pod("web", node="n1", owner="ReplicaSet/web"),
        a_csi_node("n1", {"disk": 4}),
        a_slice("s", "gpu0", node="n1", pool="n1"),
    )
    (kind,) = kinds_of_cluster(model, "", NodePrices())
    assert [zone[ZONE] for zone in kind.zones] == ["a", "b"]
    node, *others = kind.new_node(3, kind.zones[1])
    assert isinstance(node, Node)
    assert node.metadata.labels == {"disk": "ssd", ZONE: "b", HOSTNAME: node.name}
    assert [type(each).__name__ for each in others] == ["Pod", "CSINode", "ResourceSlice"]
    assert all(node.name in str(each) for each in others)


@pytest.mark.parametrize(
    ("prices", "price"),
    [
        pytest.param(NodePrices(), None, id="no prices"),
        pytest.param(NodePrices("price"), 2.5, id="a label"),
        pytest.param(NodePrices(table={"m": 3.0}), 3.0, id="a table by instance type"),
        pytest.param(NodePrices("price", table={"m": 3.0}), 2.5, id="a label comes before the table"),
        pytest.param(NodePrices("cost", table={"m": 3.0}), 3.0, id="a label that the node does not have"),
        pytest.param(NodePrices(column="pool", table={"x": 4.0}), 4.0, id="a table by another label"),
    ],
)
def test_the_price_of_a_node(prices: NodePrices, price: float | None) -> None:
    assert prices.of(a_node("n1", labels={"price": "2.5", ITYPE: "m", "pool": "x"})) == price


@pytest.mark.parametrize("text", ["", "cheap", "nan", "inf", "-1"])
def test_what_is_no_price(text: str) -> None:
    assert NodePrices("price").of(a_node("n1", labels={"price": text})) is None
