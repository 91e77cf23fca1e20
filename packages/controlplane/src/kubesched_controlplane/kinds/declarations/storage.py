"""The kinds of storage."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.volume.classes import (
    CSIDriverStrategy,
    CSINodeStrategy,
    CSIStorageCapacityStrategy,
    StorageClassStrategy,
    VolumeAttachmentStrategy,
    VolumeAttributesClassStrategy,
)
from kubesched_controlplane.registry.declaration import STATUS, Declaration, LoadOrder
from kubesched_controlplane.representation.tables.storage import (
    CSI_DRIVER_PRINTER,
    CSI_NODE_PRINTER,
    STORAGE_CLASS_PRINTER,
    VOLUME_ATTACHMENT_PRINTER,
    VOLUME_ATTRIBUTES_CLASS_PRINTER,
)

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "storage.k8s.io",
            "v1",
            "storageclasses",
            "StorageClass",
            namespaced=False,
            short_names=("sc",),
            printer=STORAGE_CLASS_PRINTER,
        ),
        "provisions volumes, at once or when a pod is scheduled",
        StorageClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
    Declaration(
        Resource("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False, printer=CSI_NODE_PRINTER),
        "kept; the scheduler reads its limits",
        CSINodeStrategy(),
        load_order=LoadOrder.NODE_RESOURCES,
    ),
    Declaration(
        Resource("storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False, printer=CSI_DRIVER_PRINTER),
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
            "storage.k8s.io",
            "v1",
            "volumeattachments",
            "VolumeAttachment",
            namespaced=False,
            subresources=STATUS,
            printer=VOLUME_ATTACHMENT_PRINTER,
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
            printer=VOLUME_ATTRIBUTES_CLASS_PRINTER,
        ),
        "kept",
        VolumeAttributesClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
)
