"""Volumes, claims, storage classes, and the nodes, limits and capacities of CSI drivers.

From JSON documents to frozen structs; see `meta` for the conventions. A persistent volume keeps the sources by which
scheduling distinguishes volumes, among them those that migration maps to CSI drivers.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

from typing import Final

import msgspec

from kubesched.api.meta import (
    ApiObject,
    ApiStruct,
    Condition,
    Int32,
    Int64,
    LabelSelector,
    ObjectReference,
    RawQuantity,
    ResourceList,
    Timestamp,
)
from kubesched.api.pods import NodeSelector
from kubesched.api.volumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    GCEPersistentDiskVolumeSource,
    PersistentVolumeClaimSpec,
    PortworxVolumeSource,
    VsphereVirtualDiskVolumeSource,
)

# an annotation of claims and volumes: it precedes spec.storageClassName
BETA_STORAGE_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"


class SecretReference(ApiStruct, frozen=True):
    """A reference to a secret."""

    name: str = ""
    namespace: str = ""


class CSIPersistentVolumeSource(ApiStruct, frozen=True):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False
    fs_type: str = ""
    volume_attributes: dict[str, str] = {}


class AzureFilePersistentVolumeSource(ApiStruct, frozen=True):
    """An Azure file share."""

    secret_name: str = ""
    share_name: str = ""
    read_only: bool = False
    secret_namespace: str | None = None


class CinderPersistentVolumeSource(ApiStruct, frozen=True):
    """An OpenStack disk."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class ISCSIPersistentVolumeSource(ApiStruct, frozen=True):
    """An iSCSI disk."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    iscsi_interface: str = ""
    fs_type: str = ""
    read_only: bool = False
    portals: tuple[str, ...] = ()
    initiator_name: str | None = None


class RBDPersistentVolumeSource(ApiStruct, frozen=True):
    """A Ceph disk."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    fs_type: str = ""
    pool: str = ""
    user: str = ""
    keyring: str = ""
    secret_ref: SecretReference | None = None
    read_only: bool = False


class FCVolumeSource(ApiStruct, frozen=True):
    """A Fibre Channel disk."""

    target_wwns: tuple[str, ...] = msgspec.field(default=(), name="targetWWNs")
    lun: Int32 | None = None
    fs_type: str = ""
    read_only: bool = False
    wwids: tuple[str, ...] = ()


class NFSVolumeSource(ApiStruct, frozen=True):
    """An NFS export."""

    server: str = ""
    path: str = ""
    read_only: bool = False


class LocalVolumeSource(ApiStruct, frozen=True):
    """A disk or directory of one node."""

    path: str = ""
    fs_type: str | None = None


class HostPathVolumeSource(ApiStruct, frozen=True):
    """A directory of the node that the pod is on."""

    path: str = ""
    type: str | None = None


class VolumeNodeAffinity(ApiStruct, frozen=True):
    """The nodes that can access a volume."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(ApiStruct, frozen=True):
    """spec of a volume; one of the sources is set."""

    capacity: ResourceList = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: str = ""
    storage_class_name: str = ""
    mount_options: tuple[str, ...] = ()
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    csi: CSIPersistentVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    cinder: CinderPersistentVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    iscsi: ISCSIPersistentVolumeSource | None = None
    rbd: RBDPersistentVolumeSource | None = None
    fc: FCVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    local: LocalVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None


class PersistentVolumeStatus(ApiStruct, frozen=True):
    """status of a volume."""

    phase: str = ""
    message: str = ""
    reason: str = ""
    last_phase_transition_time: Timestamp | None = None


class PersistentVolume(ApiObject, frozen=True):
    """A volume."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class ModifyVolumeStatus(ApiStruct, frozen=True):
    """The progress of a change of a claim's VolumeAttributesClass."""

    target_volume_attributes_class_name: str = ""
    status: str = ""


class PersistentVolumeClaimStatus(ApiStruct, frozen=True):
    """status of a claim."""

    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: ResourceList = {}
    conditions: tuple[Condition, ...] = ()
    allocated_resources: ResourceList = {}
    allocated_resource_statuses: dict[str, str] = {}
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: ModifyVolumeStatus | None = None


class PersistentVolumeClaim(ApiObject, frozen=True):
    """A claim to a volume."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(ApiStruct, frozen=True):
    """A label and the values it may have."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(ApiStruct, frozen=True):
    """A conjunction of label requirements."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(ApiObject, frozen=True):
    """A storage class: how volumes are provisioned."""

    provisioner: str = ""
    parameters: dict[str, str] = {}
    reclaim_policy: str | None = None
    mount_options: tuple[str, ...] = ()
    allow_volume_expansion: bool | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(ApiStruct, frozen=True):
    """The volume limit of a driver on a node."""

    count: Int32 | None = None


class CSINodeDriver(ApiStruct, frozen=True):
    """A CSI driver on a node."""

    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(ApiStruct, frozen=True):
    """The CSI drivers of a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(ApiObject, frozen=True):
    """The CSI drivers of the node of the same name."""

    spec: CSINodeSpec = CSINodeSpec()


class TokenRequest(ApiStruct, frozen=True):
    """A service account token that a CSI driver requests."""

    audience: str = ""
    expiration_seconds: Int64 | None = None


class CSIDriverSpec(ApiStruct, frozen=True):
    """spec of a CSI driver: its abilities and needs."""

    attach_required: bool | None = None
    pod_info_on_mount: bool | None = None
    volume_lifecycle_modes: tuple[str, ...] = ()
    storage_capacity: bool | None = None
    fs_group_policy: str | None = None
    token_requests: tuple[TokenRequest, ...] = ()
    requires_republish: bool | None = None
    se_linux_mount: bool | None = None
    node_allocatable_update_period_seconds: Int64 | None = None
    service_account_token_in_secrets: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(ApiObject, frozen=True):
    """A CSI driver."""

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(ApiObject, frozen=True):
    """The free capacity of a storage class in one topology segment of the cluster."""

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: RawQuantity | None = None
    maximum_volume_size: RawQuantity | None = None


class VolumeAttachmentSource(ApiStruct, frozen=True):
    """The volume to attach; one of the two is set."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(ApiStruct, frozen=True):
    """spec of an attachment: volume, driver and node."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeError(ApiStruct, frozen=True):
    """An error of attaching or detaching."""

    time: Timestamp | None = None
    message: str = ""
    error_code: Int32 | None = None


class VolumeAttachmentStatus(ApiStruct, frozen=True):
    """status of an attachment."""

    attached: bool = False
    attachment_metadata: dict[str, str] = {}
    attach_error: VolumeError | None = None
    detach_error: VolumeError | None = None


class VolumeAttachment(ApiObject, frozen=True):
    """A volume attached to a node."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()


class VolumeAttributesClass(ApiObject, frozen=True):
    """A named set of mutable volume attributes."""

    driver_name: str = ""
    parameters: dict[str, str] = {}
