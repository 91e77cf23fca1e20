"""Selectors and tolerations over many rows: the same answers as one node at a time."""

import numpy as np
import pytest

from kubesched.api.labels import EVERYTHING, NOTHING
from kubesched.api.node_selectors import CompiledNodeSelector, CompiledTerm, compile_term, required_node_affinity
from kubesched.api.pods import NodeSelectorRequirement, NodeSelectorTerm, Taint
from kubesched.core.cluster.node_matching import by_distinct, matching_rows, rows_with_labels, tolerated_rows
from kubesched.testing import a_cluster, a_node, a_pod, an_affinity
from kubesched.testing.shorthand import node_term, toleration

NODES = [
    a_node("a", labels={"disk": "ssd", "cores": "8"}, taints=["x:NoSchedule"]),
    a_node("b", labels={"disk": "", "cores": "16"}, taints=["x:NoSchedule", "y:PreferNoSchedule"]),
    a_node("c", labels={"cores": "+9"}),
    a_node("d", labels={"disk": "ssd"}, taints=["y:NoExecute"]),
]
TABLE = a_cluster(*NODES).table
ALL = slice(0, TABLE.size)


@pytest.mark.parametrize(
    "text",
    [
        *("disk", "!disk", "disk=ssd", "disk in (ssd,nvme)", "disk notin (ssd,nvme)", "disk!=ssd", "disk in (nvme)"),
        *("cores>8", "cores<9", "disk=ssd,cores", "colour", "!colour", "metadata.name=c", "metadata.name!=c"),
        *("metadata.name=nowhere", "metadata.name!=nowhere", "metadata.name=a,disk=ssd"),
    ],
)
def test_terms_match_as_they_do_one_by_one(text: str) -> None:
    term = compile_term(node_term(text))
    expected = [term.matches(node.metadata.labels, node.metadata.name) for node in NODES]
    assert matching_rows(TABLE, term, ALL).tolist() == expected
    assert matching_rows(TABLE, CompiledNodeSelector((term,)), ALL).tolist() == expected
    assert matching_rows(TABLE, term, np.array([3, 1])).tolist() == [expected[3], expected[1]]


@pytest.mark.parametrize(
    ("value", "operator", "expected"), [("", "In", True), ("", "NotIn", False), ("q", "In", False)]
)
def test_fields_other_than_the_name_are_empty(value: str, operator: str, expected: bool) -> None:
    demand = NodeSelectorRequirement(key="spec.podCIDR", operator=operator, values=(value,))
    term = compile_term(NodeSelectorTerm(match_fields=(demand,)))
    assert matching_rows(TABLE, term, ALL).tolist() == [expected] * 4


def test_what_matches_nothing_and_everything() -> None:
    assert matching_rows(TABLE, CompiledNodeSelector(), ALL).tolist() == [False] * 4
    assert matching_rows(TABLE, CompiledTerm(problems=("bad",)), ALL).tolist() == [False] * 4
    assert rows_with_labels(TABLE, NOTHING, ALL).tolist() == [False] * 4
    assert rows_with_labels(TABLE, EVERYTHING, ALL).tolist() == [True] * 4


def test_a_pods_node_selector_and_affinity_must_both_hold() -> None:
    pod = a_pod(node_selector={"disk": "ssd"}, affinity=an_affinity(nodes=["cores>8", "metadata.name=d"]))
    assert matching_rows(TABLE, required_node_affinity(pod.spec), ALL).tolist() == [False, False, False, True]


def test_a_label_that_appears_later_is_seen() -> None:
    cluster = a_cluster(*NODES)
    term = compile_term(node_term("colour=red"))
    assert not matching_rows(cluster.table, term, ALL).any()
    cluster.add(a_node("c", labels={"colour": "red"}))
    assert matching_rows(cluster.table, term, ALL).tolist() == [False, False, True, False]


def test_tolerated_rows() -> None:
    tolerations = (toleration("x"),)
    assert tolerated_rows(TABLE, (), ALL).tolist() == [False, False, True, False]
    assert tolerated_rows(TABLE, tolerations, ALL).tolist() == [True, True, True, False]
    assert tolerated_rows(TABLE, tolerations, np.array([3, 0])).tolist() == [False, True]

    def any_taint(taint: Taint) -> bool:
        return True

    assert tolerated_rows(TABLE, tolerations, ALL, any_taint).tolist() == [True, False, True, False]


def test_a_distinct_value_is_asked_about_once() -> None:
    cluster = a_cluster(*(a_node(f"n{i}", taints=["x:NoSchedule"] if i % 2 else []) for i in range(8)))
    asked: list[tuple[Taint, ...]] = []

    def count(taints: tuple[Taint, ...]) -> int:
        asked.append(taints)
        return len(taints)

    table = cluster.table
    counts = by_distinct(table.taints.codes[: table.size], table.taints.sets, count, np.int64)
    assert counts.tolist() == [0, 1] * 4
    assert len(asked) == 2
