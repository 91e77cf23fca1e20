"""The kinds that scheduling reads: their structs and versions, and the kind of a document.

From an object's apiVersion and kind to the struct that it is decoded to, or an InvalidObjectError with the reason.
`codec` decodes and encodes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubesched.api.coordination import Lease, LeaseCandidate
from kubesched.api.decoding_errors import described, invalid_object, name_of
from kubesched.api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubesched.api.events import Event
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Namespace, Node
from kubesched.api.owners import ReplicaSet, ReplicationController, Service, StatefulSet
from kubesched.api.pods import Pod
from kubesched.api.policy import PodDisruptionBudget
from kubesched.api.scheduling import PodGroup, PriorityClass, Workload
from kubesched.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    VolumeAttributesClass,
)

_KINDS_BY_API_VERSION: dict[str, tuple[type[ApiObject], ...]] = {
    "v1": (Pod, Node, Namespace, Service, ReplicationController, PersistentVolume, PersistentVolumeClaim),
    "apps/v1": (ReplicaSet, StatefulSet),
    "policy/v1": (PodDisruptionBudget,),
    "storage.k8s.io/v1": (
        StorageClass,
        CSINode,
        CSIDriver,
        CSIStorageCapacity,
        VolumeAttachment,
        VolumeAttributesClass,
    ),
    "resource.k8s.io/v1": (ResourceSlice, DeviceClass, ResourceClaim, ResourceClaimTemplate),
    "resource.k8s.io/v1beta2": (DeviceTaintRule,),
    "scheduling.k8s.io/v1": (PriorityClass,),
    "scheduling.k8s.io/v1alpha2": (PodGroup, Workload),
    "coordination.k8s.io/v1": (Lease,),
    "coordination.k8s.io/v1beta1": (LeaseCandidate,),
    "events.k8s.io/v1": (Event,),
}

KINDS: dict[str, type[ApiObject]] = {
    kind_type.__name__: kind_type for kind_types in _KINDS_BY_API_VERSION.values() for kind_type in kind_types
}

# The version in which an object without an apiVersion is written.
API_VERSIONS: dict[str, str] = {
    kind_type.__name__: api_version
    for api_version, kind_types in _KINDS_BY_API_VERSION.items()
    for kind_type in kind_types
}

# Versions with other fields, which would decode without an error, but to wrong objects.
_OTHER_SHAPES: dict[str, frozenset[str]] = {
    "resource.k8s.io/v1alpha2": frozenset({"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"}),
    "resource.k8s.io/v1alpha3": frozenset({"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"}),
    "resource.k8s.io/v1beta1": frozenset({"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"}),
    "scheduling.k8s.io/v1alpha1": frozenset({"Workload"}),
}


def type_of(document: object, where: str) -> type[ApiObject]:
    """Return the struct for the document's kind, or raise InvalidObjectError with the reason."""
    if not isinstance(document, Mapping):
        raise invalid_object(where, f"expected an object with apiVersion and kind, got {described(document)}")
    kind, api_version = document.get("kind"), document.get("apiVersion")
    for field, value in (("kind", kind), ("apiVersion", api_version)):
        if value is not None and not isinstance(value, str):
            raise invalid_object(where, f"{name_of(document)}: {field}: expected a string, got {described(value)}")
        if not value:
            raise invalid_object(where, f"{name_of(document)} has no {field}")
    name, kind_type = name_of(document), KINDS.get(str(kind))
    if kind_type is None:
        raise invalid_object(where, f"{name}: kind {kind} ({api_version}) is not one that scheduling reads")
    expected = API_VERSIONS[str(kind)]
    if _group(str(api_version)) != _group(expected):
        raise invalid_object(where, f"{name}: apiVersion: expected {expected}, got {api_version}")
    if kind in _OTHER_SHAPES.get(str(api_version), ()):
        raise invalid_object(where, f"{name}: apiVersion {api_version} has another shape; write it as {expected}")
    return kind_type


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def is_foreign(document: Mapping[str, Any]) -> bool:
    """Return whether a document is an object of a kind that scheduling does not read, such as a Deployment."""
    kind, api_version = document.get("kind"), document.get("apiVersion")
    return isinstance(kind, str) and isinstance(api_version, str) and bool(kind and api_version) and kind not in KINDS


def flattened(documents: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield documents, and the items of lists."""
    for document in documents:
        kind = document.get("kind") if isinstance(document, Mapping) else None
        items = document.get("items") if isinstance(kind, str) and kind.endswith("List") else None
        if isinstance(items, list):
            # the items of a PodList need no kind
            own = (
                {} if kind == "List" else {"apiVersion": document.get("apiVersion"), "kind": str(kind)[: -len("List")]}
            )
            yield from flattened([{**own, **item} if isinstance(item, Mapping) else item for item in items])
        else:
            yield document
