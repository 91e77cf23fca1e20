"""VolumeZone: bound volumes and nodes in the same zone."""

import pytest
from tests.support.asking import hint, rejections

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.plugin import UNCACHED
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import SKIP, Status, unresolvable
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.plugins.volume_zone import VolumeZone
from kubesched.testing import a_claim, a_cluster, a_node, a_pod, a_storage_class, a_volume

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
CONFLICT = unresolvable("node(s) had no available volume zone")
POD = a_pod("p", volumes=["claim"])


def with_volume(labels: dict[str, str], *nodes: ApiObject) -> ClusterState:
    return a_cluster(a_claim("claim", bound_to="volume"), a_volume("volume", labels=labels), *nodes)


@pytest.mark.parametrize(
    ("volume", "node", "fits"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "a"}, True, id="the same zone"),
        pytest.param({ZONE: "a"}, {ZONE: "b"}, False, id="another zone"),
        pytest.param({ZONE: "a__b"}, {ZONE: "b"}, True, id="one of several zones"),
        pytest.param({ZONE: "a__ b "}, {ZONE: "b"}, True, id="blanks around a zone do not count"),
        pytest.param({ZONE: "a__"}, {ZONE: "b"}, True, id="a label with an empty zone is ignored"),
        pytest.param({ZONE: ""}, {ZONE: "b"}, True, id="so is an empty label"),
        pytest.param({ZONE: "a"}, {}, True, id="a node without topology is everywhere"),
        pytest.param({ZONE: "a"}, {REGION: "r"}, False, id="a node with a region but no zone"),
        pytest.param({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False, id="zone and region both count"),
        pytest.param({OLD_ZONE: "a"}, {ZONE: "a"}, True, id="an old label matches today's"),
        pytest.param({OLD_ZONE: "a"}, {OLD_ZONE: "b", ZONE: "a"}, False, id="but not if the node has the old one"),
        pytest.param({OLD_REGION: "r"}, {REGION: "r"}, True, id="an old region label matches today's"),
        pytest.param({ZONE: "a"}, {OLD_ZONE: "a"}, False, id="today's label does not match an old one"),
        pytest.param({"zone": "a"}, {ZONE: "b"}, True, id="other labels do not matter"),
    ],
)
def test_labels(volume: dict[str, str], node: dict[str, str], fits: bool) -> None:
    cluster = with_volume(volume, a_node("n", labels=node))
    assert rejections(VolumeZone(cluster), cluster, POD) == ({} if fits else {"n": CONFLICT})


@pytest.mark.parametrize(
    ("objects", "outcome"),
    [
        pytest.param([], unresolvable('persistentvolumeclaim "claim" not found'), id="no claim"),
        pytest.param(
            [a_claim("claim", bound_to="volume")],
            unresolvable('persistentvolume "volume" not found'),
            id="a claim whose volume is gone",
        ),
        pytest.param(
            [a_claim("claim", storage_class=None)],
            unresolvable("PersistentVolumeClaim had no pv name and storageClass name"),
            id="neither a volume nor a class",
        ),
        pytest.param(
            [a_claim("claim", storage_class="fast")],
            unresolvable('storageclass.storage.k8s.io "fast" not found'),
            id="an unknown class",
        ),
        pytest.param(
            [a_claim("claim"), a_storage_class(binding_mode=None)],
            unresolvable('VolumeBindingMode not set for StorageClass "local"'),
            id="a class that does not say when it binds",
        ),
        pytest.param(
            [a_claim("claim"), a_storage_class(binding_mode="Immediate")],
            unresolvable("PersistentVolume had no name"),
            id="a claim that should have been bound",
        ),
        pytest.param([a_claim("claim"), a_storage_class()], SKIP, id="a claim that waits for its first consumer"),
        pytest.param(
            [a_claim("claim", bound_to="volume"), a_volume("volume")], SKIP, id="a volume without topology labels"
        ),
        pytest.param(
            [a_claim("claim", bound_to="volume"), a_volume("volume", labels={ZONE: "a"})],
            None,
            id="a volume with a zone",
        ),
    ],
)
def test_claims(objects: list[ApiObject], outcome: Status | None) -> None:
    cluster = a_cluster(a_node("n", zone="a"), *objects)
    plugin, pod = VolumeZone(cluster), cluster.reader.read(POD)
    assert plugin.pre_filter(CycleState(), pod) == outcome
    # where PreFilter is switched off, Filter finds out by itself
    assert rejections(plugin, cluster, POD) == ({"n": outcome} if outcome and outcome is not SKIP else {})
    assert (plugin.key(pod) is UNCACHED) is (outcome is not None and outcome is not SKIP)


def test_a_claim_without_a_name() -> None:
    cluster = a_cluster(a_node("n"))
    outcome = VolumeZone(cluster).pre_filter(CycleState(), cluster.reader.read(a_pod(volumes=[""])))
    assert outcome == unresolvable("PersistentVolumeClaim had no name")


def test_claims_in_one_zone_share_the_answer() -> None:
    cluster = a_cluster(
        a_claim("one", bound_to="v1"),
        a_claim("two", bound_to="v2"),
        a_volume("v1", labels={ZONE: "a"}),
        a_volume("v2", labels={ZONE: "a"}),
    )
    plugin = VolumeZone(cluster)
    one, two, none = (cluster.reader.read(a_pod(volumes=names)) for names in (["one"], ["two"], []))
    assert plugin.key(one) == plugin.key(two) != plugin.key(none) == ()


def test_what_was_asked_stays_asked() -> None:
    """A kept question answers for a zone, whatever becomes of the claim of the pod it was made for."""
    cluster = with_volume({ZONE: "a"}, a_node("n", zone="b"))
    plugin, pod, cycle = VolumeZone(cluster), cluster.reader.read(POD), CycleState()
    plugin.pre_filter(cycle, pod)
    cluster.add(a_volume("volume", labels={ZONE: "b"}))
    assert plugin.filter_nodes(cycle, pod, Nodes(cluster.table)).which.tolist() == [1]


@pytest.mark.parametrize(
    ("event", "old", "new", "expected"),
    [
        pytest.param(
            (Resource.STORAGE_CLASS, Action.ADD), None, a_storage_class(), Hint.QUEUE, id="a class that waits"
        ),
        pytest.param(
            (Resource.STORAGE_CLASS, Action.ADD),
            None,
            a_storage_class(binding_mode="Immediate"),
            Hint.QUEUE_SKIP,
            id="a class that does not wait",
        ),
        pytest.param((Resource.STORAGE_CLASS, Action.UPDATE), None, a_storage_class(), None, id="classes never change"),
        pytest.param((Resource.NODE, Action.ADD), None, a_node(), Hint.QUEUE, id="any new node"),
        pytest.param(
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), None, a_claim("claim"), Hint.QUEUE, id="the pod's claim"
        ),
        pytest.param(
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.UPDATE),
            a_claim("other"),
            a_claim("other"),
            Hint.QUEUE_SKIP,
            id="another claim",
        ),
        pytest.param(
            (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
            None,
            a_claim("claim", namespace="else"),
            Hint.QUEUE_SKIP,
            id="a claim of the name in another namespace",
        ),
        pytest.param((Resource.PERSISTENT_VOLUME, Action.ADD), None, a_volume(), Hint.QUEUE, id="any new volume"),
        pytest.param(
            (Resource.PERSISTENT_VOLUME, Action.UPDATE),
            a_volume(labels={ZONE: "a"}),
            a_volume(labels={ZONE: "a__b"}),
            Hint.QUEUE,
            id="a volume that moved",
        ),
        pytest.param(
            (Resource.PERSISTENT_VOLUME, Action.UPDATE),
            a_volume(labels={ZONE: "a"}),
            a_volume(labels={ZONE: "a", "x": "y"}),
            Hint.QUEUE_SKIP,
            id="a volume that stayed",
        ),
    ],
)
def test_hints(event: tuple[Resource, Action], old: ApiObject | None, new: ApiObject, expected: Hint | None) -> None:
    cluster = a_cluster()
    assert hint(VolumeZone(cluster), cluster, POD, event, old, new) == expected
