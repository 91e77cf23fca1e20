"""Which thing each row reaches first, whatever way its reach is written down."""

import numpy as np
import pytest

from kubesched.api.node_selectors import CompiledNodeSelector
from kubesched.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.storage.reach import NONE, Reach, reaching_nodes
from kubesched.testing import a_cluster, a_node
from kubesched.testing.shorthand import node_term

NOT_A_NUMBER = NodeSelectorTerm(
    match_expressions=(NodeSelectorRequirement(key="size", operator="Gt", values=("big",)),)
)


def selector(*terms: str | NodeSelectorTerm) -> CompiledNodeSelector:
    return reaching_nodes(NodeSelector(node_selector_terms=tuple(node_term(term) for term in terms)))


def three_nodes() -> ClusterState:
    return a_cluster(
        a_node("n1", zone="a", labels={"rack": "1"}),
        a_node("n2", zone="a", labels={"rack": "2"}),
        a_node("n3", zone="b", labels={"rack": "1", "size": "9"}),
    )


def first(
    cluster: ClusterState, *selectors: CompiledNodeSelector | None, taken: tuple[int, ...] = ()
) -> dict[str, int]:
    """Return by node what it reaches first; `taken` positions count nowhere."""
    rows = slice(0, cluster.table.size)
    reach = Reach(cluster.table, selectors)
    eligible = np.ones(len(selectors), np.bool_)
    excluded = [np.full(cluster.table.size, position, np.int32) for position in taken]
    found = reach.first(rows, eligible, excluded).tolist()
    return {cluster.table.names[row]: position for row, position in enumerate(found) if position != NONE}


ZONE_A = "topology.kubernetes.io/zone=a"
ZONE_B = "topology.kubernetes.io/zone=b"


@pytest.mark.parametrize(
    ("what", "selectors", "expected"),
    [
        ("nothing at all", [], {}),
        ("no selector: everybody", [None], {"n1": 0, "n2": 0, "n3": 0}),
        ("no term: nobody", [CompiledNodeSelector()], {}),
        ("one label", [selector(ZONE_A)], {"n1": 0, "n2": 0}),
        ("a value that no node has", [selector("rack=7")], {}),
        ("several values", [selector("rack in (2,7)"), selector("rack in (1,2)")], {"n1": 1, "n2": 0, "n3": 1}),
        ("several labels", [selector(f"{ZONE_A},rack=1"), selector(f"{ZONE_B},rack=1")], {"n1": 0, "n3": 1}),
        ("alternatives", [selector(ZONE_B, "rack=2")], {"n2": 0, "n3": 0}),
        ("alternatives that overlap", [selector(ZONE_A, "rack=1")], {"n1": 0, "n2": 0, "n3": 0}),
        ("another operator", [selector("size>5"), selector("rack!=1"), None], {"n3": 0, "n2": 1, "n1": 2}),
        ("a demand on the name is waived", [selector("metadata.name=n1")], {"n1": 0, "n2": 0, "n3": 0}),
        (
            "a label and a demand on the name, of which the label counts",
            [selector("metadata.name=n1,rack=2")],
            {"n2": 0},
        ),
        ("a term that does not parse", [selector(NOT_A_NUMBER), selector("rack=2", NOT_A_NUMBER)], {"n2": 1}),
        ("too many values to enumerate", [selector(f"rack in ({','.join(map(str, range(2, 90)))})")], {"n2": 0}),
        ("four labels", [selector(f"{ZONE_B},rack=1,size=9,kubernetes.io/hostname=n3")], {"n3": 0}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_first(what: str, selectors: list[CompiledNodeSelector | None], expected: dict[str, int]) -> None:
    assert first(three_nodes(), *selectors) == expected, what


def test_what_is_taken_is_passed_over() -> None:
    things = (selector("rack=1"), None, selector("rack=1"), selector("rack!=1"))
    assert first(three_nodes(), *things, taken=(0,)) == {"n1": 1, "n2": 1, "n3": 1}
    assert first(three_nodes(), *things, taken=(1, 0)) == {"n1": 2, "n2": 3, "n3": 2}
    assert first(three_nodes(), *things, taken=(0, 1, 2, 3)) == {}


def test_reach_follows_nodes_and_labels() -> None:
    cluster = three_nodes()
    reach = Reach(cluster.table, [selector("rack=2"), selector("rack notin (1,2)")])
    eligible = np.ones(2, np.bool_)

    def now() -> list[int]:
        return list(reach.first(slice(0, cluster.table.size), eligible).tolist())

    assert now() == [NONE, 0, NONE]
    cluster.add(a_node("n1", labels={"rack": "3"}))
    cluster.add(a_node("n4", labels={"rack": "2"}))
    assert now() == [1, 0, NONE, 0]
    assert reach.first(np.array([3, 0]), eligible).tolist() == [0, 1]
    assert reach.first(np.array([3, 0]), np.array([False, True])).tolist() == [NONE, 1]
