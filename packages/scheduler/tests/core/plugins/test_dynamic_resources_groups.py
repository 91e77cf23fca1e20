"""Claims that a group of pods shares: which are released when none of the group's pods has a node."""

import msgspec
import pytest
from tests.support.pod_groups import a_group, member

from kubesched.api.devices import AllocationResult, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from kubesched.api.meta import OwnerReference
from kubesched.api.scheduling import PodGroup, PodGroupResourceClaim, PodGroupResourceClaimStatus, PodGroupStatus
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.values.effects import Patch
from kubesched.core.plugins.dynamic_resources.pod_claims import POD_GROUPS, SCHEDULING_GROUP, PodClaimFinder
from kubesched.core.plugins.dynamic_resources.releasing import GROUP_UNRESERVED, GroupReservations, Release
from kubesched.testing import a_node
from kubesched.testing.devices import a_device_request, a_resource_claim

OF_THE_GROUP = ResourceClaimConsumerReference(api_group=SCHEDULING_GROUP, resource=POD_GROUPS, name="g", uid="group-g")
NAMED = PodGroupResourceClaim(name="gpus", resource_claim_name="shared")
FROM_A_TEMPLATE = PodGroupResourceClaim(name="gpus", resource_claim_template_name="template")
NEITHER = PodGroupResourceClaim(name="gpus")


def a_reserved_claim(*, allocated: bool = True, reserved: bool = True, owner: str = "") -> ResourceClaim:
    """Return the claim `shared`, allocated, reserved for the group, controlled by the object with a UID."""
    claim = a_resource_claim("shared", a_device_request(), allocation=AllocationResult() if allocated else None)
    status = ResourceClaimStatus(allocation=claim.status.allocation, reserved_for=(OF_THE_GROUP,) if reserved else ())
    owners = (OwnerReference(kind="PodGroup", name="g", uid=owner, controller=True),) if owner else ()
    metadata = msgspec.structs.replace(claim.metadata, owner_references=owners)
    return msgspec.structs.replace(claim, status=status, metadata=metadata)


def with_generated(group: PodGroup, name: str | None) -> PodGroup:
    """Return a group whose controller has generated a claim, or found that none is needed."""
    generated = (PodGroupResourceClaimStatus(name="gpus", resource_claim_name=name),)
    return msgspec.structs.replace(group, status=PodGroupStatus(resource_claim_statuses=generated))


def released(*objects: PodGroup | ResourceClaim, placed: bool = False, of_groups: bool = True) -> Release | None:
    """Return what is released for a pod of the group `g`."""
    cluster = ClusterState()
    cluster.add(a_node("n"))
    for each in objects:
        cluster.add(each)
    if placed:
        cluster.add(member("other", node="n"))
    reservations = GroupReservations(cluster, PodClaimFinder(cluster, of_groups=of_groups))
    return reservations.release(cluster.reader.read(member("pod")))


@pytest.mark.parametrize(
    "objects",
    [
        (a_group(resource_claims=(NAMED,)), a_reserved_claim()),
        (with_generated(a_group(resource_claims=(FROM_A_TEMPLATE,)), "shared"), a_reserved_claim(owner="group-g")),
    ],
    ids=["a claim that the group names", "a claim that was generated for the group"],
)
def test_the_group_is_removed_from_its_claim(objects: tuple[PodGroup | ResourceClaim, ...]) -> None:
    release = released(*objects)
    assert release is not None
    assert release.status == GROUP_UNRESERVED
    (patch,) = release.effects
    assert isinstance(patch, Patch)
    assert (patch.name, patch.subresource) == ("shared", "status")
    assert patch.body == {
        "metadata": {"uid": "default/shared"},
        "status": {"reservedFor": [{"$patch": "delete", "uid": "group-g"}]},
    }


@pytest.mark.parametrize(
    "objects",
    [
        (a_group(resource_claims=(NAMED,)), a_reserved_claim(reserved=False)),
        (a_group(resource_claims=(NAMED,)), a_reserved_claim(allocated=False)),
        (a_group(),),
        (with_generated(a_group(resource_claims=(FROM_A_TEMPLATE,)), None), a_reserved_claim()),
        (with_generated(a_group(resource_claims=(FROM_A_TEMPLATE,)), "shared"), a_reserved_claim(owner="another")),
    ],
    ids=[
        "reserved for nobody",
        "not allocated",
        "a group without claims",
        "no claim is needed",
        "a claim that was generated for somebody else",
    ],
)
def test_nothing_is_released(objects: tuple[PodGroup | ResourceClaim, ...]) -> None:
    assert released(*objects) is None


def test_a_group_with_a_placed_pod_keeps_its_claim() -> None:
    assert released(a_group(resource_claims=(NAMED,)), a_reserved_claim(), placed=True) is None


def test_without_the_gate_groups_share_nothing() -> None:
    assert released(a_group(resource_claims=(NAMED,)), a_reserved_claim(), of_groups=False) is None


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ((), 'podgroup.scheduling.k8s.io "g" not found'),
        ((a_group(resource_claims=(NAMED,)),), 'could not find ResourceClaim "default/shared"'),
        (
            (a_group(resource_claims=(NEITHER,)),),
            "PodGroup default/g, spec.resourceClaim gpus: none of the supported fields are set",
        ),
        ((a_group(resource_claims=(FROM_A_TEMPLATE,)),), "PodGroup default/g: ResourceClaim not created yet"),
    ],
    ids=["no such group", "no such claim", "an entry that names nothing", "a claim that is still to be generated"],
)
def test_what_is_missing_is_told(objects: tuple[PodGroup, ...], message: str) -> None:
    release = released(*objects)
    assert release is not None
    assert release.status.message == message
    assert release.effects == ()
