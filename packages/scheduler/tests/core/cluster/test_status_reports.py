"""Reports of kubelets: readiness and time stamps cost nothing beyond their decoding, and reported resources count."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kubesched import build_engine
from kubesched.api.labels import from_label_selector
from kubesched.api.meta import Condition, LabelSelector, ResourceList
from kubesched.api.pods import (
    ContainerStatus,
    NodeAllocatableResourceClaimStatus,
    Pod,
    PodStatus,
    ResourceRequirements,
)
from kubesched.api.resources import RequestOptions
from kubesched.core.cluster.changes import Changes, Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.following import Cursor
from kubesched.testing import a_container, a_node, a_pod

CONTAINER = a_container().name
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
REQUESTED: ResourceList = {"cpu": "100m", "memory": "64Mi"}


def a_report(second: int, *, ready: bool = True, resources: ResourceList | None = None, **fields: Any) -> PodStatus:
    """Return the status that a kubelet reports at a second."""
    at = BEGIN + timedelta(seconds=second)
    conditions = tuple(
        Condition(type=name, status=str(ready), last_transition_time=at) for name in ("Ready", "ContainersReady")
    )
    amounts = resources or REQUESTED
    container = ContainerStatus(
        name=CONTAINER, resources=ResourceRequirements(requests=amounts), allocated_resources=amounts
    )
    status = PodStatus(phase="Running", conditions=conditions, container_statuses=(container,), start_time=BEGIN)
    return msgspec.structs.replace(status, **fields)


def a_running_pod(number: int = 0, status: PodStatus | None = None) -> Pod:
    return a_pod(f"p{number}", labels={"app": "web"}, node=f"n{number % 20}", requests=REQUESTED, status=status)


def a_cluster(options: RequestOptions | None = None) -> ClusterState:
    cluster = ClusterState(options)
    for number in range(20):
        cluster.add(a_node(f"n{number}", cpu="400", memory="800Gi", pods=2000))
    return cluster


def test_running_pods_of_one_template_have_one_digest() -> None:
    cluster = a_cluster()
    for number in range(5000):
        cluster.add(a_running_pod(number, a_report(number)))
    assert len({id(pod.digest) for pod in cluster.placed.values()}) == 1


def test_a_pod_that_starts_and_becomes_ready_is_accounted_once() -> None:
    cluster = a_cluster()
    cluster.add(a_running_pod())
    before = cluster.log.seq
    cluster.add(a_running_pod(status=PodStatus(phase="Pending", container_statuses=(ContainerStatus(name=CONTAINER),))))
    cluster.add(a_running_pod(status=a_report(1, ready=False, start_time=None)))
    cluster.add(a_running_pod(status=a_report(2, start_time=None)))
    assert cluster.log.seq == before


def test_a_readiness_flip_keeps_the_verdicts_that_waiting_pods_share() -> None:
    engine = build_engine()
    engine.cluster.add(a_node("n0", cpu="1"))
    engine.cluster.add(a_running_pod(status=a_report(1)))
    waiting = engine.cluster.reader.read(a_pod("large", cpu="64"))
    before, verdicts = engine.cluster.log.seq, engine.evaluation_of(waiting).verdicts()
    engine.cluster.add(a_running_pod(status=a_report(2, ready=False)))
    assert engine.cluster.log.seq == before
    assert engine.evaluation_of(waiting).verdicts() is verdicts
    assert engine.cluster.placed[a_running_pod().uid].status.conditions[0].status == "False"


LARGER: ResourceList = {"cpu": "300m", "memory": "64Mi"}
CLAIMED = NodeAllocatableResourceClaimStatus(resource_claim_name="c", containers=(CONTAINER,), resources=LARGER)


@pytest.mark.parametrize(
    ("report", "milli_cpu"),
    [
        pytest.param(a_report(2, resources=LARGER), 300, id="the resources of a container were resized"),
        pytest.param(
            a_report(
                2,
                container_statuses=(
                    ContainerStatus(
                        name=CONTAINER,
                        resources=ResourceRequirements(requests=REQUESTED),
                        allocated_resources=LARGER,
                    ),
                ),
            ),
            300,
            id="the node has allocated more than it has actuated",
        ),
        pytest.param(
            a_report(2, node_allocatable_resource_claim_statuses=(CLAIMED,)),
            400,
            id="a claim takes resources of the node",
        ),
    ],
)
def test_a_report_that_changes_what_a_pod_takes_is_accounted(report: PodStatus, milli_cpu: int) -> None:
    cluster = a_cluster(RequestOptions(dra_node_allocatable_resources=True))
    cluster.add(a_running_pod(status=a_report(1)))
    before = cluster.log.seq
    cluster.add(a_running_pod(status=report))
    assert cluster.table.requested_of(cluster.table.row_of["n0"], "cpu") == milli_cpu
    assert cluster.log.seq > before


@pytest.mark.parametrize(
    ("field", "amounts"),
    [("resources", ResourceRequirements(requests=LARGER)), ("allocated_resources", LARGER)],
)
def test_reported_resources_of_a_pod_as_a_whole_are_accounted(field: str, amounts: object) -> None:
    cluster = a_cluster()
    specified: dict[str, Any] = {"resources": ResourceRequirements(requests=REQUESTED)}
    actuated = msgspec.structs.replace(a_report(1), **specified)
    cluster.add(a_pod("p", node="n0", status=actuated, **specified))
    cluster.add(a_pod("p", node="n0", status=msgspec.structs.replace(actuated, **{field: amounts}), **specified))
    assert cluster.table.requested_of(cluster.table.row_of["n0"], "cpu") == 300


def test_a_sidecar_that_was_resized_is_accounted() -> None:
    cluster = a_cluster()
    sidecar = msgspec.structs.replace(a_container("side", cpu="100m"), restart_policy="Always")
    resized = ContainerStatus(name="side", resources=ResourceRequirements(requests=LARGER))
    for statuses in ((), (resized,)):
        status = a_report(1, init_container_statuses=statuses)
        cluster.add(a_pod("p", node="n0", requests=REQUESTED, init_containers=(sidecar,), status=status))
    assert cluster.table.requested_of(cluster.table.row_of["n0"], "cpu") == 400


def test_a_resize_that_the_kubelet_refuses_for_good_no_longer_counts() -> None:
    cluster = a_cluster()
    wanted: ResourceList = {"cpu": "2", "memory": "64Mi"}
    for reason, milli_cpu in (("Deferred", 2000), ("Infeasible", 100), ("Deferred", 2000)):
        pending = Condition(type="PodResizePending", status="True", reason=reason)
        cluster.add(a_pod("p", node="n0", requests=wanted, status=a_report(1, conditions=(pending,))))
        assert cluster.table.requested_of(cluster.table.row_of["n0"], "cpu") == milli_cpu


def test_a_pod_that_begins_to_terminate_is_accounted() -> None:
    cluster = a_cluster()
    cluster.add(a_running_pod(status=a_report(1)))
    before = cluster.log.seq
    cluster.add(a_pod("p0", labels={"app": "web"}, node="n0", requests=REQUESTED, status=a_report(2), terminating=True))
    assert cluster.log.seq > before


def test_labels_that_the_api_server_copies_from_the_node_do_not_change_what_a_pod_takes() -> None:
    cluster = a_cluster()
    zone = {"topology.kubernetes.io/zone": "z"}
    in_zone = cluster.table.counts.match(
        None, (from_label_selector(LabelSelector(match_labels=zone)),), live_only=False
    )
    placed = cluster.assume(cluster.reader.read(a_pod("p0", labels={"app": "web"}, requests=REQUESTED)), "n0")
    changed = Cursor(cluster.table, Reads.PODS | Reads.RESOURCES)
    changed.advance()
    cluster.add(a_pod("p0", labels={"app": "web"} | zone, node="n0", requests=REQUESTED))
    row = cluster.table.row_of["n0"]
    changes = changed.advance()
    assert isinstance(changes, Changes)
    assert changes.rows == {row: Reads.PODS}
    assert in_zone.rows == {row: 1}
    assert cluster.table.requested_of(row, "cpu") == 100
    assert cluster.placed[placed.uid].labels["topology.kubernetes.io/zone"] == "z"
    cluster.remove_pod(placed.uid)
    assert in_zone.rows == {}
    assert not cluster.table.counts.groups


def test_a_report_about_a_nominated_pod_is_not_accounted_again() -> None:
    cluster = a_cluster()
    cluster.add(a_pod("p", nominated="n1", cpu="64"))
    before = cluster.log.seq
    reported = PodStatus(nominated_node_name="n1", conditions=a_report(1).conditions)
    cluster.add(a_pod("p", cpu="64", status=reported))
    assert cluster.log.seq == before
    assert [pod.status for pod in cluster.nominations.on("n1")] == [reported]


@pytest.mark.parametrize("words", [{"cpu": "65"}, {"priority": 5}, {"labels": {"app": "a"}}, {"nominated": "n2"}])
def test_a_nominated_pod_that_takes_something_else_is_accounted(words: dict[str, Any]) -> None:
    cluster = a_cluster()
    cluster.add(a_pod("p", nominated="n1", cpu="64"))
    before = cluster.log.seq
    cluster.add(a_pod("p", **{"nominated": "n1", "cpu": "64", **words}))
    assert cluster.log.seq > before
    assert [pod.uid for pod in cluster.nominations.on(words.get("nominated", "n1"))] == [a_pod("p").uid]


def test_a_failed_attempt_of_a_nominated_pod_logs_nothing() -> None:
    cluster = a_cluster()
    cluster.add(a_pod("p", nominated="n1"))
    before = cluster.log.seq
    cluster.nominate(cluster.pending[a_pod("p").uid], "n1")
    assert cluster.log.seq == before
    cluster.nominate(cluster.pending[a_pod("p").uid], "")
    assert not len(cluster.nominations)
