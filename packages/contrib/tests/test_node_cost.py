"""NodeCost: prices of nodes, what counts of them, and scores."""

import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example

from kubesched import ClusterView, PluginError
from kubesched.testing import Decider, EngineFactory, a_node, a_pod, check_plugin
from kubesched_contrib.node_cost import UNKNOWN, NodeCost

LABEL, TYPE, SPOT = "example.com/price", "node.kubernetes.io/instance-type", "example.com/spot"
TABLE = {
    "prices": [
        {"matchLabels": {TYPE: "large", SPOT: "true"}, "price": 0.1},
        {"matchLabels": {TYPE: "large"}, "price": 0.4},
        {"matchLabels": {TYPE: "small"}, "price": 0.2},
    ]
}


def priced(name: str, price: str = "", cpu: str = "4", **more: Any) -> Any:
    return a_node(name, cpu=cpu, memory="100Gi", labels={LABEL: price} if price else {}, **more)


def scores(made: Decider, pod: Any) -> dict[str, int]:
    """Return the final scores of NodeCost for a pod."""
    plugin: Any = next(iter(made.engine.profiles.values())).plugins["NodeCost"]
    info = made.engine.cluster.reader.read(pod)
    nodes = ClusterView(made.engine.cluster).nodes
    final = plugin.normalize_scores(None, info, plugin.score_nodes(None, info, nodes))
    return dict(zip(nodes.names, final.tolist(), strict=True))


@pytest.mark.parametrize(
    ("args", "labels", "expected"),
    [
        pytest.param({"priceLabel": LABEL}, {"a": {LABEL: "1"}, "b": {LABEL: "2.0"}}, {"a": 100, "b": 50}, id="label"),
        pytest.param(
            TABLE,
            {"a": {TYPE: "large", SPOT: "true"}, "b": {TYPE: "large"}, "c": {TYPE: "small"}, "d": {}},
            {"a": 100, "b": 25, "c": 50, "d": 0},
            id="a table; the first entry that matches counts, and a node without a price is avoided",
        ),
        pytest.param(
            {**TABLE, "defaultPrice": 0.2}, {"a": {}, "b": {TYPE: "large"}}, {"a": 100, "b": 50}, id="a default price"
        ),
        pytest.param(
            {**TABLE, "priceLabel": LABEL},
            {"a": {TYPE: "small", LABEL: "0.8"}, "b": {TYPE: "small"}},
            {"a": 25, "b": 100},
            id="a label comes before the table",
        ),
        pytest.param(
            {"priceLabel": LABEL},
            {"a": {LABEL: "0"}, "b": {LABEL: "0.5"}},
            {"a": 100, "b": 0},
            id="a free node",
        ),
        pytest.param({"priceLabel": LABEL}, {"a": {}, "b": {}}, {"a": 0, "b": 0}, id="no prices at all"),
    ],
)
def test_the_cheapest_node_is_best(
    engine: EngineFactory, args: dict[str, Any], labels: dict[str, dict[str, str]], expected: dict[str, int]
) -> None:
    nodes = [a_node(name, labels=each) for name, each in labels.items()]
    assert scores(engine(nodes, plugins=[NodeCost], args={"NodeCost": args}), a_pod("p")) == expected


SMALL, BIG = priced("small", "1", "4"), priced("big", "3", "16")
DAEMON = a_pod("agent", node="small", owner="DaemonSet/agent")


@pytest.mark.parametrize(
    ("cost", "placed", "expected"),
    [
        pytest.param("Node", [], {"small": 100, "big": 33}, id="the price of the node"),
        pytest.param("Share", [], {"small": 75, "big": 100}, id="the part that the pod takes"),
        pytest.param("Marginal", [], {"small": 100, "big": 33}, id="empty nodes cost all of their price"),
        pytest.param("Marginal", [a_pod("w", node="big")], {"small": 19, "big": 100}, id="one is paid for anyway"),
        pytest.param("Marginal", [DAEMON], {"small": 100, "big": 33}, id="pods of DaemonSets keep no node"),
    ],
)
def test_what_a_node_costs(engine: EngineFactory, cost: str, placed: list[Any], expected: dict[str, int]) -> None:
    made = engine([SMALL, BIG, *placed], plugins=[NodeCost], args={"NodeCost": {"priceLabel": LABEL, "cost": cost}})
    assert scores(made, a_pod("p", cpu="1")) == expected


def test_scores_follow_labels_that_change(engine: EngineFactory) -> None:
    made = engine([priced("a", "1"), priced("b", "2")], plugins=[NodeCost], args={"NodeCost": {"priceLabel": LABEL}})
    assert scores(made, a_pod("p")) == {"a": 100, "b": 50}
    made.engine.cluster.add(priced("a", "4"))
    assert scores(made, a_pod("p")) == {"a": 50, "b": 100}


@pytest.mark.parametrize("text", ["cheap", "-1", "1e3", "nan", "1_0"])
def test_a_label_that_is_no_price_is_told_and_does_not_count(
    engine: EngineFactory, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = engine([priced("a", text), priced("b", "9")], plugins=[NodeCost], args={"NodeCost": {"priceLabel": LABEL}})
    with caplog.at_level(logging.WARNING, "kubesched.plugins.NodeCost"):
        assert scores(made, a_pod("p")) == {"a": 0, "b": 100}
    assert [(record.message, vars(record)["node"]) for record in caplog.records] == [("Invalid price", "a")]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "args: priceLabel or prices: set one of them"),
        ({"prices": [{"matchLabels": {}, "price": 1}]}, "matchLabels: is empty"),
        ({"prices": [{"matchLabels": {"a": "b"}, "price": -1}]}, r"args\.prices\[0\]: price: must be a number from 0"),
        ({"priceLabel": LABEL, "defaultPrice": -1}, "defaultPrice: must be a number from 0"),
        ({"priceLabel": LABEL, "cost": "Least"}, r"args\.cost: invalid enum value 'Least'"),
        ({"label": LABEL}, r"args\.label: there is no such field"),
    ],
)
def test_wrong_arguments_are_told_at_start(engine: EngineFactory, args: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words):
        engine([], plugins=[NodeCost], args={"NodeCost": args})


@given(st.lists(st.one_of(st.just(UNKNOWN), st.integers(0, 2**53)), max_size=8))
def test_final_scores_are_in_range_and_in_order(raw: list[int]) -> None:
    plugin: Any = NodeCost.__new__(NodeCost)
    final = plugin.normalize_scores(None, None, np.array(raw, np.int64)).tolist()
    assert all(0 <= score <= 100 for score in final)
    ordered = [score for _, score in sorted(zip(raw, final, strict=True))]
    assert ordered == sorted(ordered, reverse=True)
    assert not raw or min(raw) == UNKNOWN or max(final) == 100


@pytest.mark.parametrize("cost", ["Node", "Share", "Marginal"])
def test_it_holds_to_the_contract(cost: str) -> None:
    nodes = [priced("n0", "1"), priced("n1", "2", "16"), priced("n2"), priced("n3", "x")]
    assert check_plugin(NodeCost, args={"priceLabel": LABEL, "cost": cost}, nodes=nodes, examples=10, speed=False)


def test_the_example_fills_what_is_paid_for() -> None:
    assert run_example("node-cost") == {"database": "reserved", "api": "reserved", "batch": "spot"}
