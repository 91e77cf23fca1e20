"""How the process ends: exit codes, what is given up, and that a second signal does not wait."""

import signal
from pathlib import Path

import pytest
from tests.support.clusters import ALONE, a_cluster_process, bound, node_of

from kubesched.testing import a_node, a_pod

# real processes, for seconds each
pytestmark = pytest.mark.slow

LEADS = "Successfully acquired lease"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_without_an_election_being_told_to_end_is_no_success(number: int, tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster, cluster.scheduler(ALONE) as scheduler:
        bound(cluster.api, "p")
        assert scheduler.end(number) == 1
        log = scheduler.log.splitlines()
        # what operators, and whoever reads logs for them, look for
        assert log[0].startswith("I")
        assert '"Starting Kubernetes Scheduler" version="v' in log[0]
        assert log[-1].startswith("I")
        assert "Requested to terminate, exiting" in log[-1]


def test_a_scheduler_that_waits_for_the_lease_ends_well(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path) as cluster, cluster.scheduler() as first:
        first.says(LEADS)
        with cluster.scheduler() as second:
            second.says("Attempting to acquire leader lease")
            assert second.end() == 0
        lease = cluster.api.get("Lease", "kube-scheduler", "kube-system")
        assert lease is not None
        assert lease["spec"]["holderIdentity"], "the lease is still the first one's"


def test_a_leader_that_is_told_to_end_gives_the_lease_up(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path) as cluster, cluster.scheduler() as scheduler:
        scheduler.says(LEADS)
        assert scheduler.end() == 0
        lease = cluster.api.get("Lease", "kube-scheduler", "kube-system")
        assert lease is not None
        assert lease["spec"].get("holderIdentity", "") == ""


def test_it_ends_while_there_is_no_server(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, cluster.scheduler() as scheduler:
        scheduler.says(LEADS)
        cluster.kill()
        assert scheduler.end() == 0
        scheduler.says("Failed to release lease kube-system/kube-scheduler: cannot connect to https://127.0.0.1:")


def test_a_binding_under_way_is_finished_and_nothing_new_is_begun(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, cluster.holding_scheduler() as scheduler:
        cluster.api.create(a_pod("p"))
        cluster.until_held("p")
        scheduler.process.send_signal(signal.SIGTERM)
        scheduler.says("Received a signal to end")
        cluster.api.create(a_pod("late"))
        cluster.release("p")
        cluster.release("late")
        assert scheduler.ends() == 0
        assert node_of(cluster.api, "p") == "n"
        assert node_of(cluster.api, "late") == ""


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, cluster.holding_scheduler() as scheduler:
        cluster.api.create(a_pod("p"))
        cluster.until_held("p")
        scheduler.process.send_signal(signal.SIGTERM)
        scheduler.says("Received a signal to end")
        # 0 if it waited for the binding
        assert scheduler.end() == 1
        assert node_of(cluster.api, "p") == ""


def test_a_binding_that_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, cluster.holding_scheduler() as scheduler:
        cluster.api.create(a_pod("p"))
        cluster.until_held("p")
        assert scheduler.end() == 0
        assert node_of(cluster.api, "p") == ""
