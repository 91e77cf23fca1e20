"""What every filter says of every node, and which nodes lack least."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.pod_templates import TEMPLATES

from kubesched.api.pods import Pod
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.rejections import NOMINATED, Rejections, Shortage
from kubesched.testing import a_claim, a_node, a_pod, a_volume, an_affinity


def rejections_of(model: ClusterModel, pod: Pod) -> Rejections:
    return Rejections(model.engine.evaluation_of(model.read(pod)))


def near(model: ClusterModel, pod: Pod, limit: int = 10) -> list[str]:
    return [model.cluster.table.names[row] for row in rejections_of(model, pod).near_rows(limit)]


def test_every_filter_is_heard_not_only_the_first() -> None:
    model = a_model(a_node("n", cpu="1", taints=["spot=yes:NoSchedule"], unschedulable=True))
    statuses = rejections_of(model, a_pod(cpu="2", node_selector={"disk": "ssd"})).of_row(0)
    assert {status.plugin: status.message for status in statuses} == {
        "NodeUnschedulable": "node(s) were unschedulable",
        "TaintToleration": "node(s) had untolerated taint(s)",
        "NodeAffinity": "node(s) didn't match Pod's node affinity/selector",
        "NodeResourcesFit": "Insufficient cpu",
    }


NEARNESS: dict[str, tuple[list[Any], dict[str, Any], list[str]]] = {
    "fewer rejecting filters are nearer": (
        [a_node("both", cpu="1", taints=["a=b:NoSchedule"]), a_node("one", cpu="1")],
        {"cpu": "4"},
        ["one", "both"],
    ),
    "what evicting pods may resolve is nearer": (
        [a_node("small", cpu="3"), a_node("full"), a_pod("there", cpu="3", node="full")],
        {"cpu": "3500m"},
        ["full", "small"],
    ),
    "the smaller missing part of the request is nearer": (
        [a_node("a", cpu="1"), a_node("b", cpu="3"), a_node("c", cpu="2")],
        {"cpu": "4"},
        ["b", "c", "a"],
    ),
    "missing parts of several resources add up": (
        [a_node("a", cpu="2", memory="2Gi"), a_node("b", cpu="1", memory="9Gi")],
        {"cpu": "4", "memory": "4Gi"},
        ["b", "a"],
    ),
    "an extended resource that few nodes offer counts as well": (
        [a_node("a"), a_node("b", allocatable={"example.com/gpu": "3"})],
        {"requests": {"example.com/gpu": "4"}},
        ["b", "a"],
    ),
    "equally near ones are in the order of names": (
        [a_node("c", cpu="1"), a_node("a", cpu="1"), a_node("b", cpu="1")],
        {"cpu": "2"},
        ["a", "b", "c"],
    ),
    "a feasible node is no miss": ([a_node("fits"), a_node("lacks", cpu="1")], {"cpu": "2"}, ["lacks"]),
}


@pytest.mark.parametrize(("objects", "pod", "expected"), NEARNESS.values(), ids=NEARNESS)
def test_near_rows(objects: list[Any], pod: dict[str, Any], expected: list[str]) -> None:
    assert near(a_model(*objects), a_pod(**pod)) == expected


def test_a_limit_cuts_ties_by_name() -> None:
    model = a_model(*(a_node(name, cpu="1") for name in "dbca"), a_node("zz", cpu="3"))
    assert near(model, a_pod(cpu="4"), 3) == ["zz", "a", "b"]


def test_shortages_have_amounts() -> None:
    model = a_model(a_node("n", cpu="2", pods=1), a_pod("there", cpu="1500m", node="n"))
    pod = a_pod(cpu="2", memory="1Gi", requests={"example.com/gpu": "1"})
    assert rejections_of(model, pod).shortages(0) == (
        Shortage("pods", 1, 0),
        Shortage("cpu", 2000, 500),
        Shortage("example.com/gpu", 1, 0),
    )


def test_a_pod_that_pre_filter_rejects_is_judged_by_the_other_filters() -> None:
    model = a_model(a_node("a", cpu="1"), a_node("b"))
    found = rejections_of(model, a_pod(cpu="2", volumes=["lost"]))
    assert {status.message for status in found.pre_filter} == {'persistentvolumeclaim "lost" not found'}
    assert "VolumeBinding" in {status.plugin for status in found.pre_filter}
    assert [column.plugin for column in found.columns] == ["NodeResourcesFit", "NodeVolumeLimits"]


def test_narrowing_is_a_rejection_of_all_other_nodes() -> None:
    volume = a_volume("v", nodes="kubernetes.io/hostname=a", claimed_by="default/c", phase="Bound")
    model = a_model(a_node("a"), a_node("b"), volume, a_claim("c", bound_to="v", phase="Bound"))
    found = rejections_of(model, a_pod(volumes=["c"], cpu="8"))
    by_node = {name: [s.plugin for s in found.of_row(model.cluster.table.row_of[name])] for name in ("a", "b")}
    assert by_node == {"a": ["NodeResourcesFit"], "b": ["NodeResourcesFit", "VolumeBinding"]}


def test_a_plugin_that_narrows_and_filters_rejects_once() -> None:
    model = a_model(a_node("a", cpu="1"), a_node("b"))
    pod = a_pod(cpu="2", affinity=an_affinity(nodes="metadata.name=a"))
    found = rejections_of(model, pod)
    assert [status.plugin for status in found.of_row(model.cluster.table.row_of["b"])] == ["NodeAffinity"]


def test_nominated_pods_are_heard_where_no_filter_rejects() -> None:
    model = a_model(a_node("n", cpu="2"), a_pod("ahead", cpu="1", nominated="n", priority=10))
    found = rejections_of(model, a_pod(cpu="2"))
    assert [column.plugin for column in found.columns] == [NOMINATED]
    assert [(status.plugin, status.message) for status in found.of_row(0)] == [("NodeResourcesFit", "Insufficient cpu")]


NODES: list[dict[str, Any]] = [
    {"cpu": "2", "memory": "4Gi", "zone": "a"},
    {"cpu": "4", "zone": "b", "labels": {"disk": "ssd"}},
    {"cpu": "4", "memory": "2Gi", "zone": "a", "taints": ["dedicated=batch:NoSchedule"]},
    {"cpu": "1", "zone": "c", "pods": 1},
    {"cpu": "8", "unschedulable": True},
    {"allocatable": {"example.com/gpu": "2"}},
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(NODES), max_size=6),
    st.lists(st.tuples(st.sampled_from(TEMPLATES), st.integers(0, 5)), max_size=8),
    st.sampled_from(TEMPLATES),
)
def test_a_row_is_feasible_if_and_only_if_nothing_rejects_it(
    nodes: list[dict[str, Any]], there: list[tuple[dict[str, Any], int]], template: dict[str, Any]
) -> None:
    model = a_model(
        *(a_node(f"n{number}", **words) for number, words in enumerate(nodes)),
        *(a_pod(f"p{i}", node=f"n{node}", **words) for i, (words, node) in enumerate(there) if node < len(nodes)),
    )
    found = rejections_of(model, a_pod("new", **template))
    evaluation = found.evaluation
    assert not found.pre_filter
    assert ((found.counts == 0) & found.present).tolist() == evaluation.feasible().mask.tolist()
    first = evaluation.first_objectors()
    for row in evaluation.table.present_rows().tolist():
        statuses = found.of_row(row)
        assert bool(statuses) == bool(first[row])
        assert not statuses or statuses[0] == evaluation.statuses[int(first[row])]
        lacking = {
            "Too many pods" if short.resource == "pods" else f"Insufficient {short.resource}"
            for short in found.shortages(row)
        }
        assert lacking == {reason for s in statuses if s.plugin == "NodeResourcesFit" for reason in s.reasons}
    everything = found.near_rows(100)
    assert sorted(everything) == [row for row in range(evaluation.table.size) if first[row]]
    assert everything[:2] == found.near_rows(2)
