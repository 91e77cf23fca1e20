"""The cluster of a page: columns of everything, and what has changed since."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.models import a_model

from kubesched.api.custom import custom_kind, custom_object
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.shown import shown_cluster
from kubesched_lab.page.shown.shown_cluster import ShownCluster


def shown(*objects: Any) -> ShownCluster:
    return ShownCluster(a_model(*objects))


def test_all_of_a_cluster_is_columns() -> None:
    node = a_node("n", cpu="4", memory="8Gi", zone="a", taints=["spot=yes:NoSchedule"])
    found = shown(node, a_node("m", cpu="2"), a_pod("p", cpu="500m", node="n", priority=3), a_pod("q")).everything()
    nodes, pods = found["nodes"], found["pods"]
    assert nodes["name"] == ["m", "n"]
    assert nodes["allocatable"]["cpu"] == [2000, 4000]
    assert nodes["taints"] == [[], ["spot=yes:NoSchedule"]]
    assert nodes["labels"]["topology.kubernetes.io/zone"] == {"values": ["", "a"], "codes": [0, 1]}
    assert "kubernetes.io/hostname" not in nodes["labels"]
    assert dict(zip(pods["name"], pods["node"], strict=True)) == {"p": 1, "q": -1}
    states = [pods["state"]["values"][code] for code in pods["state"]["codes"]]
    assert dict(zip(pods["name"], states, strict=True)) == {"p": "bound", "q": "pending"}
    assert pods["requests"]["cpu"] == [500, 0]
    assert msgspec.json.encode(found)


def test_changes_are_the_last_state_of_what_changed() -> None:
    cluster = shown(a_node("n"), a_pod("p"), a_pod("q"))
    cluster.put(a_pod("p", node="n"))
    cluster.put(a_node("m"))
    cluster.drop(a_pod("q"))
    cluster.put(a_pod("p", node="n", labels={"tier": "front"}))
    found = cluster.since(0)
    assert found is not None
    assert [pod["node"] for pod in found["pods"]] == ["n"]
    assert [node["name"] for node in found["nodes"]] == ["m"]
    assert len(found["gonePods"]) == 1
    assert cluster.since(found["seq"]) == {"seq": 4, "nodes": [], "goneNodes": [], "pods": [], "gonePods": []}
    cluster.drop(a_node("m"))
    later = cluster.since(found["seq"])
    assert later is not None
    assert later["goneNodes"] == ["m"]


def test_custom_objects_are_followed() -> None:
    kind = "foos.v1.example.com"
    one, other = (custom_object(kind, {"metadata": {"name": "one"}, "spec": {"size": size}}) for size in (1, 2))
    cluster = shown(a_node("n"))
    cluster.put(one)
    cluster.put(one)
    assert cluster.seq == 1
    cluster.put(other)
    assert [obj.spec for obj in cluster.model.cluster.objects.of(custom_kind(kind))] == [{"size": 2}]
    cluster.drop(other)
    assert cluster.model.cluster.objects.of(custom_kind(kind)) == []
    assert cluster.seq == 3


def test_what_is_reported_twice_changes_nothing() -> None:
    cluster = shown(a_node("n"))
    cluster.put(a_node("n"))
    cluster.drop(a_node("unknown"))
    assert cluster.seq == 0


def test_a_pod_that_is_created_again_under_its_name_is_another_one() -> None:
    cluster = shown(a_node("n"), a_pod("p", uid="first"))
    cluster.put(a_pod("p", uid="second"))
    found = cluster.since(0)
    assert found is not None
    assert (found["gonePods"], [pod["uid"] for pod in found["pods"]]) == (["first"], ["second"])


def test_a_finished_pod_is_gone() -> None:
    cluster = shown(a_node("n"), a_pod("p", node="n", uid="u"))
    cluster.put(a_pod("p", node="n", uid="u", phase="Succeeded"))
    found = cluster.since(0)
    assert found is not None
    assert found["gonePods"] == ["u"]


def test_who_falls_too_far_behind_reads_everything_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_cluster, "MOST_CHANGES", 2)
    cluster = shown()
    for name in ("a", "b", "c"):
        cluster.put(a_node(name))
    assert cluster.since(0) is None
    assert cluster.since(99) is None
    assert cluster.since(1) is not None


def test_a_copy_of_everything_is_as_it_was_a_moment_ago_at_most() -> None:
    now = [0.0]
    cluster = ShownCluster(a_model(a_node("n")), lambda: now[0])

    def names() -> Any:
        return msgspec.json.decode(cluster.encoded())["nodes"]["name"]

    assert names() == ["n"]
    cluster.put(a_node("o"))
    assert names() == ["n"], "within a second"
    now[0] = 1.5
    assert names() == ["n", "o"]
    cluster.report_source(shown_cluster.LOST, "gone")
    assert msgspec.json.decode(cluster.encoded())["source"]["state"] == "lost"


def test_an_object_that_cannot_be_understood_leaves_the_others_alone() -> None:
    cluster = shown(a_node("n"), a_pod("p"))
    cluster.put(a_node("odd", cpu="plenty"))
    cluster.put(a_pod("q", cpu="some"))
    offers = replace(a_node("m").status, capacity={"cpu": "plenty"}, allocatable={})
    cluster.put(replace(a_node("m"), status=offers))
    found = cluster.everything()
    assert found["nodes"]["name"] == ["n", "m"]
    assert found["nodes"]["allocatable"]["cpu"][1] == 0
    assert found["pods"]["name"] == ["p"]
    assert [gap["what"] for gap in found["gaps"]] == ["Node odd", "Pod default/q"]


def test_a_pod_that_came_again_and_has_finished_is_gone_by_the_uid_that_browsers_know() -> None:
    cluster = shown(a_node("n"), a_pod("p", uid="first"))
    cluster.put(a_pod("p", uid="second", phase="Succeeded"))
    found = cluster.since(0)
    assert found is not None
    assert found["gonePods"] == ["first"]


def test_a_pod_with_thousands_of_resources_makes_no_column_of_all_pods_for_each() -> None:
    asked = {f"evil.example/{number}": "1" for number in range(5000)}
    pods = [a_pod("hostile", requests=asked), *(a_pod(f"p{number}", cpu="1m") for number in range(20))]
    nodes = [a_node(f"n{number}", allocatable={"example.com/gpu": "1"}) for number in range(3)]
    found = shown(*nodes, *pods).everything()
    assert len(found["resources"]) == 100
    assert "example.com/gpu" in found["resources"]
    assert len(found["pods"]["requests"]) <= 100
    assert [gap["what"] for gap in found["gaps"]] == ["4905 resources"]


def test_a_node_with_thousands_of_labels_makes_no_column_of_all_nodes_for_each() -> None:
    labels = {f"example.com/{number}": "x" for number in range(2000)}
    nodes = [a_node("hostile", labels=labels), *(a_node(f"n{number}", zone="a") for number in range(3))]
    found = shown(*nodes).everything()
    assert len(found["nodes"]["labels"]) == 300
    assert "topology.kubernetes.io/zone" in found["nodes"]["labels"]
    assert [gap["what"] for gap in found["gaps"]] == ["1701 labels"]


def test_browsers_that_follow_in_step_get_one_answer_that_is_encoded_once() -> None:
    cluster = shown(a_node("n"), a_pod("p"))
    cluster.put(a_pod("p", node="n"))
    first = cluster.encoded_since(0)
    assert first is not None
    assert first is cluster.encoded_since(0)
    assert msgspec.json.decode(first) == cluster.since(0)
    cluster.put(a_pod("q"))
    second = cluster.encoded_since(0)
    assert second is not None
    assert msgspec.json.decode(second) == cluster.since(0)
    assert cluster.encoded_since(5) is None
    for seq in (-1, 0, 1, 2):
        assert (cluster.encoded_since(seq) is None) == (cluster.since(seq) is None)
