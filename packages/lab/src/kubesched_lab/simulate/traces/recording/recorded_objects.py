"""The recorded part of an object: the fields that the scheduler reads, without its decisions.

From an object as a cluster reports it to the object to write, None if the object follows only from decisions. Times in
objects count from the first of January 2026, which is the beginning of simulated time.

After the beginning, these fields are decisions, which are not replayed: the node of a pod; the volume of a claim whose
class waits for the first consumer, and that volume; the allocation of a ResourceClaim; attachments of volumes.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec

from kubesched.api.devices import ResourceClaim, ResourceClaimStatus
from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject, Condition, ObjectMeta
from kubesched.api.nodes import Namespace, NamespaceStatus, Node, NodeCondition, NodeSpec, NodeStatus
from kubesched.api.owners import ReplicaSet, ReplicasStatus, ReplicationController, StatefulSet
from kubesched.api.pods import Pod, PodStatus
from kubesched.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from kubesched.api.scheduling import PodGroup
from kubesched.api.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeStatus,
    StorageClass,
    VolumeAttachment,
)
from kubesched.sources.reduction import reduced
from kubesched.sources.unread import UNREAD_KINDS

replace = msgspec.structs.replace
T = TypeVar("T", bound=ApiObject)

# kinds that the scheduler reads
RECORDED_KINDS = frozenset(KINDS) - UNREAD_KINDS
WAITS_FOR_CONSUMER = "WaitForFirstConsumer"
# annotations of a claim that follow from scheduling
_OF_BINDING = (
    "volume.kubernetes.io/selected-node",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
)
# labels that a binding copies from the node to the pod
_OF_NODES = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
MIRROR = "kubernetes.io/config.mirror"


def recorded(obj: T, shift: timedelta) -> T:
    """Return the recorded form of an object at the beginning, with shifted times."""
    obj = reduced(obj)
    obj = replace(obj, metadata=_meta(obj.metadata, shift))
    match obj:
        case Pod():
            return replace(obj, status=_status_of_bound(obj.status, shift) if obj.spec.node_name else _pending(obj))
        case Node():
            return replace(obj, spec=_node_spec(obj.spec), status=_node_status(obj.status))
        case Namespace():
            return replace(obj, status=NamespaceStatus())
        case PodDisruptionBudget():
            return replace(obj, status=PodDisruptionBudgetStatus(disruptions_allowed=obj.status.disruptions_allowed))
        case ReplicaSet() | StatefulSet() | ReplicationController():
            # the scheduler reads selectors
            return replace(obj, spec=replace(obj.spec, replicas=None), status=ReplicasStatus())
        case PodGroup():
            return replace(obj, status=replace(obj.status, conditions=()))
        case PersistentVolume():
            return replace(obj, status=PersistentVolumeStatus(phase=obj.status.phase))
        case PersistentVolumeClaim():
            return replace(obj, status=replace(obj.status, conditions=()))
    return obj


def undecided(obj: T, waiting_classes: Collection[str]) -> T | None:
    """Return a recorded object without the scheduler's decisions, None if nothing is left.

    `waiting_classes` are the names of StorageClasses that wait for the first consumer.
    """
    match obj:
        case Pod():
            labels = {key: value for key, value in obj.metadata.labels.items() if key not in _OF_NODES}
            return replace(
                obj,
                metadata=replace(obj.metadata, labels=labels),
                spec=replace(obj.spec, node_name=""),
                status=_pending(obj),
            )
        case PersistentVolumeClaim():
            if _class_of(obj) in waiting_classes:
                annotations = {key: value for key, value in obj.metadata.annotations.items() if key not in _OF_BINDING}
                return replace(
                    obj,
                    metadata=replace(obj.metadata, annotations=annotations),
                    spec=replace(obj.spec, volume_name=""),
                    status=PersistentVolumeClaimStatus(phase="Pending"),
                )
        case PersistentVolume():
            if obj.spec.claim_ref is not None and obj.spec.storage_class_name in waiting_classes:
                return None
        case ResourceClaim():
            return replace(obj, status=ResourceClaimStatus())
        case VolumeAttachment():
            return None
    return obj


def is_waiting_class(obj: ApiObject) -> bool:
    """Return whether an object is a StorageClass that waits for the first consumer."""
    return isinstance(obj, StorageClass) and obj.volume_binding_mode == WAITS_FOR_CONSUMER


def is_static(pod: Pod) -> bool:
    """Return whether the kubelet of its node created a pod, so that no scheduler has placed it."""
    owners = pod.metadata.owner_references
    return MIRROR in pod.metadata.annotations or any(owner.kind == "Node" for owner in owners)


def _meta(meta: ObjectMeta, shift: timedelta) -> ObjectMeta:
    return replace(
        meta,
        resource_version="",
        generate_name="",
        generation=0,
        finalizers=(),
        deletion_timestamp=None,
        creation_timestamp=_shifted(meta.creation_timestamp, shift),
    )


def _shifted(time: datetime | None, shift: timedelta) -> datetime | None:
    try:
        return None if time is None else time + shift
    except OverflowError:
        return None


def _pending(pod: Pod) -> PodStatus:
    """Return the status of a pod that no scheduler has seen; it keeps the claims that controllers created for it."""
    return PodStatus(resource_claim_statuses=pod.status.resource_claim_statuses)


def _status_of_bound(status: PodStatus, shift: timedelta) -> PodStatus:
    """Return the status of a pod on its node, with the conditions that decide how its resources are counted."""
    resizing = tuple(
        Condition(type=each.type, status=each.status, reason=each.reason)
        for each in status.conditions
        if each.type.startswith("PodResize")
    )
    return replace(
        status,
        conditions=resizing,
        nominated_node_name="",
        observed_generation=0,
        start_time=_shifted(status.start_time, shift),
    )


def _node_spec(spec: NodeSpec) -> NodeSpec:
    taints = tuple(replace(taint, time_added=None) for taint in spec.taints)
    return replace(spec, taints=taints, provider_id="", pod_cidr="", pod_cidrs=())


def _node_status(status: NodeStatus) -> NodeStatus:
    """Return a node's status without heartbeats."""
    return replace(
        status, conditions=tuple(NodeCondition(type=each.type, status=each.status) for each in status.conditions)
    )


def _class_of(claim: PersistentVolumeClaim) -> str:
    annotated = claim.metadata.annotations.get("volume.beta.kubernetes.io/storage-class")
    return annotated if annotated is not None else claim.spec.storage_class_name or ""
