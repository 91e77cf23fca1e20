"""Others change the cluster while the scheduler is about to bind: nothing is bound twice, no room is lost."""

from pathlib import Path

import pytest
from tests.support.api_client import ApiClient
from tests.support.clusters import (
    ALONE,
    a_cluster_process,
    all_bound,
    bound,
    check_placements,
    node_of,
    settled,
    unschedulable,
    why_waiting,
)
from tests.support.processes import eventually

from kubesched.testing import a_namespace, a_node, a_pod

# real processes, for seconds each
pytestmark = pytest.mark.slow


def test_a_pod_created_again_under_its_name_while_it_is_being_bound_is_another_one(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n", cpu="4")]) as cluster, cluster.holding_scheduler(ALONE):
        first = cluster.api.create(a_pod("p", cpu="3"))
        cluster.until_held("p")
        cluster.api.delete("Pod", "p", at_once=True)
        second = cluster.api.create(a_pod("p", cpu="2"))
        assert first["metadata"]["uid"] != second["metadata"]["uid"]
        cluster.release("p")
        bound(cluster.api, "p")
        found = cluster.api.get("Pod", "p")
        assert found is not None
        assert found["metadata"]["uid"] == second["metadata"]["uid"]
        # what the first one held is free: there is room for two times two
        cluster.release("q")
        cluster.api.create(a_pod("q", cpu="2"))
        all_bound(cluster.api, 2)


def test_the_room_of_a_pod_deleted_while_it_is_being_bound_is_free(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n", cpu="2")]) as cluster, cluster.holding_scheduler(ALONE):
        cluster.api.create(a_pod("p", cpu="2"))
        cluster.until_held("p")
        cluster.api.create(a_pod("q", cpu="2"))
        assert "Insufficient cpu" in unschedulable(cluster.api, "q")
        cluster.api.delete("Pod", "p", at_once=True)
        cluster.release("p")
        cluster.release("q")
        bound(cluster.api, "q")
        check_placements(cluster.api)


def test_who_binds_first_wins_and_the_other_place_is_free(tmp_path: Path) -> None:
    nodes = [a_node("a", cpu="2"), a_node("b", cpu="2")]
    with a_cluster_process(tmp_path, nodes) as cluster, cluster.holding_scheduler(ALONE):
        cluster.api.create(a_pod("p", cpu="2"))
        chosen = cluster.until_held("p")
        other = {"a": "b", "b": "a"}[chosen]
        code, answer = cluster.api.bind("p", other)
        assert code == 201, answer
        cluster.release("p")
        cluster.release("q")
        cluster.api.create(a_pod("q", cpu="2"))
        assert bound(cluster.api, "q") == chosen
        assert node_of(cluster.api, "p") == other
        check_placements(cluster.api)


def test_a_binding_into_a_namespace_that_is_going_away_gives_its_room_back(tmp_path: Path) -> None:
    objects = [a_node("n", cpu="2"), a_namespace("going")]
    with a_cluster_process(tmp_path, objects) as cluster, cluster.holding_scheduler(ALONE):
        cluster.api.create(a_pod("p", namespace="going", cpu="2"))
        cluster.until_held("p")
        cluster.api.delete("Namespace", "going")
        cluster.release("p")
        cluster.release("q")
        cluster.api.create(a_pod("q", cpu="2"))
        bound(cluster.api, "q")
        eventually(lambda: cluster.api.get("Namespace", "going") is None, "the namespace is gone")
        check_placements(cluster.api)


def test_schedulers_of_two_names_schedule_their_own_pods_and_see_each_others(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n", cpu="4")]) as cluster:
        other = {"profiles": [{"schedulerName": "other"}]}
        with cluster.scheduler(ALONE), cluster.scheduler(ALONE, config=other):
            for number in range(3):
                cluster.api.create(a_pod(f"mine-{number}", cpu="1"))
                bound(cluster.api, f"mine-{number}")
            cluster.api.create(a_pod("theirs", cpu="1", scheduler="other"))
            bound(cluster.api, "theirs")
            cluster.api.create(a_pod("too-much", cpu="1", scheduler="other"))
            assert "Insufficient cpu" in unschedulable(cluster.api, "too-much")
            cluster.api.create(a_pod("nobodys", scheduler="nobody"))
            cluster.api.create(a_pod("small"))
            bound(cluster.api, "small")
            check_placements(cluster.api)
            nobodys = cluster.api.get("Pod", "nobodys")
            assert nobodys is not None
            assert (nobodys["spec"].get("nodeName", ""), why_waiting(nobodys)) == ("", "")
            reporters = {
                (event["regarding"]["name"], event["reportingController"])
                for event in cluster.api.all("Event", "default")
            }
            assert ("theirs", "other") in reporters
            assert ("mine-0", "default-scheduler") in reporters


def test_nodes_that_come_and_go_while_pods_arrive(tmp_path: Path) -> None:
    nodes = [a_node(f"n{number}", cpu="4") for number in range(6)]
    with a_cluster_process(tmp_path, nodes) as cluster, cluster.scheduler(ALONE):
        for number in range(60):
            flapping = nodes[number % 3]
            if number % 2:
                cluster.api.delete("Node", flapping.name)
                cluster.api.create(flapping)
            else:
                away = {"spec": {"unschedulable": bool(number % 4)}}
                cluster.api.change("Node", nodes[3 + number % 3].name, away)
            cluster.api.create(a_pod(f"p{number}", cpu="1"))
        for node in nodes:
            cluster.api.change("Node", node.name, {"spec": {"unschedulable": None}})
        # pods whose node was deleted are gone with it; all others find a place as long as there is one
        eventually(lambda: _places_taken(cluster.api) in (24, len(cluster.api.all("Pod"))), "the nodes are full")
        settled(cluster.api)


def _places_taken(api: ApiClient) -> int:
    return sum(bool(pod["spec"].get("nodeName")) for pod in api.all("Pod"))
