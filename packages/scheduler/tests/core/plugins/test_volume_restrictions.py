"""VolumeRestrictions: claims that one pod may use at a time, and disks that do not bear sharing."""

import numpy as np
import pytest
from tests.support.asking import hint

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.volumes import (
    AWSElasticBlockStoreVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    RBDVolumeSource,
    Volume,
)
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.plugin import UNCACHED
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import SKIP, Status, error, unresolvable, unschedulable
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.volume_restrictions import VolumeRestrictions
from kubesched.testing import a_claim, a_cluster, a_node, a_pod

DISK_TAKEN = unschedulable("node(s) had no available disk")
CLAIM_TAKEN = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
EXCLUSIVE = ("ReadWriteOncePod",)


def gce(name: str, *, read_only: bool = False) -> Volume:
    return Volume(gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name=name, read_only=read_only))


def aws(name: str, *, read_only: bool = False) -> Volume:
    return Volume(aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id=name, read_only=read_only))


def iscsi(iqn: str, *, read_only: bool = False, lun: int = 0) -> Volume:
    return Volume(iscsi=ISCSIVolumeSource(iqn=iqn, read_only=read_only, lun=lun))


def rbd(image: str, *monitors: str, pool: str = "pool", read_only: bool = False) -> Volume:
    return Volume(rbd=RBDVolumeSource(image=image, monitors=monitors, pool=pool, read_only=read_only))


def judged(cluster: ClusterState, pod: Pod) -> dict[str, Status] | Status:
    """Return PreFilter's outcome, or whom Filter rejects, in both of its forms."""
    plugin, info, cycle, table = VolumeRestrictions(cluster), cluster.reader.read(pod), CycleState(), cluster.table
    outcome = plugin.pre_filter(cycle, info)
    if outcome is not None:
        return outcome
    verdict = plugin.filter_nodes(cycle, info, Nodes(table))
    found = {table.names[row]: verdict.statuses[int(verdict.which[row])] for row in table.present_rows()}
    assert found == {name: plugin.filter(cycle, info, NodeRow(table, table.row_of[name])) for name in found}
    return {name: status for name, status in found.items() if status is not None}


@pytest.mark.parametrize(
    ("wanted", "used", "free"),
    [
        pytest.param(gce("d"), gce("d"), False, id="a GCE disk"),
        pytest.param(gce("d"), gce("e"), True, id="another GCE disk"),
        pytest.param(gce("d", read_only=True), gce("d"), False, id="one of the two writes"),
        pytest.param(gce("d", read_only=True), gce("d", read_only=True), True, id="both only read"),
        pytest.param(aws("d", read_only=True), aws("d", read_only=True), False, id="an AWS disk, even to read"),
        pytest.param(aws("d"), gce("d"), True, id="a disk of another kind"),
        pytest.param(iscsi("d"), iscsi("d", lun=3), False, id="an iSCSI target, whatever the LUN"),
        pytest.param(iscsi("d", read_only=True), iscsi("d", read_only=True), True, id="an iSCSI target to read"),
        pytest.param(rbd("d", "m1", "m2"), rbd("d", "m2"), False, id="a Ceph image behind a common monitor"),
        pytest.param(rbd("d", "m1"), rbd("d", "m2"), True, id="behind other monitors"),
        pytest.param(rbd("d", "m1"), rbd("d", "m1", pool="p2"), True, id="in another pool"),
        pytest.param(rbd("d"), rbd("d"), True, id="behind no monitor at all"),
    ],
)
def test_disks(wanted: Volume, used: Volume, free: bool) -> None:
    cluster = a_cluster(a_node("n"), a_node("empty"), a_pod("user", node="n", namespace="else", volumes=[used]))
    assert judged(cluster, a_pod(volumes=[wanted])) == ({} if free else {"n": DISK_TAKEN})


@pytest.mark.parametrize(
    ("what", "objects", "outcome"),
    [
        ("the claim is not there", [], unresolvable('persistentvolumeclaim "c" not found')),
        ("any pod may use it", [a_claim("c"), a_pod("user", node="n1", volumes=["c"])], SKIP),
        ("nobody uses it", [a_claim("c", modes=EXCLUSIVE)], SKIP),
        (
            "somebody uses it",
            [a_claim("c", modes=EXCLUSIVE), a_pod("user", node="n1", volumes=["c"])],
            {"n1": CLAIM_TAKEN, "n2": CLAIM_TAKEN},
        ),
        (
            "a claim of the name is used elsewhere",
            [a_claim("c", modes=EXCLUSIVE), a_pod("user", namespace="else", node="n1", volumes=["c"])],
            SKIP,
        ),
        (
            "somebody uses it on a node that is gone",
            [a_claim("c", modes=EXCLUSIVE), a_pod("user", node="gone", volumes=["c"])],
            SKIP,
        ),
        (
            "somebody will use it",
            [a_claim("c", modes=EXCLUSIVE), a_pod("user", nominated="n1", volumes=["c"])],
            SKIP,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_claims(what: str, objects: list[ApiObject], outcome: dict[str, Status] | Status) -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"), *objects)
    pod = a_pod("p", volumes=["c"])
    assert judged(cluster, pod) == outcome, what
    key = VolumeRestrictions(cluster).key(cluster.reader.read(pod))
    assert key == () if outcome is SKIP else key is UNCACHED


def test_the_disk_is_mentioned_before_the_claim() -> None:
    cluster = a_cluster(
        a_node("n1"), a_node("n2"), a_claim("c", modes=EXCLUSIVE), a_pod("user", node="n1", volumes=["c", gce("d")])
    )
    assert judged(cluster, a_pod("p", volumes=[gce("d"), "c"])) == {"n1": DISK_TAKEN, "n2": CLAIM_TAKEN}


def test_pods_without_such_volumes_skip() -> None:
    cluster = a_cluster(a_node("n"))
    assert judged(cluster, a_pod()) is SKIP
    assert judged(cluster, a_pod(volumes=[Volume(name="empty")])) is SKIP


def test_a_disk_frees_when_the_last_pod_goes() -> None:
    users = [a_pod(name, node="n", volumes=[gce("d")]) for name in ("u1", "u2")]
    cluster = a_cluster(a_node("n"), *users)
    for user, left in zip(users, ({"n": DISK_TAKEN}, {}), strict=True):
        cluster.remove(user)
        assert judged(cluster, a_pod(volumes=[gce("d")])) == left
    assert cluster.table.volume_users.content(cluster.table.names) == a_cluster().table.volume_users.content([])


def test_filter_misses_what_pre_filter_counts() -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"), a_pod("user", node="n1", volumes=[gce("d")]))
    plugin, pod = VolumeRestrictions(cluster), cluster.reader.read(a_pod(volumes=[gce("d")]))
    verdict = plugin.filter_nodes(CycleState(), pod, Nodes(cluster.table))
    unprepared = error('cannot read "PreFilterVolumeRestrictions" from cycleState')
    assert [verdict.statuses[which] for which in verdict.which] == [DISK_TAKEN, unprepared]
    assert plugin.filter(CycleState(), pod, NodeRow(cluster.table, 1)) == unprepared


# -- other worlds


def crowded() -> ClusterState:
    return a_cluster(
        a_node("n1"),
        a_node("n2"),
        a_claim("c", modes=EXCLUSIVE),
        a_claim("d", modes=EXCLUSIVE),
        a_pod("user", node="n1", volumes=["c"]),
        a_pod("twice", node="n2", volumes=["c", "c"]),
        a_pod("stranger", namespace="else", node="n2", volumes=["c"]),
        a_pod("disk", node="n1", volumes=[gce("x")]),
        a_pod("nominated", nominated="n2", volumes=["d", gce("x")]),
    )


@pytest.mark.parametrize(
    ("what", "volumes", "changes", "expected"),
    [
        ("nothing changes", ["c"], [], [CLAIM_TAKEN, CLAIM_TAKEN]),
        ("the user goes", ["c"], [(0, "user", -1)], [None, CLAIM_TAKEN]),
        ("the user goes and comes", ["c"], [(0, "user", -1), (0, "user", 1)], [CLAIM_TAKEN, CLAIM_TAKEN]),
        ("one that uses it twice goes", ["c"], [(1, "twice", -1)], [CLAIM_TAKEN, None]),
        # as the reference counts: by the claim's name alone
        ("a pod of another namespace goes", ["c"], [(1, "stranger", -1)], [CLAIM_TAKEN, None]),
        ("a nominated pod comes", ["d", gce("y")], [(1, "nominated", 1)], [None, CLAIM_TAKEN]),
        ("a disk is freed", [gce("x")], [(0, "disk", -1)], [None, None]),
        ("a disk is taken", [gce("x")], [(1, "nominated", 1)], [DISK_TAKEN, DISK_TAKEN]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_worlds(
    what: str, volumes: list[str | Volume], changes: list[tuple[int, str, int]], expected: list[Status | None]
) -> None:
    cluster = crowded()
    pod = cluster.reader.read(a_pod("asking", volumes=volumes))
    pods = {pod.name: pod for pod in (*cluster.table.pods.values(), *cluster.pending.values())}
    worlds = VolumeRestrictions(cluster).filter_worlds(pod, np.array([0, 1]))
    untouched = worlds.select(np.array([1, 0]))
    before = untouched.verdict()
    for world, name, sign in changes:
        worlds.change(np.array([world]), np.array([pods[name].slot]), sign)
    verdict = worlds.verdict()
    assert [verdict.statuses[which] for which in verdict.which] == expected, what
    assert untouched.verdict().which.tolist() == before.which.tolist(), "copies are independent"


# -- events


@pytest.mark.parametrize(
    ("event", "old", "new", "expected"),
    [
        pytest.param(
            (Resource.ASSIGNED_POD, Action.DELETE),
            a_pod("u", node="n", volumes=["c"]),
            None,
            Hint.QUEUE,
            id="a pod with the same claim",
        ),
        pytest.param(
            (Resource.ASSIGNED_POD, Action.DELETE),
            a_pod("u", node="n", volumes=[gce("x")]),
            None,
            Hint.QUEUE,
            id="a pod with the same disk",
        ),
        pytest.param(
            (Resource.ASSIGNED_POD, Action.DELETE),
            a_pod("u", node="n", namespace="else", volumes=["c", gce("x")]),
            None,
            Hint.QUEUE_SKIP,
            id="a pod of another namespace",
        ),
        pytest.param(
            (Resource.ASSIGNED_POD, Action.DELETE),
            a_pod("u", node="n", volumes=["other", gce("y")]),
            None,
            Hint.QUEUE_SKIP,
            id="a pod with other volumes",
        ),
        pytest.param((Resource.NODE, Action.ADD), None, a_node(), Hint.QUEUE, id="any new node"),
        pytest.param(
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), None, a_claim("c"), Hint.QUEUE, id="the pod's claim"
        ),
        pytest.param(
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), None, a_claim("d"), Hint.QUEUE_SKIP, id="another claim"
        ),
        pytest.param(
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.UPDATE), a_claim("c"), a_claim("c"), None, id="a claim changed"
        ),
    ],
)
def test_hints(
    event: tuple[Resource, Action], old: ApiObject | None, new: ApiObject | None, expected: Hint | None
) -> None:
    cluster = a_cluster()
    asking = a_pod("p", volumes=["c", gce("x")])
    assert hint(VolumeRestrictions(cluster), cluster, asking, event, old, new) == expected
