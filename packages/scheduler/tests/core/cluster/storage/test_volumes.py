"""Volumes and claims: what is reported, what is assumed, and how one ends the other."""

import msgspec
import pytest

from kubesched.api.meta import ObjectReference
from kubesched.api.storage import PersistentVolume
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences, rebuilt
from kubesched.core.cluster.storage.volumes import OutOfSyncError
from kubesched.testing import a_claim, a_cluster, a_node, a_storage_pool, a_volume
from kubesched.testing.shorthand import HOSTNAME


def free(cluster: ClusterState, class_name: str = "local") -> list[str]:
    return sorted(volume.name for volume in cluster.volumes.of_class(class_name).free)


def meant(cluster: ClusterState, claim: str = "c") -> list[str]:
    return sorted(volume.name for volume in cluster.volumes.of_class("local").referring_to(a_claim(claim)))


def claimed(volume: PersistentVolume, claim: str = "c") -> PersistentVolume:
    reference = ObjectReference(namespace="default", name=claim, uid=f"default-{claim}")
    return msgspec.structs.replace(volume, spec=msgspec.structs.replace(volume.spec, claim_ref=reference))


def consistent(cluster: ClusterState) -> None:
    assert list(differences(content(cluster)["volumes"], content(rebuilt(cluster))["volumes"])) == []


def test_which_volumes_are_free() -> None:
    cluster = a_cluster(
        a_volume("free"),
        a_volume("pending", phase="Pending"),
        a_volume("going", terminating=True),
        a_volume("mine", claimed_by="default/c", claim_uid="default-c"),
        a_volume("anybody's of that name", claimed_by="default/c"),
        a_volume("somebody else's", claimed_by="default/c", claim_uid="of another"),
        a_volume("of another namespace", claimed_by="other/c"),
        a_volume("of another class", storage_class="other"),
    )
    assert free(cluster) == ["free"]
    assert meant(cluster) == ["anybody's of that name", "mine"]
    assert free(cluster, "other") == ["of another class"]
    assert free(cluster, "unknown") == []
    consistent(cluster)


def test_an_assumption_hides_what_was_reported_until_it_is_taken_back() -> None:
    volume = a_volume("v", version="1")
    cluster = a_cluster(volume)
    before = content(cluster)
    cluster.volumes.assume(claimed(volume))
    assert (free(cluster), meant(cluster)) == ([], ["v"])
    assert cluster.volumes.volume("v") == claimed(volume)
    assert cluster.objects.get(PersistentVolume, "v") is volume
    consistent(cluster)
    cluster.volumes.restore(claimed(volume))
    cluster.volumes.restore(claimed(volume))
    assert (free(cluster), meant(cluster)) == (["v"], [])
    assert list(differences(content(cluster), before)) == []


def test_another_version_ends_an_assumption_and_the_same_does_not() -> None:
    volume, claim = a_volume("v", version="1"), a_claim("c", version="1")
    cluster = a_cluster(volume, claim)
    selected = a_claim("c", version="1", selected_node="n1")
    cluster.volumes.assume(claimed(volume))
    cluster.volumes.assume(selected)
    cluster.add(volume)
    cluster.add(claim)
    assert cluster.volumes.claim("default/c") is selected
    assert meant(cluster) == ["v"]
    cluster.add(a_volume("v", version="2"))
    cluster.add(a_claim("c", version="2"))
    assert cluster.volumes.claim("default/c") == a_claim("c", version="2")
    assert free(cluster) == ["v"]
    # too late: it was about another version
    cluster.volumes.restore(claimed(volume))
    cluster.volumes.restore(selected)
    assert free(cluster) == ["v"]
    consistent(cluster)


def test_what_was_written_is_not_restored() -> None:
    claim = a_claim("c", version="1", selected_node="n1")
    cluster = a_cluster(a_claim("c", version="1"))
    cluster.volumes.assume(claim)
    # the API server has version 2 already, and its report will come
    cluster.volumes.restore(a_claim("c", version="2", selected_node="n1"))
    assert cluster.volumes.claim("default/c") is claim


def test_an_assumption_about_another_version_is_refused() -> None:
    cluster = a_cluster(a_volume("v", version="2"), a_claim("c", version="2"))
    with pytest.raises(OutOfSyncError, match=r'"v" is out of sync \(stored: 2, assume: 1\)'):
        cluster.volumes.assume(a_volume("v", version="1"))
    with pytest.raises(OutOfSyncError, match=r'"default/c" is out of sync \(stored: 2, assume: 1\)'):
        cluster.volumes.assume(a_claim("c", version="1"))
    with pytest.raises(OutOfSyncError, match='persistentvolumes "w" not found'):
        cluster.volumes.assume(a_volume("w"))
    with pytest.raises(OutOfSyncError, match='persistentvolumeclaims "default/d" not found'):
        cluster.volumes.assume(a_claim("d"))


def test_what_is_gone_is_not_assumed() -> None:
    volume, claim = a_volume("v"), a_claim("c")
    cluster = a_cluster(volume, claim)
    cluster.volumes.assume(claimed(volume))
    cluster.volumes.assume(claim)
    cluster.remove(volume)
    cluster.remove(claim)
    assert cluster.volumes.volume("v") is None
    assert cluster.volumes.claim("default/c") is None
    assert cluster.volumes.assumed() == ([], [])
    assert meant(cluster) == []
    # nothing happens to what is not there
    cluster.remove(volume)
    consistent(cluster)


def test_a_volume_may_change_its_class_and_its_size() -> None:
    cluster = a_cluster(a_node("n1"), a_volume("v", size="1Gi"), a_volume("w", size="2Gi"))
    volumes = cluster.volumes.of_class("local").free
    volumes.settle()
    assert [volume.name for volume in volumes.things] == ["v", "w"]
    cluster.add(a_volume("v", size="3Gi"))
    volumes.settle()
    assert [volume.name for volume in volumes.things] == ["w", "v"]
    cluster.add(a_volume("v", storage_class="other"))
    assert (free(cluster), free(cluster, "other")) == (["w"], ["v"])
    consistent(cluster)


def test_places_are_given_anew_when_most_are_empty() -> None:
    cluster = a_cluster(*(a_volume(f"v{i}") for i in range(600)))
    volumes = cluster.volumes.of_class("local").free
    volumes.settle()
    for i in range(500):
        cluster.remove(a_volume(f"v{i}"))
    assert (len(volumes), len(volumes.things)) == (100, 600)
    volumes.settle()
    assert (len(volumes), len(volumes.things)) == (100, 100)


def test_storage_pools_follow_their_reports() -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"))
    rows = slice(0, 2)

    def enough(size: int) -> list[bool]:
        pools = cluster.volumes.pools("csi")
        return [position < len(pools.things) for position in pools.first(rows, size).tolist()]

    assert enough(0) == [False, False]
    cluster.add(a_storage_pool("one", capacity=10, nodes={HOSTNAME: "n1"}))
    cluster.add(a_storage_pool("all", capacity=100, largest=5))
    cluster.add(a_storage_pool("unknown", capacity=None))
    cluster.add(a_storage_pool("nowhere", nodes=None))
    cluster.add(a_storage_pool("of another class", storage_class="other"))
    assert [enough(size) for size in (5, 6, 11)] == [[True, True], [True, False], [False, False]]
    cluster.add(a_storage_pool("one", capacity=20, nodes={HOSTNAME: "n1"}))
    assert enough(11) == [True, False]
    cluster.add(a_storage_pool("one", capacity=20, nodes={HOSTNAME: "n2"}))
    assert enough(11) == [False, True]
    cluster.remove(a_storage_pool("all"))
    assert enough(5) == [False, True]
    consistent(cluster)
