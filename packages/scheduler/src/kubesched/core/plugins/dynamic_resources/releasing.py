"""Releasing claims: to make a pod schedulable, and after a pod with a node was not bound.

From the state of a cycle to effects that undo what this or an earlier attempt wrote to the API server.
"""

# upstream: dynamicresources.go, PostFilter, Unreserve; extendeddynamicresources.go, deleteClaim (v1.36)

from typing import NamedTuple

import msgspec

from kubesched.api.devices import ResourceClaim, ResourceClaimStatus
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.effects import Delete, Effect, Patch, Write
from kubesched.core.framework.values.status import Status, error, unresolvable, unschedulable
from kubesched.core.plugins.dynamic_resources.pod_claims import NotReadyError, PodClaimFinder, group_name_of
from kubesched.core.plugins.dynamic_resources.state import PodDevices

FINALIZER = "resource.kubernetes.io/delete-protection"
CLAIM = ResourceClaim.__name__

NOTHING_NEW = unschedulable("no new claims to deallocate")
STILL_NOT = unschedulable("still not schedulable")
DEALLOCATED = unschedulable("deallocation of ResourceClaim completed")
DELETED = unschedulable("deletion of ResourceClaim completed")
GROUP_UNRESERVED = unresolvable("ResourceClaim unreserved for PodGroup")


class Release(NamedTuple):
    """The effects that release a claim, and PostFilter's status."""

    status: Status
    effects: tuple[Effect, ...] = ()


# upstream picks any claim, in the random order of a set; here it is the first
def release_for(pod: PodInfo, state: PodDevices, unavailable: list[int]) -> Release | None:
    """Return the release of an unused claim whose allocation cannot be used on a node, or None."""
    for index in unavailable:
        claim = state.claims[index]
        users = claim.status.reserved_for
        if claim.status.allocation is None:
            # allocated for another pod of the group, and not written yet
            continue
        if state.is_extended_resource_claim(index) or not all(user.uid == pod.uid for user in users) or len(users) > 1:
            continue
        freed = msgspec.structs.replace(claim, status=ResourceClaimStatus())
        return Release(DEALLOCATED, (Write(freed, subresource="status", base=claim),))
    extended = state.extended_resource_claim
    if extended is not None and state.was_written:
        return Release(DELETED, deletion(extended))
    return None


def deletion(claim: ResourceClaim) -> tuple[Effect, ...]:
    """Return the effects that delete a claim of the scheduler: first they remove its finalizer."""
    meta = claim.metadata
    unprotected = Patch(
        CLAIM,
        meta.namespace,
        meta.name,
        {"metadata": {"uid": meta.uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER]}},
    )
    return (
        *((unprotected,) if FINALIZER in meta.finalizers else ()),
        Delete(CLAIM, meta.namespace, meta.name, meta.uid),
    )


def without_consumer(claim: ResourceClaim, uid: str) -> Patch:
    """Return the patch that removes one consumer from a claim's reservedFor, regardless of other changes."""
    body = {"metadata": {"uid": claim.uid}, "status": {"reservedFor": [{"$patch": "delete", "uid": uid}]}}
    return Patch(CLAIM, claim.namespace, claim.name, body, subresource="status")


class GroupReservations:
    """Releases claims that are reserved for a group of which no pod was scheduled."""

    def __init__(self, cluster: ClusterState, finder: PodClaimFinder) -> None:
        self._table = cluster.table
        self._finder = finder

    def release(self, pod: PodInfo) -> Release | None:
        """Return the release of a claim that is reserved for the pod's group, none of whose pods has a node."""
        if not self._finder.of_groups or not group_name_of(pod) or self._has_placed_pods(pod):
            return None
        try:
            group = self._finder.pod_group(pod)
            assert group is not None, "the pod is in a group"
            for claim in self._finder.group_claims(group):
                if claim.status.allocation is not None and self._finder.is_reserved_for(pod, claim):
                    return Release(GROUP_UNRESERVED, (without_consumer(claim, group.uid),))
        except NotReadyError as not_ready:
            return Release(error(str(not_ready)))
        return None

    def _has_placed_pods(self, pod: PodInfo) -> bool:
        wanted = pod.namespace, group_name_of(pod)
        return any((other.namespace, group_name_of(other)) == wanted for other in self._table.pods.values())
