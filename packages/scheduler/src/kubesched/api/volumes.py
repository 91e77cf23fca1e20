"""The volumes of a pod, and the spec of persistent volume claims.

From JSON documents to frozen structs; see `meta` for the conventions. Sources that a persistent volume shares with a
pod's volume are here, all other sources in `storage`.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

import msgspec

from kubesched.api.meta import ApiStruct, Int32, LabelSelector, ResourceList


class PersistentVolumeClaimVolumeSource(ApiStruct, frozen=True):
    """A volume that refers to a claim."""

    claim_name: str = ""
    read_only: bool = False


class EphemeralVolumeClaimMetadata(ApiStruct, frozen=True):
    """metadata of a generic ephemeral volume's claim template."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class TypedObjectReference(ApiStruct, frozen=True):
    """A reference by group, kind, name and namespace."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class VolumeResourceRequirements(ApiStruct, frozen=True):
    """The size that a claim requests."""

    requests: ResourceList = {}
    limits: ResourceList = {}


class PersistentVolumeClaimSpec(ApiStruct, frozen=True):
    """spec of a claim."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    data_source: TypedObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(ApiStruct, frozen=True):
    """The claim template of a generic ephemeral volume."""

    metadata: EphemeralVolumeClaimMetadata = EphemeralVolumeClaimMetadata()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(ApiStruct, frozen=True):
    """A generic ephemeral volume."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class GCEPersistentDiskVolumeSource(ApiStruct, frozen=True):
    """A GCE disk."""

    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(ApiStruct, frozen=True):
    """An AWS disk."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class ISCSIVolumeSource(ApiStruct, frozen=True):
    """An iSCSI disk."""

    iqn: str = ""
    lun: Int32 = 0
    target_portal: str = ""
    read_only: bool = False


class RBDVolumeSource(ApiStruct, frozen=True):
    """A Ceph disk."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class AzureDiskVolumeSource(ApiStruct, frozen=True):
    """An Azure disk."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None


class CinderVolumeSource(ApiStruct, frozen=True):
    """An OpenStack disk."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class VsphereVirtualDiskVolumeSource(ApiStruct, frozen=True):
    """A vSphere disk."""

    volume_path: str = ""


class PortworxVolumeSource(ApiStruct, frozen=True):
    """A Portworx disk."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class AzureFileVolumeSource(ApiStruct, frozen=True):
    """An Azure file share."""

    secret_name: str = ""
    share_name: str = ""


class CSIVolumeSource(ApiStruct, frozen=True):
    """An inline CSI volume."""

    driver: str = ""


class ImageVolumeSource(ApiStruct, frozen=True):
    """An image mounted as a volume."""

    reference: str = ""
    pull_policy: str = ""


class EmptyDirVolumeSource(ApiStruct, frozen=True):
    """A directory that is lost with the pod, so that a drain asks before."""

    medium: str = ""


class Volume(ApiStruct, frozen=True):
    """A volume of a pod, with only the sources that scheduling and drains read."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None


def with_source(volumes: tuple[Volume, ...]) -> tuple[Volume, ...]:
    """Return the volumes that have a source scheduling reads, without volumes of which only the name is kept.

    Every pod has one of the latter, with a unique name: the service account token that admission adds.
    """
    return tuple(volume for volume in volumes if volume != Volume(name=volume.name))
