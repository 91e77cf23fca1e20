"""Columns of plugins: values of nodes and of other objects, kept up to date by change."""

import logging
from typing import Any, ClassVar

import numpy as np
import pytest

from kubesched import FilterPlugin, Reads, Registry, ScorePlugin, build_engine, decide
from kubesched.core.cluster.kind_reads import kind_reads
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.scheduling.engine import Engine
from kubesched.errors import PluginError
from kubesched.testing import a_cluster, a_custom_object, a_node, a_pod

KIND = "nodeloads.v1.example.com"
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Loads, weight: 1000}]}}
"""


def a_load(name: str, cpu: Any, node: str = "") -> Any:
    return a_custom_object(KIND, name, spec={"node": node or name, "cpu": cpu})


class Loads(ScorePlugin):
    """Prefers nodes with little load; keeps its scores, and notes which nodes it is asked about."""

    name = "Loads"
    looks_up = (KIND,)
    asked: ClassVar[list[list[str]]] = []

    def __init__(self, cluster: ClusterView) -> None:
        self.load = cluster.object_values(
            KIND, node_of=lambda load: load.spec["node"], value_of=lambda load: load.spec["cpu"]
        )
        self.score_reads = self.load.reads

    def score_key(self, pod: Any) -> str:
        return ""

    def score_nodes(self, cycle: Any, pod: Any, nodes: Nodes) -> Any:
        Loads.asked.append(nodes.names)
        return 100 - nodes.values_of(self.load)


def an_engine() -> Engine:
    Loads.asked = []
    registry = Registry()
    registry.register(Loads)
    engine = build_engine(CONFIG, registry=registry)
    for number in range(4):
        engine.cluster.add(a_node(f"n{number}", cpu="64"))
    return engine


def best(engine: Engine) -> str:
    decision = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0)
    assert decision.failure is None, decision.failure
    return decision.node_name


def test_scores_follow_the_objects_and_are_asked_for_only_where_one_changed() -> None:
    engine = an_engine()
    for name, cpu in (("n0", 50), ("n1", 40), ("n2", 30), ("n3", 60)):
        engine.cluster.add(a_load(name, cpu))
    assert best(engine) == "n2"
    Loads.asked = []
    engine.cluster.add(a_load("n1", 10))
    assert best(engine) == "n1"
    assert Loads.asked == [["n1"]]
    engine.cluster.remove(a_load("n3", 60))
    assert best(engine) == "n3"
    assert Loads.asked == [["n1"], ["n3"]]


def test_a_node_that_comes_after_its_object_has_its_value() -> None:
    engine = an_engine()
    for name in ("n0", "n1", "n2", "n3"):
        engine.cluster.add(a_load(name, 50))
    engine.cluster.add(a_load("late", 5))
    best(engine)
    engine.cluster.add(a_node("late", cpu="64"))
    assert best(engine) == "late"


def test_an_object_may_move_to_another_node() -> None:
    engine = an_engine()
    for name in ("n0", "n1", "n2", "n3"):
        engine.cluster.add(a_load(name, 50))
    engine.cluster.add(a_load("z", 1, node="n1"))
    assert best(engine) == "n1"
    engine.cluster.add(a_load("z", 1, node="n3"))
    assert best(engine) == "n3"


@pytest.mark.parametrize(
    "broken", [a_custom_object(KIND, "n1", spec={}), a_load("n1", "much")], ids=["a missing field", "a wrong type"]
)
def test_an_object_that_the_plugin_cannot_read_is_left_out_and_logged(
    broken: Any, caplog: pytest.LogCaptureFixture
) -> None:
    engine = an_engine()
    for name in ("n0", "n2", "n3"):
        engine.cluster.add(a_load(name, 50))
    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        engine.cluster.add(broken)
    assert [(record.message, vars(record)["object"]) for record in caplog.records] == [("Object ignored", "n1")]
    assert best(engine) == "n1"
    engine.cluster.add(a_load("n1", 90))
    assert best(engine) == "n0"


CLUSTER = a_cluster(a_node("a", annotations={"price": "3"}), a_node("b", annotations={"price": "x"}), a_node("c"))


def price(node: Any) -> int:
    text = node.annotations.get("price", "")
    return int(text) if text.isdecimal() else -1


def test_values_of_nodes_follow_the_nodes() -> None:
    cluster = a_cluster(a_node("a", annotations={"price": "3"}), a_node("b"))
    prices = ClusterView(cluster).node_values(price, reads=Reads.ANNOTATIONS, default=-1)
    nodes = Nodes.all_of(cluster.table)
    assert nodes.values_of(prices).tolist() == [3, -1]
    cluster.add(a_node("b", annotations={"price": "7"}))
    cluster.add(a_node("c", annotations={"price": "1"}))
    assert Nodes.all_of(cluster.table).values_of(prices).tolist() == [3, 7, 1]
    assert [node.value_of(prices) for node in Nodes.all_of(cluster.table)] == [3, 7, 1]
    cluster.remove(a_node("a"))
    assert Nodes.all_of(cluster.table).values_of(prices).tolist() == [7, 1]


def test_values_may_be_fractions() -> None:
    halves = ClusterView(CLUSTER).node_values(lambda node: len(node.name) / 2, default=0.0, dtype=np.float64)
    assert Nodes.all_of(CLUSTER.table).values_of(halves).tolist() == [0.5, 0.5, 0.5]


def test_a_value_must_not_depend_on_pods() -> None:
    with pytest.raises(PluginError, match="cannot read pods or what they take, which differ in what-if worlds"):
        ClusterView(CLUSTER).node_values(lambda node: node.pod_count, reads=Reads.PODS)
    counts = ClusterView(CLUSTER).node_values(lambda node: node.pod_count)
    with pytest.raises(PluginError, match=r"add Reads\.PODS"):
        Nodes.all_of(CLUSTER.table).values_of(counts)


class Forgetful(FilterPlugin):
    """Reads a column that its `reads` does not name."""

    name = "Loads"
    reads = Reads.LABELS

    def __init__(self, cluster: ClusterView) -> None:
        self.prices = cluster.node_values(price, reads=Reads.ANNOTATIONS)

    def key(self, pod: Any) -> str:
        return ""

    def filter(self, cycle: Any, pod: Any, node: Any) -> None:
        node.value_of(self.prices)


def test_who_reads_a_column_names_what_it_reads() -> None:
    registry = Registry()
    registry.register(Forgetful)
    engine = build_engine(CONFIG.replace(", weight: 1000", ""), registry=registry)
    engine.cluster.add(a_node("a"))
    failure = decide(engine.evaluation_of(engine.cluster.reader.read(a_pod("p"))), lambda count: 0).failure
    assert failure is not None
    assert "a column is read whose `reads` the plugin's own `reads` does not name" in failure.message


def test_values_from_outside_that_are_no_numbers_are_refused_and_the_old_ones_stay() -> None:
    cluster = a_cluster(a_node("a"), a_node("b"))
    prices = ClusterView(cluster).assigned_values()
    prices.assign({"a": 3, "gone": 5})
    with pytest.raises(ValueError, match="invalid literal"):
        prices.assign({"a": 4, "b": "much"})  # type: ignore[dict-item]
    assert Nodes.all_of(cluster.table).values_of(prices).tolist() == [3, 0]


def test_what_is_assigned_to_many_nodes_leaves_the_answers_of_others_alone() -> None:
    engine = an_engine()
    for number in range(60):
        engine.cluster.add(a_node(f"more{number}", cpu="64"))
    column = ClusterView(engine.cluster).assigned_values()
    best(engine)
    Loads.asked = []
    before = engine.cluster.log.seq
    column.assign({f"more{number}": number + 1 for number in range(60)})
    assert engine.cluster.log.seq == before + 1, "one entry for all of them"
    column.assign({f"more{number}": number + 1 + (number == 3) for number in range(60)})
    best(engine)
    assert Loads.asked == []
    assert column.all()[engine.cluster.table.row_of["more3"]] == 5


def test_tables_number_their_columns_anew() -> None:
    first = [ClusterView(a_cluster()).assigned_values().reads for _ in range(100)]
    assert len(set(first)) == 1


def test_columns_share_no_group_with_kinds_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    # other tests need groups, too
    monkeypatch.setattr("kubesched.core.cluster.kind_reads._OTHERS", {})
    column = ClusterView(a_cluster()).assigned_values()
    kinds = [kind_reads(f"things{number}.v1.example.com") for number in range(100)]
    assert not any(column.reads & kind for kind in kinds)
