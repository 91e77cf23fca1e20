"""The volume controller of a simulation: it binds claims to the volumes that the scheduler chose, or provisions them.

From a written claim or volume to the further writes of the controller.
"""

from collections.abc import Iterator

import msgspec

from kubesched.api.meta import ApiObject, ObjectMeta, ObjectReference
from kubesched.api.storage import PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec
from kubesched_controlplane.controllers.storage.provisioning import SELECTED_NODE
from kubesched_controlplane.controllers.storage.volume_binder import BIND_COMPLETED

replace = msgspec.structs.replace


def volumes_after(written: ApiObject, claim_of: dict[str, PersistentVolumeClaim]) -> Iterator[ApiObject]:
    """Yield the writes of a volume controller after a write of a claim or a volume; `claim_of` has claims by name."""
    if isinstance(written, PersistentVolumeClaim):
        if SELECTED_NODE in written.metadata.annotations and not written.spec.volume_name:
            volume = _provisioned(written)
            yield volume
            yield _bound(written, volume.name)
    elif isinstance(written, PersistentVolume) and written.spec.claim_ref is not None:
        ref = written.spec.claim_ref
        claim = claim_of.get(f"{ref.namespace}/{ref.name}")
        if claim is not None and not claim.spec.volume_name:
            yield _bound(claim, written.name)


def _provisioned(claim: PersistentVolumeClaim) -> PersistentVolume:
    """Return the volume that a provisioner creates for a claim."""
    ref = ObjectReference(namespace=claim.namespace, name=claim.name, uid=claim.uid, kind="PersistentVolumeClaim")
    spec = PersistentVolumeSpec(
        capacity=claim.spec.resources.requests,
        access_modes=claim.spec.access_modes,
        claim_ref=ref,
        storage_class_name=claim.spec.storage_class_name or "",
    )
    return PersistentVolume(metadata=ObjectMeta(name=f"pvc-{claim.full_name.replace('/', '-')}"), spec=spec)


def _bound(claim: PersistentVolumeClaim, volume: str) -> PersistentVolumeClaim:
    annotations = {**claim.metadata.annotations, BIND_COMPLETED: "yes"}
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=volume),
        status=replace(claim.status, phase="Bound"),
    )
