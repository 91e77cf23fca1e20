"""NodeVolumeLimits: how many volumes a node can attach."""

from typing import Any

import msgspec
import numpy as np
import pytest
from tests.support.asking import hint, rejections

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.storage import PersistentVolume, VolumeAttachment
from kubesched.api.volumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    Volume,
    VsphereVirtualDiskVolumeSource,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.plugin import UNCACHED
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import SKIP, Status, StatusTable, error, unresolvable, unschedulable
from kubesched.core.plugins.node_volume_limits import NodeVolumeLimits
from kubesched.testing import (
    a_claim,
    a_cluster,
    a_csi_driver,
    a_csi_node,
    a_node,
    a_pod,
    a_storage_class,
    a_volume,
    an_attachment,
    an_ephemeral_volume,
)

DRIVER, EBS = "csi.example.com", "ebs.csi.aws.com"
EXCEEDED = unschedulable("node(s) exceed max volume count")


def ebs(volume_id: str) -> Volume:
    return Volume(name="ebs", aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id=volume_id))


def an_ebs_volume(name: str, volume_id: str) -> PersistentVolume:
    pv = a_volume(name)
    source = AWSElasticBlockStoreVolumeSource(volume_id=volume_id)
    return msgspec.structs.replace(pv, spec=msgspec.structs.replace(pv.spec, aws_elastic_block_store=source))


def a_bound_claim(name: str, handle: str, driver: str = DRIVER) -> list[ApiObject]:
    """Return a claim with its CSI volume."""
    return [a_claim(name, bound_to=f"pv-{name}"), a_volume(f"pv-{name}", csi=f"{driver}/{handle}")]


def an_in_tree_claim(name: str) -> list[ApiObject]:
    """Return a claim with its AWS volume."""
    return [a_claim(name, bound_to=f"pv-{name}"), an_ebs_volume(f"pv-{name}", name)]


# Node `n` takes two volumes of either driver, node `free` any number.
NODES = [a_node("n"), a_node("free"), a_csi_node("n", {DRIVER: 2, EBS: 2}), a_csi_node("free", {DRIVER: None})]
CLAIMS = [obj for name in "abcd" for obj in a_bound_claim(name, f"h-{name}")]
CLASSES = [
    a_storage_class("csi", provisioner=DRIVER),
    a_storage_class("aws", provisioner="kubernetes.io/aws-ebs"),
    a_storage_class("files", provisioner="kubernetes.io/azure-file"),
]


def users(*volumes: str | Volume, node: str = "n") -> Pod:
    return a_pod("user", node=node, volumes=volumes)


@pytest.mark.parametrize(
    ("what", "objects", "wanted", "fits"),
    [
        ("room for one more", [users("a")], ["b"], True),
        ("no room", [users("a", "b")], ["c"], False),
        ("no room for two", [users("a")], ["b", "c"], False),
        ("a volume that is there already", [users("a", "b")], ["a"], True),
        ("one there already, one too many", [users("a", "b")], ["a", "c"], False),
        ("the same claim twice is one volume", [users("a")], ["b", "b"], True),
        ("two users of a volume count once", [users("a"), a_pod("u2", node="n", volumes=["a"])], ["b"], True),
        ("two claims to one handle are one volume", [users("a"), *a_bound_claim("x", "h-a")], ["x", "b"], True),
        ("users elsewhere do not count", [users("a", "b", node="free")], ["c"], True),
        (
            "a volume of another driver",
            [users("a", "b"), *a_bound_claim("x", "h", driver="other.example.com")],
            ["x"],
            True,
        ),
        ("a claim that a user lost", [users("gone", "a")], ["b"], True),
        ("an in-tree volume of the class", [users("a"), a_claim("x", storage_class="aws")], ["x", ebs("v")], True),
        ("attached, not used", [users("a"), an_attachment("t", node="n", volume="pv-b")], ["c"], False),
        ("attached and used", [users("a"), an_attachment("t", node="n", volume="pv-a")], ["b"], True),
        # as the reference counts
        ("attached and wanted counts twice", [users("a"), an_attachment("t", node="n", volume="pv-b")], ["b"], False),
        ("attached elsewhere", [users("a"), an_attachment("t", node="free", volume="pv-b")], ["c"], True),
        ("an attachment of nothing", [users("a"), an_attachment("t", node="n", volume=None)], ["c"], True),
        (
            "an attachment by nobody",
            [users("a"), an_attachment("t", node="n", volume="pv-b", attacher="")],
            ["c"],
            True,
        ),
        ("an attachment of a lost volume", [users("a"), an_attachment("t", node="n", volume="pv-x")], ["c"], True),
        ("volumes to be provided count", [users("a", "b"), a_claim("x", storage_class="csi")], ["x"], False),
        (
            "a lost volume counts by its class",
            [a_claim("x", storage_class="csi", bound_to="gone")],
            ["a", "b", "x"],
            False,
        ),
        ("a claim without a class does not", [a_claim("x", storage_class=None)], ["a", "b", "x"], True),
        ("nor one of an unknown class", [a_claim("x", storage_class="?")], ["a", "b", "x"], True),
        ("nor one of a plugin that stays in-tree", [a_claim("x", storage_class="files")], ["a", "b", "x"], True),
        ("nor a volume without a handle", a_bound_claim("x", ""), ["a", "b", "x"], True),
        ("in-tree disks count as CSI volumes", [users(ebs("v1"), ebs("v2"))], [ebs("v3")], False),
        ("by their bare names", [users(ebs("aws://zone/vol-1"), ebs("v2"))], [ebs("vol-1")], True),
        (
            "in-tree persistent volumes too",
            [users("x", "y"), *an_in_tree_claim("x"), *an_in_tree_claim("y")],
            [ebs("z")],
            False,
        ),
        (
            "and classes",
            [users("x", "y"), *(a_claim(name, storage_class="aws") for name in "xy")],
            [ebs("z")],
            False,
        ),
        (
            "but no volume that the driver has no name for",
            [users("x", ebs("v1")), a_claim("x", bound_to="pv-x"), an_ebs_volume("pv-x", "aws://zone/x")],
            [ebs("z")],
            True,
        ),
        (
            "an ephemeral volume",
            [users("a", "b"), a_claim("p-scratch", storage_class="csi", owner=a_pod("p"))],
            [an_ephemeral_volume()],
            False,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_limits(what: str, objects: list[ApiObject], wanted: list[str | Volume], fits: bool) -> None:
    cluster = a_cluster(*NODES, *CLAIMS, *CLASSES, *objects)
    found = rejections(NodeVolumeLimits(cluster), cluster, a_pod("p", volumes=wanted))
    assert found == ({} if fits else {"n": EXCEEDED}), what


NOT_OWNED = error("PVC default/p-scratch was not created for pod default/p (pod is not owner)")
BAD_ID = "aws://zone/x"
BAD_EBS = error(
    "converting volume(ebs) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID "
    "Invalid format for AWS volume (aws://zone/x)"
)
SHARED = Volume(name="azure", azure_disk=AzureDiskVolumeSource(disk_uri="/d", kind="Shared"))


@pytest.mark.parametrize(
    ("what", "objects", "volumes", "expected"),
    [
        (
            "a claim that is not there",
            [],
            ["c"],
            dict.fromkeys(("n", "bare"), unresolvable('looking up PVC default/c: persistentvolumeclaim "c" not found')),
        ),
        ("a claim without a name", [], [""], dict.fromkeys(("n", "bare"), error("PersistentVolumeClaim had no name"))),
        (
            "a claim of somebody else for an ephemeral volume",
            [a_claim("p-scratch")],
            [an_ephemeral_volume()],
            dict.fromkeys(("n", "bare"), NOT_OWNED),
        ),
        ("an in-tree disk nobody understands, where it is migrated", [], [ebs(BAD_ID)], {"n": BAD_EBS}),
        (
            "a disk of a kind that is not migrated",
            [],
            [SHARED],
            {"n": error("converting volume(azure) from inline to csi: kind(Shared) is not supported in csi migration")},
        ),
        ("an in-tree share, which stays in-tree", [], [Volume(name="s", azure_file=AzureFileVolumeSource())], {}),
        (
            "a user whose volumes cannot be told",
            [*a_bound_claim("a", "h"), a_pod("user", node="n", volumes=[ebs(BAD_ID)])],
            ["a"],
            {"n": BAD_EBS},
        ),
        (
            "such a user does not matter to a pod that attaches nothing",
            [a_claim("a", storage_class=None), a_pod("user", node="n", volumes=[ebs(BAD_ID)])],
            ["a"],
            {},
        ),
        (
            "nor where there are no limits",
            [*a_bound_claim("a", "h"), a_csi_node("n"), a_pod("user", node="n", volumes=[ebs(BAD_ID)])],
            ["a"],
            {},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_problems(what: str, objects: list[ApiObject], volumes: list[Any], expected: dict[str, Status]) -> None:
    cluster = a_cluster(a_node("n"), a_node("bare"), a_csi_node("n", {DRIVER: 9}), *objects)
    assert rejections(NodeVolumeLimits(cluster), cluster, a_pod("p", volumes=volumes)) == expected, what


@pytest.mark.parametrize(
    ("required", "gate", "volumes", "expected"),
    [
        pytest.param(True, False, ["a"], [], id="the gate is off"),
        pytest.param(None, True, ["a"], [], id="the driver does not say"),
        pytest.param(True, True, ["a"], ["bare", "other"], id="the driver must be there"),
        pytest.param(True, True, ["x"], [], id="nothing to attach"),
        pytest.param(True, True, [ebs("v")], [], id="a driver that nobody has heard of"),
    ],
)
def test_drivers_that_must_be_installed(
    required: bool | None, gate: bool, volumes: list[str | Volume], expected: list[str]
) -> None:
    cluster = a_cluster(
        a_node("n"),
        a_node("bare"),
        a_node("other"),
        a_csi_node("n", {DRIVER: None}),
        a_csi_node("other", {"other.example.com": 1}),
        a_csi_driver(DRIVER, required=required),
        *CLAIMS,
        a_claim("x", storage_class=None),
    )
    plugin = NodeVolumeLimits(cluster, FeatureGates({"VolumeLimitScaling": gate}))
    missing = unschedulable(f"{DRIVER} CSI driver is not installed on the node")
    assert rejections(plugin, cluster, a_pod("p", volumes=volumes)) == dict.fromkeys(expected, missing)


@pytest.mark.parametrize(
    ("volumes", "skips"),
    [
        pytest.param([], True, id="no volumes"),
        pytest.param([Volume(name="empty")], True, id="volumes that nobody attaches"),
        pytest.param(["c"], False, id="a claim"),
        pytest.param([an_ephemeral_volume()], False, id="an ephemeral volume"),
        pytest.param([Volume(azure_file=AzureFileVolumeSource())], False, id="an in-tree volume, migrated or not"),
    ],
)
def test_skip(volumes: list[str | Volume], skips: bool) -> None:
    cluster = a_cluster()
    outcome = NodeVolumeLimits(cluster).pre_filter(CycleState(), cluster.reader.read(a_pod(volumes=volumes)))
    assert outcome == (SKIP if skips else None)


def test_a_pod_that_has_volumes_but_wants_nothing_is_not_taken_for_one_that_is_skipped() -> None:
    cluster = a_cluster()
    plugin = NodeVolumeLimits(cluster)
    with_azure = [Volume(azure_file=AzureFileVolumeSource())]
    keys = [plugin.key(cluster.reader.read(a_pod(volumes=volumes))) for volumes in ([], with_azure)]
    assert keys[0] != keys[1]


def test_pods_of_a_stateful_set_share_the_answer() -> None:
    cluster = a_cluster(*NODES, *CLASSES, *CLAIMS, *(a_claim(f"w{i}", storage_class="csi") for i in range(3)))
    plugin = NodeVolumeLimits(cluster)

    def key(*volumes: str) -> Any:
        return plugin.key(cluster.reader.read(a_pod("p", volumes=volumes)))

    assert key("w0") == key("w1") == key("a")
    assert key("w0") != key("w0", "w1")
    assert key("gone") is UNCACHED
    cluster.add(a_pod("user", node="n", volumes=["w0"]))
    assert key("w0") != key("w1") == key("w2"), "a volume that is somewhere already is not like others"
    cluster.add(a_pod("promised", nominated="free", volumes=["w1"]))
    assert key("w1") != key("w2"), "nor is one that will be"


def test_a_kept_answer_keeps_up() -> None:
    cluster = a_cluster(*NODES, *CLASSES, *CLAIMS)
    question = NodeVolumeLimits(cluster).filter_question(cluster.reader.read(a_pod("p", volumes=["d"])), StatusTable())

    def rejected() -> list[str]:
        question.refresh()
        return [cluster.table.names[row] for row in np.flatnonzero(question.ids)]

    assert rejected() == []
    cluster.add(users("a", "w"))
    assert rejected() == [], "a claim that does not exist"
    cluster.add(a_claim("w", storage_class="csi"))
    assert rejected() == ["n"], "it will get a volume"
    cluster.add(a_claim("w", bound_to="late"))
    assert rejected() == [], "of another class, to a volume that is not there yet"
    cluster.add(a_volume("late", csi=f"{DRIVER}/h"))
    assert rejected() == ["n"]
    cluster.add(a_csi_node("n", {DRIVER: 3}))
    assert rejected() == [], "more are allowed"
    attachment = an_attachment("t", node="n", volume="pv-c")
    cluster.add(attachment)
    assert rejected() == ["n"]
    cluster.remove(attachment)
    assert rejected() == []
    cluster.add(a_node("n2"))
    cluster.add(a_csi_node("n2", {DRIVER: 0}))
    assert rejected() == ["n2"]
    cluster.remove(a_node("n2"))
    cluster.add(a_node("n3"))
    assert rejected() == [], "another node in its row, of which no driver has spoken"


# -- other worlds

POTENTIAL = [
    a_pod("one", node="n", volumes=["a"]),
    a_pod("two", node="n", volumes=["a", "b"]),
    a_pod("broken", node="n", volumes=[ebs(BAD_ID)]),
    a_pod("nominated", nominated="n", volumes=["c"]),
    a_pod("plain", node="n"),
]


@pytest.mark.parametrize(
    ("what", "wanted", "changes", "expected"),
    [
        ("nothing changes", "c", [("broken", -1)], EXCEEDED),
        ("a user remains", "c", [("broken", -1), ("one", -1)], EXCEEDED),
        ("another user remains", "c", [("broken", -1), ("two", -1)], None),
        ("all users go and one comes back", "c", [("broken", -1), ("one", -1), ("two", -1), ("two", 1)], EXCEEDED),
        ("a nominated pod uses the same volume", "c", [("broken", -1), ("two", -1), ("nominated", 1)], None),
        ("a nominated pod uses another", "d", [("broken", -1), ("two", -1), ("nominated", 1)], EXCEEDED),
        ("the wanted volume goes with its user", "b", [("broken", -1), ("two", -1)], None),
        ("pods without volumes do not matter", "c", [("broken", -1), ("plain", -1)], EXCEEDED),
        ("whose volumes cannot be told stays", "c", [("two", -1)], BAD_EBS),
        ("and comes back", "c", [("two", -1), ("broken", -1), ("broken", 1)], BAD_EBS),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_worlds(what: str, wanted: str, changes: list[tuple[str, int]], expected: Status | None) -> None:
    cluster = a_cluster(*NODES, *CLAIMS, *POTENTIAL)
    pods = {pod.name: pod for pod in (*cluster.table.pods.values(), *cluster.pending.values())}
    pod = cluster.reader.read(a_pod("p", volumes=[wanted]))
    worlds = NodeVolumeLimits(cluster).filter_question(pod, StatusTable()).worlds(np.array([1, 0]))
    kept = worlds.select(np.array([1]))
    for name, sign in changes:
        for world in (0, 1):
            worlds.change(np.array([world]), np.array([pods[name].slot]), sign)
    verdict = worlds.verdict()
    assert [verdict.statuses[which] for which in verdict.which] == [None, expected], what
    chosen = worlds.select(np.array([1])).verdict()
    assert chosen.statuses[int(chosen.which[0])] == expected
    assert kept.verdict().statuses[int(kept.verdict().which[0])] == BAD_EBS, "copies are independent"


def test_a_volume_that_is_attached_counts_without_its_users() -> None:
    cluster = a_cluster(
        *NODES, *CLAIMS, a_pod("u", node="n", volumes=["a"]), an_attachment("t", node="n", volume="pv-a")
    )
    pod = cluster.reader.read(a_pod("p", volumes=["b", "c"]))
    worlds = NodeVolumeLimits(cluster).filter_question(pod, StatusTable()).worlds(np.array([0]))
    for sign in (-1, 1):
        worlds.change(np.array([0]), np.array([cluster.table.pods["default-u"].slot]), sign)
        assert worlds.verdict().which.tolist() == [1]


# -- events


@pytest.mark.parametrize(
    ("what", "pod", "event", "old", "new", "expected"),
    [
        ("any CSINode that comes", ["c"], (Resource.CSI_NODE, Action.ADD), None, a_csi_node("n"), Hint.QUEUE),
        (
            "a raised limit",
            ["c"],
            (Resource.CSI_NODE, Action.UPDATE),
            a_csi_node("n", {DRIVER: 1}),
            a_csi_node("n", {DRIVER: 2}),
            Hint.QUEUE,
        ),
        (
            "a lowered one",
            ["c"],
            (Resource.CSI_NODE, Action.UPDATE),
            a_csi_node("n", {DRIVER: 2, EBS: None}),
            a_csi_node("n", {DRIVER: 1, EBS: 0}),
            Hint.QUEUE_SKIP,
        ),
        (
            "a new driver with a limit",
            ["c"],
            (Resource.CSI_NODE, Action.UPDATE),
            a_csi_node("n"),
            a_csi_node("n", {DRIVER: 1}),
            Hint.QUEUE,
        ),
        ("a user that goes", ["c"], (Resource.ASSIGNED_POD, Action.DELETE), users("x"), None, Hint.QUEUE),
        (
            "a pod without volumes",
            ["c"],
            (Resource.ASSIGNED_POD, Action.DELETE),
            a_pod("u", node="n"),
            None,
            Hint.QUEUE_SKIP,
        ),
        (
            "a pod that was nowhere",
            ["c"],
            (Resource.UNSCHEDULED_POD, Action.DELETE),
            a_pod("u", volumes=["x"]),
            None,
            Hint.QUEUE_SKIP,
        ),
        (
            "a pod that was promised a node",
            ["c"],
            (Resource.UNSCHEDULED_POD, Action.DELETE),
            a_pod("u", nominated="n", volumes=["x"]),
            None,
            Hint.QUEUE,
        ),
        (
            "the pod's claim",
            ["c"],
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("c"),
            Hint.QUEUE,
        ),
        (
            "the claim of its ephemeral volume",
            [an_ephemeral_volume()],
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("p-scratch"),
            Hint.QUEUE,
        ),
        (
            "another claim",
            ["c", ebs("v")],
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("d"),
            Hint.QUEUE_SKIP,
        ),
        (
            "a claim in another namespace",
            ["c"],
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("c", namespace="else"),
            Hint.QUEUE_SKIP,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hints(
    what: str,
    pod: list[str | Volume],
    event: tuple[Resource, Action],
    old: ApiObject | None,
    new: ApiObject | None,
    expected: Hint,
) -> None:
    cluster = a_cluster()
    plugin = NodeVolumeLimits(cluster)
    assert hint(plugin, cluster, a_pod("p", volumes=pod), event, old, new) == expected, what


def detached(driver: str) -> VolumeAttachment:
    return an_attachment("t", node="n", volume="v", attacher=driver)


@pytest.mark.parametrize(
    ("volumes", "driver", "expected"),
    [
        pytest.param(["c"], DRIVER, Hint.QUEUE, id="a pod with a claim"),
        pytest.param([ebs("v")], EBS, Hint.QUEUE, id="an in-tree volume of the driver"),
        pytest.param([ebs("v")], DRIVER, Hint.QUEUE_SKIP, id="of another driver"),
        pytest.param([an_ephemeral_volume()], DRIVER, Hint.QUEUE_SKIP, id="an ephemeral volume, as in the reference"),
        pytest.param(
            [Volume(vsphere_volume=VsphereVirtualDiskVolumeSource(volume_path="v"))],
            "csi.vsphere.vmware.com",
            Hint.QUEUE,
            id="a volume that stays in-tree",
        ),
    ],
)
def test_hints_after_detaching(volumes: list[str | Volume], driver: str, expected: Hint) -> None:
    cluster = a_cluster()
    event = (Resource.VOLUME_ATTACHMENT, Action.DELETE)
    assert hint(NodeVolumeLimits(cluster), cluster, a_pod(volumes=volumes), event, detached(driver)) == expected


def test_a_hint_about_a_disk_nobody_understands_fails() -> None:
    cluster: ClusterState = a_cluster()
    with pytest.raises(ValueError, match=r"converting volume\(ebs\) from inline to csi: failed to translate"):
        hint(
            NodeVolumeLimits(cluster),
            cluster,
            a_pod(volumes=[ebs(BAD_ID)]),
            (Resource.VOLUME_ATTACHMENT, Action.DELETE),
            detached(EBS),
        )
