"""Several schedulers of which one leads: the others take over when it ends, is killed, or is stopped for too long."""

import signal
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.support.api_client import Document
from tests.support.clusters import SHORT_LEASE, ClusterState, a_cluster_process, all_bound, node_of, settled
from tests.support.probes import fetch, free_port
from tests.support.processes import SchedulerProcess, eventually

from kubesched.testing import a_node, a_pod

NODES = [a_node(f"n{number}", cpu="4") for number in range(3)]
LEADS = "Successfully acquired lease kube-system/kube-scheduler"
STANDS = "Attempting to acquire leader lease kube-system/kube-scheduler"

# a filter that blocks the scheduler's loop once, for the pod `slow`
BLOCKING = """
import time
from kubesched import filter_plugin

def wait(): time.sleep(8)
def hold_the_interpreter(): import re; re.match("(a+)+$", "a" * 40 + "b")

waits = [{what}]

@filter_plugin("Blocking")
def blocking(pod, node):
    if pod.name == "slow" and waits:
        waits.pop()()
"""


def create_pods(cluster: ClusterState, *names: str) -> None:
    """Create pods that fit."""
    for name in names:
        cluster.api.create(a_pod(name, cpu="1"))


def holder(cluster: ClusterState) -> str:
    """Return who holds the lease, an empty text for nobody."""
    lease = cluster.api.get("Lease", "kube-scheduler", "kube-system")
    return str(lease["spec"].get("holderIdentity", "")) if lease else ""


def lease_of(cluster: ClusterState) -> Document:
    """Return the lease, which is there."""
    lease = cluster.api.get("Lease", "kube-scheduler", "kube-system")
    assert lease is not None
    return lease


@pytest.mark.slow
def test_a_leader_that_ends_gives_the_lease_up_and_another_one_goes_on_at_once(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler() as first:
        first.says(LEADS)
        with cluster.scheduler() as second:
            second.says(STANDS)
            create_pods(cluster, "a")
            all_bound(cluster.api, 1)
            assert first.end() == 0
            assert holder(cluster) == ""
            # with a lease of 15 seconds that was not given up this would take as long
            second.says(LEADS, seconds=10)
            create_pods(cluster, "b")
            all_bound(cluster.api, 2)
            assert lease_of(cluster)["spec"]["leaseTransitions"] == 1


@pytest.mark.slow
def test_a_leader_that_is_killed_is_replaced_within_the_time_of_its_lease(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler(*SHORT_LEASE) as first:
        first.says(LEADS)
        with cluster.scheduler(*SHORT_LEASE) as second:
            second.says(STANDS)
            create_pods(cluster, *(f"p{number}" for number in range(6)))
            assert first.end(signal.SIGKILL) == -signal.SIGKILL
            second.says(LEADS, seconds=3 + 2 * 0.4 + 3)
            create_pods(cluster, *(f"q{number}" for number in range(6)))
            all_bound(cluster.api, 12)


@pytest.mark.slow
def test_a_leader_that_was_stopped_for_too_long_ends_when_it_wakes_and_binds_nothing(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler(*SHORT_LEASE) as first:
        first.says(LEADS)
        with cluster.scheduler(*SHORT_LEASE) as second:
            second.says(STANDS)
            first.process.send_signal(signal.SIGSTOP)
            second.says(LEADS)
            # what it hears of first when it wakes
            create_pods(cluster, *(f"p{number}" for number in range(12)))
            all_bound(cluster.api, 12)
            # there is no room for one more, but that the first one does not know
            create_pods(cluster, "left-over")
            assert first.end(signal.SIGCONT) == 1
            # in words if it wakes soon, else by what every thread was doing
            assert first.lines("Leaderelection lost: ") or first.lines("Timeout ("), first.log
            assert len(settled(cluster.api)) == 13


def blocked(cluster: ClusterState, what: str) -> AbstractContextManager[SchedulerProcess]:
    """Return a scheduler with a filter that blocks."""
    file = cluster.plugin("blocking", BLOCKING.replace("{what}", what))
    profile = {"plugins": {"filter": {"enabled": [{"name": "Blocking"}]}}}
    return cluster.scheduler(*SHORT_LEASE, "--plugin", str(file), config={"profiles": [profile]})


@pytest.mark.slow
def test_the_lease_is_renewed_while_a_plugin_blocks_for_eight_seconds(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, blocked(cluster, "wait") as scheduler:
        scheduler.says(LEADS)
        leader = holder(cluster)
        create_pods(cluster, "slow")
        began = time.monotonic()
        renewals: set[str] = set()
        while not node_of(cluster.api, "slow"):
            renewals.add(lease_of(cluster)["spec"]["renewTime"])
            assert time.monotonic() - began < 60
        assert time.monotonic() - began > 7.5
        assert len(renewals) > 8
        assert holder(cluster) == leader
        create_pods(cluster, "next")
        all_bound(cluster.api, 2)


@pytest.mark.slow
def test_a_leader_whose_interpreter_is_held_ends_when_its_lease_has_run_out(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, blocked(cluster, "hold_the_interpreter") as scheduler:
        scheduler.says(LEADS)
        create_pods(cluster, "slow")
        assert scheduler.ends(10) == 1
        assert "blocking.py" in scheduler.log, "it says what it was doing"


@pytest.mark.slow
def test_a_leader_whose_server_comes_back_empty_takes_the_lease_again(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler() as scheduler:
        scheduler.says(LEADS)
        leader = holder(cluster)
        cluster.kill()
        scheduler.says("cannot connect to https://127.0.0.1:")
        cluster.start([*NODES, a_pod("p", cpu="1")])
        all_bound(cluster.api, 1)
        eventually(lambda: holder(cluster) == leader, "the lease is there again")


@pytest.mark.slow
def test_a_leader_whose_server_hangs_ends_before_another_one_may_lead(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler(*SHORT_LEASE) as scheduler:
        scheduler.says(LEADS)
        cluster.signal(signal.SIGSTOP)
        assert scheduler.ends(10) == 1
        scheduler.says("Leaderelection lost: it was not renewed within 2 s")
        cluster.signal(signal.SIGCONT)


def test_a_lease_that_somebody_takes_away_ends_the_leader_at_once(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler(*SHORT_LEASE) as scheduler:
        scheduler.says(LEADS)
        spec = {"holderIdentity": "somebody-else", "renewTime": "2099-01-01T00:00:00.000000Z"}
        cluster.api.change("Lease", "kube-scheduler", {"spec": spec}, namespace="kube-system")
        assert scheduler.ends(10) == 1
        scheduler.says("Leaderelection lost: the lease is held by somebody-else")


ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:kube-scheduler"


def may_lead_only(cluster: ClusterState) -> Document:
    """Take nearly everything from the scheduler but its lease; return the role that it had."""
    role: Document = cluster.api.ok("GET", ROLE)
    kept = [rule for rule in role["rules"] if "leases" in rule.get("resources", ())]
    cluster.api.ok("PUT", ROLE, {**role, "rules": kept})
    return role


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True], ids=["it catches up", "it loses the lease meanwhile"])
def test_a_new_leader_binds_nothing_before_it_has_caught_up(lost: bool, tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler(*SHORT_LEASE) as first:
        first.says(LEADS)
        with cluster.scheduler(*SHORT_LEASE) as second:
            second.says(STANDS)
            role = may_lead_only(cluster)
            assert first.end(signal.SIGKILL) == -signal.SIGKILL
            second.says(LEADS)
            create_pods(cluster, "p")
            line = second.says("cannot tell how new")
            assert "bind the cluster roles system:kube-scheduler" in line
            if lost:
                spec = {"holderIdentity": "somebody-else", "renewTime": "2099-01-01T00:00:00.000000Z"}
                cluster.api.change("Lease", "kube-scheduler", {"spec": spec}, namespace="kube-system")
                assert second.ends(10) == 1
                assert node_of(cluster.api, "p") == ""
            else:
                assert node_of(cluster.api, "p") == ""
                role["metadata"].pop("resourceVersion")
                cluster.api.ok("PUT", ROLE, role)
                all_bound(cluster.api, 1)


def cached_nodes(scheduler: SchedulerProcess) -> str:
    """Return what a scheduler says of the nodes in its cache, asked by a signal."""
    end = "Dump of scheduling queue"
    before = len(scheduler.lines(end))
    scheduler.process.send_signal(signal.SIGUSR2)
    eventually(lambda: scheduler.lines(end)[before:], "it dumps its cache")
    return scheduler.log.rpartition(end)[0].rpartition("Dump of cached NodeInfo")[2]


@pytest.mark.slow
def test_with_delay_cache_until_active_nothing_is_listed_before_it_leads(tmp_path: Path) -> None:
    def standby(port: int, *, delayed: bool) -> AbstractContextManager[SchedulerProcess]:
        flags = (f"--secure-port={port}", "--bind-address=127.0.0.1")
        return cluster.scheduler(*SHORT_LEASE, *flags, config={"delayCacheUntilActive": delayed})

    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler(*SHORT_LEASE) as leader:
        leader.says(LEADS)
        eager_port, delayed_port = free_port(), free_port()
        with standby(eager_port, delayed=False) as eager:
            eager.says(STANDS)
            eventually(lambda: fetch(eager_port, "/readyz")[0] == 200, "it is ready to take over")
            assert "n0" in cached_nodes(eager)
            assert eager.end() == 0
        with standby(delayed_port, delayed=True) as delayed:
            delayed.says(STANDS)
            code, text = eventually(lambda: fetch(delayed_port, "/readyz"), "it answers")
            assert code == 500
            assert "[-]sched-handler-sync failed" in text
            assert "n0" not in cached_nodes(delayed)
            assert fetch(delayed_port, "/livez")[0] == 200
            assert leader.end() == 0
            delayed.says(LEADS)
            create_pods(cluster, "a")
            all_bound(cluster.api, 1)
            assert fetch(delayed_port, "/readyz")[0] == 200
            assert "n0" in cached_nodes(delayed)
