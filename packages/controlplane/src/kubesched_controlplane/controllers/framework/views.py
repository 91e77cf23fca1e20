"""Views: the few fields of stored objects that controllers read, decoded without the rest."""

from collections.abc import Iterable

import msgspec

from kubesched_controlplane.storage.store import Stored


class OwnerReference(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """An owner of an object; one of several may be its controller."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(msgspec.Struct, rename="camel", frozen=True):
    """The metadata that controllers read of any object."""

    generation: int = 0
    owner_references: tuple[OwnerReference, ...] = ()
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] = ()

    def waits_under(self, finalizer: str) -> bool:
        """Return whether the object is terminating and held by a finalizer."""
        return self.deletion_timestamp is not None and finalizer in self.finalizers


class _Object(msgspec.Struct):
    metadata: ObjectMeta


_decode = msgspec.json.Decoder(_Object).decode


def metadata_of(stored: Stored) -> ObjectMeta:
    """Return the metadata of a stored object."""
    return _decode(stored.body).metadata


def controller_of(owners: Iterable[OwnerReference]) -> OwnerReference | None:
    """Return the owner that is the controller, if there is one."""
    return next((owner for owner in owners if owner.controller), None)
