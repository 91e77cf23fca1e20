"""An API server that is killed, goes away, forgets, refuses, is slow or loses answers: pods are bound all the same."""

from pathlib import Path

import pytest
from tests.support.clusters import ALONE, a_cluster_process, all_bound, bound, settled, unschedulable, why_waiting

from kubesched.api.meta import ApiObject
from kubesched.testing import a_node, a_pod

# real processes, for seconds each
pytestmark = pytest.mark.slow

NODES = [a_node(f"n{number}", cpu="4") for number in range(5)]
# so that a server can be killed while pods are being bound
SLOWLY = {"qps": 50, "burst": 40}


def pods(first: int, last: int) -> list[ApiObject]:
    """Return pods of which twenty fill the nodes."""
    return [a_pod(f"p{number}", cpu="1") for number in range(first, last + 1)]


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param("conflict=0.3 on create pods/binding", id="bindings are refused with 409", marks=pytest.mark.slow),
        pytest.param("internal-error=0.3 on create pods/binding", id="bindings fail with 500", marks=pytest.mark.slow),
        pytest.param(
            "too-many-requests=0.3:1s on create pods/binding", id="bindings have to wait", marks=pytest.mark.slow
        ),
        pytest.param("unavailable=0.2", id="the server is overloaded", marks=pytest.mark.slow),
        pytest.param("lost-response=0.3 on create pods/binding", id="bindings are done, but not answered"),
        pytest.param(
            "lost-request=0.3 on create pods/binding", id="bindings are lost on the way", marks=pytest.mark.slow
        ),
        pytest.param(
            "slow=0.3:300ms,lost-response=0.2 on get,lost-request=0.2 on patch",
            id="answers are late or lost",
            marks=pytest.mark.slow,
        ),
        pytest.param("watch-duplicate=0.5,watch-delay=0.3:200ms", id="events come twice, and late"),
        pytest.param("watch-drop=0.3 on pods,watch-expire=1s", id="events are lost, and watches expire all the time"),
        pytest.param(
            "timeout=0.5 on patch pods/status,internal-error=0.5 on events", id="pods cannot be written about"
        ),
    ],
)
def test_every_pod_is_bound_once_and_who_does_not_fit_says_why(faults: str, tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [*NODES, *pods(1, 10)], faults=[faults]) as cluster, cluster.scheduler(ALONE):
        all_bound(cluster.api, 5)
        for pod in pods(11, 20):
            cluster.api.create(pod)
        all_bound(cluster.api, 20)
        cluster.api.create(a_pod("one-too-many", cpu="1"))
        assert "Insufficient cpu" in unschedulable(cluster.api, "one-too-many")
        cluster.api.delete("Pod", "p1", at_once=True)
        bound(cluster.api, "one-too-many")
        all_bound(cluster.api, 20)


def test_a_server_that_comes_back_empty_under_its_address_is_known_anew(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [*NODES, *pods(1, 10)]) as cluster, cluster.scheduler(ALONE) as scheduler:
        all_bound(cluster.api, 10)
        cluster.kill()
        scheduler.says("cannot connect to https://127.0.0.1:")
        # another node, and pods that have the names of earlier ones
        cluster.start([a_node("other", cpu="4"), *pods(1, 4), a_pod("p5", cpu="2", node="other")])
        scheduler.says("the API server has another past than before; everything is listed anew")
        waiting = [pod for pod in settled(cluster.api) if not pod["spec"].get("nodeName")]
        assert len(waiting) == 2
        assert why_waiting(waiting[0]).startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_server_that_is_killed_in_the_middle_and_keeps_everything_goes_on(tmp_path: Path) -> None:
    objects = [*(a_node(f"n{number}", cpu="10") for number in range(10)), *pods(1, 50)]
    config = {"clientConnection": SLOWLY}
    with a_cluster_process(tmp_path, objects, durable=True) as cluster, cluster.scheduler(ALONE, config=config) as it:
        all_bound(cluster.api, 10)
        cluster.kill()
        it.says("cannot connect to https://127.0.0.1:")
        cluster.start()
        for pod in pods(51, 100):
            cluster.api.create(pod)
        all_bound(cluster.api, 100)
        assert not it.lines("another past")


def test_a_server_that_is_gone_for_a_while_is_waited_for(tmp_path: Path) -> None:
    faults = ["outage=1500ms:1s"]
    with a_cluster_process(tmp_path, [*NODES, *pods(1, 5)], faults=faults) as cluster:
        with cluster.scheduler(ALONE) as scheduler:
            all_bound(cluster.api, 5)
            scheduler.says("broke off")
            for pod in pods(6, 10):
                cluster.api.create(pod)
            all_bound(cluster.api, 10)
        assert "outage" in cluster.stop()
