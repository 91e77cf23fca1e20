"""The kinds of storage."""

from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.kinds.volume.classes import (
    CSIDriverStrategy,
    CSINodeStrategy,
    CSIStorageCapacityStrategy,
    StorageClassStrategy,
    VolumeAttachmentStrategy,
    VolumeAttributesClassStrategy,
)
from kubesched.controlplane.registry.declaration import STATUS, Declaration, LoadOrder

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False, short_names=("sc",)),
        "provisions volumes, at once or when a pod is scheduled",
        StorageClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
    Declaration(
        Resource("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False),
        "kept; the scheduler counts by it",
        CSINodeStrategy(),
        load_order=LoadOrder.NODE_RESOURCES,
    ),
    Declaration(
        Resource("storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False),
        "kept; the scheduler reads it",
        CSIDriverStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
    Declaration(
        Resource("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"),
        "kept; the scheduler reads it",
        CSIStorageCapacityStrategy(),
        load_order=LoadOrder.NODE_RESOURCES,
    ),
    Declaration(
        Resource(
            "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", namespaced=False, subresources=STATUS
        ),
        "kept; nothing is attached",
        VolumeAttachmentStrategy(),
    ),
    Declaration(
        Resource(
            "storage.k8s.io",
            "v1",
            "volumeattributesclasses",
            "VolumeAttributesClass",
            namespaced=False,
            short_names=("vac",),
        ),
        "kept",
        VolumeAttributesClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
)
