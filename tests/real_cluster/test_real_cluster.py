"""`kubesched run` on a real cluster: pods are bound or say why not, whatever happens meanwhile."""

import signal
from typing import Any

import pytest
from tests.support.clusters import ALONE, SHORT_LEASE, all_bound, bound, node_of, settled, unschedulable
from tests.support.processes import eventually

pytestmark = pytest.mark.cluster


def test_pods_are_bound_and_one_that_does_not_fit_says_why(cluster: Any) -> None:
    node = cluster.node("n", cpu="4")
    for number in range(4):
        cluster.pod(f"p{number}", cpu="900m")
    with cluster.scheduler(*cluster.flags()) as scheduler:
        scheduler.says(f"Successfully acquired lease kube-system/{cluster.prefix}")
        all_bound(cluster.api, 4, cluster.namespace)
        assert {node_of(cluster.api, f"p{number}", cluster.namespace) for number in range(4)} == {node}
        cluster.pod("too-large", cpu="5")
        assert "Insufficient cpu" in unschedulable(cluster.api, "too-large", cluster.namespace)
        reasons = {"Scheduled", "FailedScheduling"}
        eventually(
            lambda: {event["reason"] for event in cluster.api.all("Event", cluster.namespace)} >= reasons,
            "events tell of both",
        )
        assert scheduler.end() == 0
        lease = cluster.api.get("Lease", cluster.prefix, "kube-system")
        assert lease["spec"].get("holderIdentity", "") == ""


def test_a_backlog_is_drained(cluster: Any) -> None:
    for number in range(5):
        cluster.node(f"n{number}", cpu="10")
    for number in range(100):
        cluster.pod(f"p{number:03}", cpu="500m")
    with cluster.scheduler(ALONE):
        all_bound(cluster.api, 100, cluster.namespace, seconds=60)
        cluster.pod("one-too-many", cpu="500m")
        assert "Insufficient cpu" in unschedulable(cluster.api, "one-too-many", cluster.namespace)


def test_more_important_pods_take_the_place_of_others(cluster: Any) -> None:
    cluster.node("n", cpu="2")
    cluster.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": cluster.prefix},
            "value": 1000,
        }
    )
    with cluster.scheduler(ALONE):
        cluster.pod("victim", cpu="2")
        bound(cluster.api, "victim", cluster.namespace)
        cluster.pod("important", cpu="2", priority_class_name=cluster.prefix)
        bound(cluster.api, "important", cluster.namespace)
        assert cluster.api.get("Pod", "victim", cluster.namespace) is None


def test_a_leader_that_is_killed_is_replaced(cluster: Any) -> None:
    cluster.node("n", cpu="4")
    flags = (*cluster.flags(), *SHORT_LEASE)
    with cluster.scheduler(*flags) as first:
        first.says("Successfully acquired lease")
        with cluster.scheduler(*flags) as second:
            second.says("Attempting to acquire leader lease")
            cluster.pod("a")
            assert first.end(signal.SIGKILL) == -signal.SIGKILL
            second.says("Successfully acquired lease", seconds=10)
            cluster.pod("b")
            all_bound(cluster.api, 2, cluster.namespace)


def test_a_pod_created_again_while_it_is_being_bound_is_another_one(cluster: Any) -> None:
    cluster.node("n", cpu="4")
    with cluster.holding_scheduler(ALONE):
        cluster.pod("p", cpu="3")
        cluster.until_held("p")
        cluster.api.delete("Pod", "p", cluster.namespace, at_once=True)
        uid = cluster.pod("p", cpu="2")["metadata"]["uid"]
        cluster.release("p")
        bound(cluster.api, "p", cluster.namespace)
        assert cluster.api.get("Pod", "p", cluster.namespace)["metadata"]["uid"] == uid
        cluster.release("q")
        cluster.pod("q", cpu="2")
        all_bound(cluster.api, 2, cluster.namespace)


def test_who_binds_first_wins(cluster: Any) -> None:
    nodes = {cluster.node("a", cpu="2"), cluster.node("b", cpu="2")}
    with cluster.holding_scheduler(ALONE):
        cluster.pod("p", cpu="2")
        chosen = cluster.until_held("p")
        (other,) = nodes - {chosen}
        assert cluster.api.bind("p", other, cluster.namespace)[0] == 201
        cluster.release("p")
        cluster.release("q")
        cluster.pod("q", cpu="2")
        assert bound(cluster.api, "q", cluster.namespace) == chosen
        settled(cluster.api, cluster.namespace)


def test_a_namespace_that_is_going_away_gives_its_room_back(cluster: Any) -> None:
    cluster.node("n", cpu="2")
    going = f"{cluster.prefix}-going"
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": going}})
    with cluster.holding_scheduler(ALONE):
        cluster.pod("p", cpu="2", namespace=going)
        cluster.until_held("p")
        cluster.api.delete("Namespace", going)
        cluster.release("p")
        cluster.release("q")
        cluster.pod("q", cpu="2")
        bound(cluster.api, "q", cluster.namespace)
