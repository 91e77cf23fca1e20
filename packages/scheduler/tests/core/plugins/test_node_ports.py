"""NodePorts: host ports in use, in the cluster and in other worlds."""

import numpy as np
import pytest
from tests.support.asking import hint, rejections

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import SKIP, unschedulable
from kubesched.core.plugins.node_ports import NodePorts
from kubesched.testing import a_cluster, a_container, a_node, a_pod

TAKEN = {"n": unschedulable("node(s) didn't have free ports for the requested pod ports")}


@pytest.mark.parametrize(
    ("wanted", "used", "free"),
    [
        pytest.param([80], [], True, id="nobody uses it"),
        pytest.param([80], [80], False, id="taken"),
        pytest.param([80], [81], True, id="another port"),
        pytest.param(["80/UDP"], [80], True, id="another protocol"),
        pytest.param(["10.0.0.1:80"], ["10.0.0.2:80"], True, id="another address"),
        pytest.param(["10.0.0.1:80"], ["10.0.0.1:80"], False, id="the same address"),
        pytest.param(["10.0.0.1:80"], [80], False, id="all addresses are taken"),
        pytest.param([80], ["10.0.0.1:80"], False, id="all addresses are wanted"),
        pytest.param([":::80"], ["10.0.0.1:80"], True, id="`::` does not stand for all addresses"),
        pytest.param([81, 82, 80], [79, 80], False, id="one conflict suffices"),
    ],
)
def test_conflicts(wanted: list[int | str], used: list[int | str], free: bool) -> None:
    cluster = a_cluster(a_node("n"), a_node("empty"), a_pod("user", node="n", ports=used))
    assert rejections(NodePorts(cluster), cluster, a_pod(ports=wanted)) == ({} if free else TAKEN)


def test_ports_of_sidecars_count_and_those_of_other_init_containers_do_not() -> None:
    for sidecar in (True, False):
        init = a_container(ports=[80], sidecar=sidecar)
        cluster = a_cluster(a_node("n"), a_pod("user", node="n", init_containers=(init,)))
        assert bool(rejections(NodePorts(cluster), cluster, a_pod(ports=[80]))) is sidecar


def test_pods_without_host_ports_skip_the_filter() -> None:
    cluster = a_cluster()
    plugin = NodePorts(cluster)
    assert plugin.pre_filter(CycleState(), cluster.reader.read(a_pod())) is SKIP
    assert plugin.pre_filter(CycleState(), cluster.reader.read(a_pod(ports=[80]))) is None


def crowded() -> ClusterState:
    return a_cluster(
        a_node("a"),
        a_node("b"),
        a_pod("one", node="a", ports=[80]),
        a_pod("two", node="a", ports=[80, 81]),
        a_pod("three", node="b", ports=["10.0.0.1:80", 99]),
        a_pod("nominated", ports=[80], nominated="b"),
    )


def taken(cluster: ClusterState, *changes: tuple[int, str, int]) -> list[bool]:
    """Return in which of the worlds of a and b port 80 is taken, after (world, pod, sign) changes."""
    worlds = NodePorts(cluster).filter_worlds(cluster.reader.read(a_pod(ports=[80])), np.array([0, 1]))
    for world, name, sign in changes:
        uid = f"default-{name}"
        pod = cluster.table.pods.get(uid) or cluster.pending[uid]
        worlds.change(np.array([world]), np.array([pod.slot]), sign)
    assert worlds.select(np.array([1])).verdict().which.tolist() == worlds.verdict().which[1:].tolist()
    return [bool(which) for which in worlds.verdict().which]


def test_worlds_start_as_the_table_is() -> None:
    assert taken(crowded()) == [True, True]


def test_a_removed_pod_frees_its_ports_even_if_another_has_them() -> None:
    assert taken(crowded(), (0, "one", -1)) == [False, True]
    assert taken(crowded(), (0, "one", -1), (1, "three", -1)) == [False, False]


def test_a_pod_that_is_put_back_takes_its_ports_again() -> None:
    assert taken(crowded(), (0, "one", -1), (0, "two", -1), (0, "one", 1)) == [True, True]


def test_nominated_pods_take_their_ports() -> None:
    assert taken(crowded(), (1, "three", -1), (1, "nominated", 1)) == [True, True]


def test_selected_worlds_are_independent() -> None:
    cluster = crowded()
    worlds = NodePorts(cluster).filter_worlds(cluster.reader.read(a_pod(ports=[80])), np.array([0, 1]))
    copy = worlds.select(np.array([0]))
    copy.change(np.array([0]), np.array([cluster.table.pods["default-two"].slot]), -1)
    assert [worlds.verdict().which.tolist(), copy.verdict().which.tolist()] == [[1, 1], [0]]


@pytest.mark.parametrize(
    ("deleted", "expected"),
    [
        pytest.param({"node": "n", "ports": [80]}, Hint.QUEUE, id="it had the port"),
        pytest.param({"nominated": "n", "ports": [80]}, Hint.QUEUE, id="it was promised the port"),
        pytest.param({"ports": [80]}, Hint.QUEUE_SKIP, id="it was nowhere"),
        pytest.param({"node": "n"}, Hint.QUEUE_SKIP, id="it had no port"),
        pytest.param({"node": "n", "ports": [81]}, Hint.QUEUE_SKIP, id="it had another port"),
    ],
)
def test_hints_after_a_pod_went(deleted: dict[str, object], expected: Hint) -> None:
    event = (Resource.ASSIGNED_POD, Action.DELETE)
    gone = a_pod("gone", **deleted)  # type: ignore[arg-type]
    cluster = a_cluster()
    assert hint(NodePorts(cluster), cluster, a_pod(ports=[80]), event, gone) is expected


def test_new_nodes_help_without_further_question() -> None:
    cluster = a_cluster()
    assert hint(NodePorts(cluster), cluster, a_pod(), (Resource.NODE, Action.ADD), None, a_node()) is Hint.QUEUE
