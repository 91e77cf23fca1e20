"""The cluster as reports come in, in whatever order and however odd."""

import warnings
from datetime import datetime

import msgspec
import pytest

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, Taint
from kubesched.core.cluster.comparison import content, differences, rebuilt
from kubesched.testing import a_cluster, a_node, a_pod


def test_a_report_of_a_pod_that_is_not_bound_yet_leaves_an_assumed_pod_in_its_place() -> None:
    pending = a_pod("p", cpu="1")
    cluster = a_cluster(a_node("n1"), pending)
    placed = cluster.assume(cluster.pending["default-p"], "n1")
    cluster.add(a_pod("p", cpu="1", labels={"late": "news"}, nominated="n1"))
    assert cluster.table.requested[0, 0] == 1000
    assert len(cluster.nominations) == 0
    assert not cluster.pending

    cluster.forget(placed)
    assert cluster.table.requested[0, 0] == 0
    assert cluster.pending["default-p"].labels == {"late": "news"}
    assert len(cluster.nominations) == 0


def test_a_pod_that_was_confirmed_is_not_forgotten_any_more() -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"), a_pod("p", cpu="1"))
    placed = cluster.assume(cluster.pending["default-p"], "n1")
    cluster.add(a_pod("p", cpu="1", node="n2"))
    cluster.forget(placed)
    table = cluster.table
    assert table.slots.row_of(table.pods["default-p"].slot) == table.row_of["n2"]
    assert cluster.table.requested[0, :2].tolist() == [0, 1000]


def test_a_pod_that_was_deleted_meanwhile_does_not_come_back() -> None:
    cluster = a_cluster(a_node("n1"), a_pod("p", cpu="1"))
    placed = cluster.assume(cluster.pending["default-p"], "n1")
    cluster.remove_pod("default-p")
    cluster.forget(placed)
    assert not cluster.pending
    assert not cluster.table.pods


def test_a_pod_that_has_a_place_already_counts_once() -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"), a_pod("p", cpu="1", node="n1"))
    cluster.assume(cluster.reader.read(a_pod("p", cpu="1", node="n1")), "n2")
    assert cluster.table.requested[0, :2].tolist() == [0, 1000]
    assert list(differences(content(cluster), content(rebuilt(cluster)))) == []


def test_pods_without_a_uid_go_by_their_names() -> None:
    pods = [a_pod(name, uid="", cpu="1", node="n1") for name in ("a", "b")]
    cluster = a_cluster(a_node("n1"), *pods)
    assert cluster.table.requested[0, 0] == 2000
    cluster.remove(pods[0])
    assert [pod.name for pod in cluster.table.pods_on[0].values()] == ["b"]


def test_sums_beyond_64_bits_overflow_quietly_and_come_back() -> None:
    most = "9223372036854775807"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cluster = a_cluster(a_node("n1"), *(a_pod(name, memory=most, node="n1") for name in "ab"))
        assert cluster.table.requested[1, 0] == -2
        cluster.remove_pod("default-a")
        assert cluster.table.requested[1, 0] == 2**63 - 1


@pytest.mark.parametrize("amount", [10**30, -(10**30), 2**64])
def test_a_quantity_that_is_a_number_beyond_64_bits_is_read(amount: int) -> None:
    pod = msgspec.convert(
        {
            "metadata": {"name": "p", "uid": "p"},
            "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": amount}}}]},
        },
        Pod,
    )
    cluster = a_cluster(a_node("n1"), pod, pod)
    assert cluster.table.pod_count[0] == 1


def test_the_time_at_which_a_taint_was_added_makes_no_difference() -> None:
    def tainted(name: str, time: str) -> Node:
        taint = Taint(key="gone", effect="NoExecute", time_added=datetime.fromisoformat(time))
        return a_node(name, taints=[taint])

    cluster = a_cluster(tainted("n1", "2024-01-01T00:00:00Z"), tainted("n2", "2024-01-02T00:00:00Z"))
    assert cluster.table.taints.codes[:2].tolist() == [1, 1]
    seq = cluster.log.seq
    cluster.add(tainted("n1", "2024-01-03T00:00:00Z"))
    assert cluster.log.seq == seq


def test_values_of_nodes_that_are_gone_do_not_pile_up() -> None:
    cluster = a_cluster(a_node("stays", zone="a", taints=["t=stays:NoSchedule"], features=["A"]))
    zones, hosts = cluster.table.label("topology.kubernetes.io/zone"), cluster.table.label("kubernetes.io/hostname")
    for number in range(3000):
        node = a_node(f"n{number}", zone=f"z{number}", taints=[f"t=v{number}:NoSchedule"], features=[f"F{number}"])
        cluster.add(node)
        cluster.remove(node)
    table = cluster.table
    assert max(len(zones), len(hosts), len(table.taints), len(table.features)) < 1100
    row = table.row_of["stays"]
    assert (zones.values[zones.codes[row]], hosts.values[hosts.codes[row]]) == ("a", "stays")
    assert (table.taints.of(row)[0].value, table.features.of(row)) == ("stays", ("A",))
    assert zones.counts[zones.codes[row]] == 1
    assert cluster.log.since(0) is None
