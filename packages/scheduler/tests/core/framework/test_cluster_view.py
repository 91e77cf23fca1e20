"""The cluster as plugins see it: objects, pods and indexes that are kept up to date."""

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.storage import StorageClass
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.testing import a_cluster, a_custom_object, a_node, a_pod, a_storage_class

RACKS = "racks.v1.example.com"


def by_app(pod: Any) -> list[str]:
    return [pod.labels["app"]] if "app" in pod.labels else []


def names(things: Any) -> list[str]:
    return sorted(thing.name for thing in things)


def test_objects_are_found_by_kind_and_name() -> None:
    cluster = a_cluster(a_storage_class("fast"), a_custom_object(RACKS, "r1", namespace="lab", spec={"size": 4}))
    view = ClusterView(cluster)
    assert view.get(StorageClass, "fast").name == "fast"
    assert view.get(StorageClass, "slow") is None
    assert view.get(RACKS, "lab/r1").spec == {"size": 4}
    assert names(view.all(RACKS)) == ["r1"]
    assert view.all("others.v1.example.com") == []


def test_an_index_of_objects_follows_them() -> None:
    cluster = a_cluster(a_custom_object(RACKS, "r1", spec={"rooms": ["a", "b"]}))
    index = ClusterView(cluster).index(RACKS, lambda rack: rack.spec["rooms"])
    cluster.add(a_custom_object(RACKS, "r2", spec={"rooms": ["b"]}))
    assert (names(index["a"]), names(index["b"]), index["c"]) == (["r1"], ["r1", "r2"], [])
    cluster.add(a_custom_object(RACKS, "r1", spec={"rooms": ["c"]}))
    assert (names(index["a"]), names(index["b"]), names(index["c"])) == ([], ["r2"], ["r1"])
    cluster.remove(a_custom_object(RACKS, "r2"))
    assert list(index) == ["c"]
    assert "b" not in index
    assert len(index) == 1


def test_an_object_without_a_key_is_left_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    cluster = a_cluster()
    index = ClusterView(cluster).index(RACKS, lambda rack: rack.spec["rooms"])
    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        cluster.add(a_custom_object(RACKS, "r1", spec={}))
    assert [record.message for record in caplog.records] == ["Object not indexed"]
    assert len(index) == 0


def test_an_index_of_pods_has_them_wherever_they_are() -> None:
    cluster = a_cluster(a_node("n1"), a_pod("on", node="n1", labels={"app": "a"}), a_pod("waits", labels={"app": "a"}))
    view = ClusterView(cluster)
    index = view.pod_index(by_app)
    assert names(index["a"]) == ["on", "waits"]
    waits = next(iter(view.pending.values()))
    placed = cluster.assume(waits, "n1")
    assert {pod.name: pod.spec.node_name for pod in index["a"]} == {"on": "n1", "waits": "n1"}
    cluster.forget(placed)
    assert {pod.name: pod.spec.node_name for pod in index["a"]} == {"on": "n1", "waits": ""}
    cluster.add(a_pod("waits", node="n1", labels={"app": "b"}))
    assert (names(index["a"]), names(index["b"])) == (["on"], ["waits"])
    cluster.remove(a_pod("on"))
    cluster.add(a_pod("other"))
    assert list(index) == ["b"]
    assert names(view.pods.values()) == ["waits"]
    assert names(view.pending.values()) == ["other"]


def test_nodes_are_found_by_name() -> None:
    view = ClusterView(a_cluster(a_node("n1", labels={"zone": "a"}), a_pod("p", node="gone")))
    node = view.node("n1")
    assert node is not None
    assert node.labels["zone"] == "a"
    assert view.node("n2") is None
    assert view.node("gone") is None, "pods are known on it, the node is not"
    assert view.nodes.names == ["n1"]


def test_totals_of_pods_on_nodes_are_summed_by_key() -> None:
    cluster = a_cluster(a_node("n1"), a_pod("p", node="n1", cpu="1", memory="1Gi", requests={"example.com/gpu": 2}))
    totals = ClusterView(cluster).pod_totals(lambda pod: pod.labels.get("app", pod.namespace))
    cluster.add(a_pod("q", node="n1", cpu="500m"))
    cluster.add(a_pod("waits", cpu="4"))
    cluster.add(a_pod("other", node="n2", cpu="1", labels={"app": "web"}))
    assert totals["default"] == {"cpu": 1500, "memory": 2**30, "example.com/gpu": 2, "pods": 2}
    assert totals["web"] == {"cpu": 1000, "pods": 1}
    assert totals["nobody"] == {}
    assert sorted(map(str, totals)) == ["default", "web"]


def test_a_pod_whose_key_is_none_or_cannot_be_told_does_not_count(caplog: pytest.LogCaptureFixture) -> None:
    cluster = a_cluster(a_node("n1"))
    totals = ClusterView(cluster).pod_totals(lambda pod: None if pod.name == "p" else pod.labels["app"])
    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        for name in "pq":
            cluster.add(a_pod(name, node="n1", cpu="1"))
            cluster.remove(a_pod(name, node="n1", cpu="1"))
    assert list(totals) == []
    assert [record.message for record in caplog.records] == ["Pod not counted"]


def test_a_pod_that_is_off_its_node_for_a_trial_does_not_count_meanwhile() -> None:
    cluster = a_cluster(a_node("n1"), a_pod("p", node="n1", cpu="1"), a_pod("q", node="n1", cpu="1"))
    view = ClusterView(cluster)
    totals = view.pod_totals(lambda pod: pod.namespace)
    with view.without([pod for pod in view.pods.values() if pod.name == "p"]):
        assert totals["default"] == {"cpu": 1000, "pods": 1}
    assert totals["default"] == {"cpu": 2000, "pods": 2}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4), st.sampled_from(["", "n1", "n2", "gone"]), st.sampled_from("abc"), st.integers(0, 2)
        )
    )
)
def test_totals_are_what_is_summed_anew(changes: list[tuple[int, str, str, int]]) -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"))
    totals = ClusterView(cluster).pod_totals(lambda pod: pod.labels["app"])
    for number, node, app, cpu in changes:
        pod = a_pod(f"p{number}", node="" if node == "gone" else node, cpu=str(cpu), labels={"app": app})
        if node == "gone":
            cluster.remove(pod)
        else:
            cluster.add(pod)
    anew = ClusterView(cluster).pod_totals(lambda pod: pod.labels["app"])
    assert {key: totals[key] for key in totals} == {key: anew[key] for key in anew}
