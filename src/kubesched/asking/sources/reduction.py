"""What of an object leaves the process in a snapshot: no more than questions read.

From a struct to an equal one without annotations that nobody reads, parameters of drivers and addresses.
Environment, commands, Secrets and ConfigMaps are no fields of structs in the first place.
"""

from typing import Final, TypeVar

from msgspec.structs import replace

from kubesched.api.devices import (
    DeviceClass,
    OpaqueDeviceConfiguration,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
)
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, PodSpec
from kubesched.api.storage import PersistentVolume, StorageClass, VolumeAttachment, VolumeAttributesClass
from kubesched.api.volumes import EphemeralVolumeSource, Volume

T = TypeVar("T", bound=ApiObject)

# the annotations that plugins, drains and scaling read
KEPT_ANNOTATIONS: Final = frozenset(
    {
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "storageclass.kubernetes.io/is-default-class",
        "resource.kubernetes.io/extended-resource-claim",
        "kubernetes.io/config.mirror",
        "controller.kubernetes.io/pod-deletion-cost",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "deployment.kubernetes.io/revision",
    }
)


def reduced(obj: T) -> T:
    """Return an object with what questions read."""
    obj = replace(obj, metadata=reduced_meta(obj.metadata))
    match obj:
        case Pod():
            return replace(obj, spec=_pod_spec(obj.spec))
        case Node():
            info = obj.status.node_info
            return replace(
                obj,
                status=replace(
                    obj.status,
                    addresses=(),
                    node_info=replace(info, machine_id="") if info is not None else None,
                ),
            )
        case PersistentVolume():
            csi = obj.spec.csi
            if csi is not None and csi.volume_attributes:
                return replace(obj, spec=replace(obj.spec, csi=replace(csi, volume_attributes={})))
        case StorageClass() | VolumeAttributesClass():
            return replace(obj, parameters={})
        case VolumeAttachment():
            return replace(obj, status=replace(obj.status, attachment_metadata={}))
        case DeviceClass():
            return replace(obj, spec=replace(obj.spec, config=tuple(map(_config, obj.spec.config))))
        case ResourceClaim():
            return replace(obj, spec=_claim_spec(obj.spec), status=_claim_status(obj.status))
        case ResourceClaimTemplate():
            template = replace(obj.spec, metadata=reduced_meta(obj.spec.metadata), spec=_claim_spec(obj.spec.spec))
            return replace(obj, spec=template)
    return obj


def reduced_meta(meta: ObjectMeta) -> ObjectMeta:
    """Return metadata with the annotations that are read."""
    return replace(meta, annotations=_annotations(meta.annotations)) if meta.annotations else meta


def _annotations(annotations: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in annotations.items() if key in KEPT_ANNOTATIONS}


def _pod_spec(spec: PodSpec) -> PodSpec:
    if not any(volume.ephemeral is not None for volume in spec.volumes):
        return spec
    return replace(spec, volumes=tuple(map(_volume, spec.volumes)))


def _volume(volume: Volume) -> Volume:
    template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
    if template is None:
        return volume
    meta = replace(template.metadata, annotations=_annotations(template.metadata.annotations))
    return replace(volume, ephemeral=EphemeralVolumeSource(volume_claim_template=replace(template, metadata=meta)))


C = TypeVar("C")


def _config(config: C) -> C:
    opaque: OpaqueDeviceConfiguration | None = config.opaque  # type: ignore[attr-defined]
    if opaque is None:
        return config
    return replace(config, opaque=OpaqueDeviceConfiguration(driver=opaque.driver))  # type: ignore[type-var]


def _claim_spec(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    devices = spec.devices
    return replace(spec, devices=replace(devices, config=tuple(map(_config, devices.config))))


def _claim_status(status: ResourceClaimStatus) -> ResourceClaimStatus:
    devices = tuple(replace(device, data=None, network_data=None) for device in status.devices)
    allocation = status.allocation
    if allocation is not None:
        config = tuple(map(_config, allocation.devices.config))
        allocation = replace(allocation, devices=replace(allocation.devices, config=config))
    return replace(status, devices=devices, allocation=allocation)
