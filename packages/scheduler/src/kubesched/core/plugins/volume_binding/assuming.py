"""Assumed volumes: Reserve assumes volumes and claims, Unreserve restores them.

From a plan to volumes that refer to their claims and claims that name the selected node, assumed in the cluster until
the API server has them.
"""

# upstream: volumebinding/binder.go, AssumePodVolumes, RevertAssumedPodVolumes (v1.36)

from typing import TypeVar

import msgspec

from kubesched.api.meta import ApiObject, ObjectReference
from kubesched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.storage.volumes import OutOfSyncError, is_bound_to
from kubesched.core.plugins.volume_binding.search import SELECTED_NODE, VolumePlan

T = TypeVar("T", bound=ApiObject)

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


class Reserved:
    """The volumes and claims that were assumed for a pod; PreBind replaces them by the written objects."""

    def __init__(self) -> None:
        self.bindings: list[tuple[PersistentVolumeClaim, PersistentVolume]] = []
        self.provisions: list[PersistentVolumeClaim] = []


def assume(cluster: ClusterState, plan: VolumePlan, node_name: str) -> Reserved:
    """Assume the volumes and claims of a plan; raises OutOfSyncError, and assumes nothing, if an object has changed."""
    reserved = Reserved()
    try:
        for claim, volume in plan.bindings:
            bound = bound_to(volume, claim)
            if bound is not volume:
                cluster.assume_storage(bound)
            reserved.bindings.append((claim, bound))
        for claim in plan.provisions:
            waiting = annotated(claim, SELECTED_NODE, node_name)
            cluster.assume_storage(waiting)
            reserved.provisions.append(waiting)
    except OutOfSyncError:
        take_back(cluster, reserved)
        raise
    return reserved


def take_back(cluster: ClusterState, reserved: Reserved) -> None:
    """Restore the assumed objects that have not been written; may be repeated."""
    for _, volume in reserved.bindings:
        cluster.restore_storage(volume)
    for claim in reserved.provisions:
        cluster.restore_storage(claim)


# upstream: component-helpers/storage/volume/pv_helpers.go, GetBindVolumeToClaim (v1.36)
def bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """Return the volume with a claimRef and the bound-by-controller annotation; the same object if it has both."""
    bound = volume
    old = volume.spec.claim_ref
    if old is None or (old.name, old.namespace, old.uid) != (claim.name, claim.namespace, claim.uid):
        reference = ObjectReference(
            kind="PersistentVolumeClaim",
            namespace=claim.namespace,
            name=claim.name,
            uid=claim.uid,
            api_version="v1",
            resource_version=claim.metadata.resource_version,
        )
        bound = msgspec.structs.replace(volume, spec=msgspec.structs.replace(volume.spec, claim_ref=reference))
    if not is_bound_to(volume, claim) and BOUND_BY_CONTROLLER not in volume.metadata.annotations:
        bound = annotated(bound, BOUND_BY_CONTROLLER, "yes")
    return bound


def annotated(obj: T, key: str, value: str) -> T:
    """Return an object with an annotation."""
    annotations = {**obj.metadata.annotations, key: value}
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, annotations=annotations))
