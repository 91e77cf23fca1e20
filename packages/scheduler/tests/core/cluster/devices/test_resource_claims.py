"""Claims as reported, as assumed and with what is in flight: one view, and followers that always know."""

from collections.abc import Hashable

import msgspec

from kubesched.api.devices import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
    ResourceClaimStatus,
)
from kubesched.api.meta import OwnerReference
from kubesched.core.cluster.comparison import content
from kubesched.core.cluster.devices.resource_claims import EXTENDED_RESOURCE_CLAIM, IN_FLIGHT
from kubesched.testing import a_cluster
from kubesched.testing.devices import a_resource_claim


class Follower:
    """Remembers what is held."""

    def __init__(self) -> None:
        self.held: dict[Hashable, AllocationResult] = {}

    def put(self, key: Hashable, allocation: AllocationResult | None) -> None:
        if allocation is None:
            self.held.pop(key, None)
        else:
            self.held[key] = allocation


def holding(device: str) -> AllocationResult:
    given = DeviceRequestAllocationResult(request="r", driver="d", pool="p", device=device)
    return AllocationResult(devices=DeviceAllocationResult(results=(given,)))


def a_claim(version: str = "", device: str = "", uid: str = "u") -> ResourceClaim:
    claim = a_resource_claim("c", allocation=holding(device) if device else None)
    return msgspec.structs.replace(
        claim, metadata=msgspec.structs.replace(claim.metadata, uid=uid, resource_version=version)
    )


def test_an_assumed_claim_hides_older_reports_until_one_is_as_new() -> None:
    claims = a_cluster(a_claim("5")).claims
    follower = Follower()
    claims.follow(follower)
    assert claims.assume(a_claim("7", "gpu-0"))
    assert claims.get("default/c") == a_claim("7", "gpu-0")
    assert claims.all() == [a_claim("7", "gpu-0")]
    claims.report(a_claim("6"))
    assert claims.get("default/c") == a_claim("7", "gpu-0")
    assert follower.held == {"default/c": holding("gpu-0")}
    claims.report(a_claim("8"))
    assert claims.get("default/c") == a_claim("8")
    assert follower.held == {}


def test_what_is_older_unknown_or_of_another_object_is_not_assumed() -> None:
    claims = a_cluster(a_claim("5")).claims
    assert not claims.assume(a_claim("4", "gpu-0"))
    assert not claims.assume(a_claim("9", "gpu-0", uid="other"))
    assert not claims.assume(a_resource_claim("another"))
    assert claims.get("default/c") == a_claim("5")


def test_a_claim_that_is_created_anew_is_not_taken_for_the_assumed_one() -> None:
    claims = a_cluster(a_claim("5")).claims
    claims.assume(a_claim("7", "gpu-0"))
    claims.report(a_claim("6", uid="other"))
    assert claims.get("default/c") == a_claim("6", uid="other")


def test_a_claim_that_is_gone_is_gone_as_assumed_too() -> None:
    cluster = a_cluster(a_claim("5"))
    follower = Follower()
    cluster.claims.follow(follower)
    cluster.claims.assume(a_claim("7", "gpu-0"))
    cluster.remove(a_claim("7"))
    assert cluster.claims.get("default/c") is None
    assert follower.held == {}


def test_an_allocation_in_flight_is_held_until_the_last_sharer_lets_go() -> None:
    claims = a_cluster(a_claim()).claims
    follower = Follower()
    claims.follow(follower)
    claims.begin_allocation(a_claim("", "gpu-0"))
    claims.begin_allocation(a_claim("", "gpu-1"))
    assert claims.pending_allocation("u") == holding("gpu-0")
    assert follower.held == {(IN_FLIGHT, "u"): holding("gpu-0")}
    assert not claims.end_allocation("u")
    assert claims.end_allocation("u")
    assert not claims.end_allocation("u")
    assert claims.pending_allocation("u") is None
    assert follower.held == {}


def test_letting_go_for_all_does_not_wait_for_sharers() -> None:
    claims = a_cluster(a_claim()).claims
    claims.begin_allocation(a_claim("", "gpu-0"))
    claims.begin_allocation(a_claim("", "gpu-0"))
    assert claims.end_allocation("u", for_all=True)


def test_a_late_follower_is_told_of_everything() -> None:
    claims = a_cluster(a_claim("1", "gpu-0")).claims
    other = msgspec.structs.replace(a_resource_claim("other"), status=ResourceClaimStatus(allocation=holding("gpu-1")))
    claims.begin_allocation(other)
    follower = Follower()
    claims.follow(follower)
    assert follower.held == {"default/c": holding("gpu-0"), (IN_FLIGHT, other.uid): holding("gpu-1")}


def test_extended_resource_claims_are_found_by_the_pod_that_owns_them() -> None:
    claim = a_claim("1")
    owner = OwnerReference(kind="Pod", name="p", uid="pod-1", controller=True)
    meta = msgspec.structs.replace(
        claim.metadata, annotations={EXTENDED_RESOURCE_CLAIM: "true"}, owner_references=(owner,)
    )
    extended_resource_claim = msgspec.structs.replace(claim, metadata=meta)
    cluster = a_cluster(extended_resource_claim, a_resource_claim("plain"))
    assert cluster.claims.extended_resource_claims_of("pod-1") == [extended_resource_claim]
    assert cluster.claims.extended_resource_claims_of("pod-2") == []
    cluster.remove(extended_resource_claim)
    assert cluster.claims.extended_resource_claims_of("pod-1") == []


def test_begin_and_end_leave_no_trace() -> None:
    cluster = a_cluster(a_claim("1"))
    before = content(cluster)
    cluster.claims.begin_allocation(a_claim("1", "gpu-0"))
    assert content(cluster) != before
    cluster.claims.end_allocation("u")
    assert content(cluster) == before
