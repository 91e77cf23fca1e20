"""Claims of pods that end: they are released, and deleted if they were created for the pod.

From a pod and its claims to the writes of the claim controllers. And from a claim of a trace to one with the decisions
of the simulated scheduler.
"""

from collections.abc import Iterator

import msgspec

from kubesched.api.devices import ResourceClaim, ResourceClaimStatus
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.storage import PersistentVolumeClaim

replace = msgspec.structs.replace
Key = tuple[str, str]


def claims_of(pod: Pod) -> Iterator[Key]:
    """Yield kind and full name of the claims that may need an update when a pod ends."""
    if pod.spec.resource_claims:
        made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
        for each in pod.spec.resource_claims:
            name = each.resource_claim_name or made.get(each.name)
            if name:
                yield "ResourceClaim", f"{pod.namespace}/{name}"
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            yield "PersistentVolumeClaim", f"{pod.namespace}/{pod.name}-{volume.name}"


def owning_pod(obj: ApiObject) -> str:
    """Return the full name of the pod that an object was created for, an empty text without one."""
    for owner in obj.metadata.owner_references:
        if owner.kind == "Pod":
            return f"{obj.namespace}/{owner.name}"
    return ""


def released(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    """Return a claim without a pod's reservation; a claim without any reservation loses its devices."""
    others = tuple(each for each in claim.status.reserved_for if each.uid != pod.uid)
    status = replace(claim.status, reserved_for=others) if others else ResourceClaimStatus()
    return replace(claim, status=status)


def with_decisions(known: ApiObject | None, given: ApiObject) -> ApiObject:
    """Return a claim of a trace with the volume or the devices that the simulated scheduler has chosen for it."""
    if isinstance(given, ResourceClaim) and isinstance(known, ResourceClaim):
        return given if given.status.allocation is not None else replace(given, status=known.status)
    if isinstance(given, PersistentVolumeClaim) and isinstance(known, PersistentVolumeClaim):
        if given.spec.volume_name or not known.spec.volume_name:
            return given
        annotations = {**known.metadata.annotations, **given.metadata.annotations}
        return replace(
            given,
            metadata=replace(given.metadata, annotations=annotations),
            spec=replace(given.spec, volume_name=known.spec.volume_name),
            status=known.status,
        )
    return given
