"""Which nodes are alike for devices: codes that are kept up tell the same as codes made anew."""

import msgspec

from kubesched.api.devices import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
    ResourceClaimStatus,
)
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import rebuilt
from kubesched.core.cluster.devices import device_tracker
from kubesched.core.devices import DeviceFeatures
from kubesched.testing import a_cluster, a_node
from kubesched.testing.devices import a_resource_claim, a_slice

FEATURES = DeviceFeatures()


def taking(name: str, pool: str, device: str) -> ResourceClaim:
    given = DeviceRequestAllocationResult(request="r", driver="gpu.example.com", pool=pool, device=device)
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(given,)))
    return msgspec.structs.replace(a_resource_claim(name), status=ResourceClaimStatus(allocation=allocation))


def alike(cluster: ClusterState) -> set[frozenset[str]]:
    """Return the nodes in groups of equal codes."""
    codes = cluster.devices(FEATURES).signature_codes()
    groups: dict[int, set[str]] = {}
    for row in cluster.table.present_rows().tolist():
        groups.setdefault(int(codes[row]), set()).add(cluster.table.names[row])
    return {frozenset(group) for group in groups.values()}


def groups(*texts: str) -> set[frozenset[str]]:
    return {frozenset(text.split()) for text in texts}


def test_nodes_with_the_same_devices_left_are_alike() -> None:
    cluster = a_cluster(
        *(a_node(f"n{i}") for i in range(4)), *(a_slice(f"s{i}", "d0", "d1", node=f"n{i}") for i in range(3))
    )
    assert alike(cluster) == groups("n0 n1 n2", "n3")
    cluster.add(taking("a", "n0", "d0"))
    assert alike(cluster) == groups("n0", "n1 n2", "n3")
    cluster.add(taking("b", "n1", "d0"))
    assert alike(cluster) == groups("n0 n1", "n2", "n3")
    cluster.claims.begin_allocation(taking("c", "n2", "d0"))
    assert alike(cluster) == groups("n0 n1 n2", "n3")
    cluster.claims.end_allocation("default/c")
    cluster.remove(a_resource_claim("a"))
    assert alike(cluster) == groups("n0 n2", "n1", "n3")
    cluster.add(a_slice("s0", "d0", node="n0"))
    assert alike(cluster) == groups("n0", "n2", "n1", "n3")
    assert alike(cluster) == alike(rebuilt(cluster))


def test_a_change_of_a_shared_pool_leaves_alike_what_was_alike() -> None:
    cluster = a_cluster(
        *(a_node(f"n{i}", zone="ab"[i % 2]) for i in range(6)),
        a_slice("fabric", "f0", "f1", nodes="topology.kubernetes.io/zone=a"),
        a_slice("s0", "d0", node="n0"),
    )
    assert alike(cluster) == groups("n0", "n2 n4", "n1 n3 n5")
    before = cluster.devices(FEATURES).signature_codes().tolist()
    cluster.add(taking("a", "fabric", "f0"))
    assert alike(cluster) == groups("n0", "n2 n4", "n1 n3 n5")
    after = cluster.devices(FEATURES).signature_codes().tolist()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, False, True, False, True, False]


def test_a_node_with_part_of_a_shared_pool_to_itself_is_looked_at_by_itself() -> None:
    cluster = a_cluster(
        a_node("n0", zone="a"),
        a_node("n1", zone="a"),
        a_slice("s0", "d0", "d1", node="n0", pool="p0", slices=2),
        # the other slice of the pool has no devices, and is for other nodes
        a_slice("t0", nodes="topology.kubernetes.io/zone=b", pool="p0", slices=2),
        a_slice("s1", "d0", "d1", node="n1", pool="p1"),
    )
    before = alike(cluster)
    cluster.add(taking("a", "p0", "d0"))
    assert alike(cluster) == alike(rebuilt(cluster)) == groups("n0", "n1"), before


def test_nodes_that_come_change_and_go() -> None:
    cluster = a_cluster(a_node("n0", zone="a"), a_slice("fabric", "f0", nodes="topology.kubernetes.io/zone=a"))
    assert alike(cluster) == groups("n0")
    for number in range(1, 80):
        cluster.add(a_node(f"n{number}", zone="b"))
    assert len(alike(cluster)) == 2
    cluster.add(a_node("n1", zone="a"))
    assert frozenset({"n0", "n1"}) in alike(cluster)
    cluster.remove(a_node("n0"))
    cluster.add(a_node("new", zone="b"))
    assert frozenset({"n1"}) in alike(cluster)
    assert alike(cluster) == alike(rebuilt(cluster))


def test_numbering_starts_again_before_it_grows_without_end() -> None:
    cluster = a_cluster(a_node("n0"), a_slice("s", *(f"d{i}" for i in range(20)), node="n0"))
    tracker = cluster.devices(FEATURES)
    limit, device_tracker.CODES = device_tracker.CODES, 4
    try:
        numbering = tracker.numbering
        for number in range(12):
            cluster.add(taking(f"c{number}", "n0", f"d{number}"))
            tracker.signature_codes()
        assert tracker.numbering is not numbering
        assert tracker.code_count <= 6
    finally:
        device_tracker.CODES = limit


def test_all_who_have_the_same_features_share_a_tracker() -> None:
    cluster = a_cluster()
    assert cluster.devices(FEATURES) is cluster.devices(DeviceFeatures())
    assert cluster.devices(FEATURES) is not cluster.devices(DeviceFeatures(device_taints=False))
