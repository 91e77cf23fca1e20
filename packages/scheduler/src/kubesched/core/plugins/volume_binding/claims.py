"""A pod's claims: whether they can be used, and which are still to be bound.

From a pod's volumes to the claims behind them, or the reason why the pod has to wait for them.
"""

# upstream: volumebinding/volume_binding.go, podHasPVCs; volumebinding/binder.go, GetPodVolumeClaims (v1.36)

from collections.abc import Iterator
from typing import NamedTuple

from kubesched.api.storage import PersistentVolumeClaim, StorageClass
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.objects import full_name
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.volume_claims import (
    CLAIM,
    WAIT_FOR_FIRST_CONSUMER,
    ephemeral_claim_name,
    not_found,
    ownership_problem,
    storage_class_name,
)
from kubesched.core.cluster.storage.volume_users import EphemeralClaim, NamedClaim, volume_uses
from kubesched.core.framework.values.status import Status, error, unresolvable

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
LOST = "Lost"
UNBOUND_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")

References = tuple[NamedClaim | EphemeralClaim, ...]


class PodClaims(NamedTuple):
    """The claims of a pod, in the order of its volumes: bound claims, and claims that wait for a node."""

    bound: tuple[PersistentVolumeClaim, ...]
    unbound: tuple[PersistentVolumeClaim, ...]


def claim_references(pod: PodInfo) -> References:
    """Return the claims that a pod's volumes refer to; to be derived once per template."""
    return tuple(use for use in volume_uses(pod).attachable if isinstance(use, NamedClaim | EphemeralClaim))


def claim_names(pod: PodInfo) -> Iterator[tuple[str, bool]]:
    """Yield the names of a pod's claims, each with whether it belongs to a generic ephemeral volume."""
    for reference in pod.derive(claim_references):
        if isinstance(reference, NamedClaim):
            yield reference.name, False
        else:
            yield ephemeral_claim_name(pod.name, reference.volume_name), True


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Return whether a claim is bound completely."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def find_claims(cluster: ClusterState, pod: PodInfo) -> PodClaims | Status:
    """Return a pod's claims, or a rejection if they cannot be used."""
    problem = _problem(cluster, pod)
    if problem:
        return unresolvable(problem)
    bound, unbound, immediate = [], [], False
    for name, _ in claim_names(pod):
        claim = cluster.volumes.claim(full_name(pod.namespace, name))
        assert claim is not None, "it was there a moment ago"
        if is_fully_bound(claim):
            bound.append(claim)
            continue
        waits = _waits_for_consumer(cluster, claim)
        if isinstance(waits, Status):
            return waits
        # a claim with a volumeName will be bound by the volume controller
        if waits and not claim.spec.volume_name:
            unbound.append(claim)
        else:
            immediate = True
    return UNBOUND_IMMEDIATE if immediate else PodClaims(tuple(bound), tuple(unbound))


def _problem(cluster: ClusterState, pod: PodInfo) -> str:
    """Return the problem of the first claim that cannot be used."""
    for name, ephemeral in claim_names(pod):
        claim = cluster.objects.get(PersistentVolumeClaim, full_name(pod.namespace, name))
        if claim is None and ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        if claim is None:
            return not_found(CLAIM, name)
        if claim.status.phase == LOST:
            volume = claim.spec.volume_name
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
        if claim.metadata.deletion_timestamp is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
        if ephemeral and (problem := ownership_problem(pod, claim)):
            return problem
    return ""


# upstream: component-helpers/storage/volume/pv_helpers.go, IsDelayBindingMode (v1.36)
def _waits_for_consumer(cluster: ClusterState, claim: PersistentVolumeClaim) -> bool | Status:
    """Return whether the class of a claim has the mode WaitForFirstConsumer; an error if it has no mode."""
    class_name = storage_class_name(claim)
    storage_class = cluster.objects.get(StorageClass, class_name) if class_name else None
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        return error(f'VolumeBindingMode not set for StorageClass "{class_name}"')
    return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
