"""Storage classes, drivers and what they can do on nodes, attachments."""

# upstream: api/storage/v1/types.go (v1.36)

TYPES = """
string: VolumeBindingMode, VolumeLifecycleMode, FSGroupPolicy

StorageClass kind: provisioner!, parameters map[string]string, reclaimPolicy *PersistentVolumeReclaimPolicy
    mountOptions []string atomic, allowVolumeExpansion *bool, volumeBindingMode *VolumeBindingMode
    allowedTopologies []TopologySelectorTerm atomic

CSINode kind: spec! CSINodeSpec
CSINodeSpec: drivers! []CSINodeDriver by(name)
CSINodeDriver: name!, nodeID!, topologyKeys! []string atomic optional, allocatable *VolumeNodeResources
VolumeNodeResources: count *int32

CSIDriver kind: spec! CSIDriverSpec
CSIDriverSpec: attachRequired *bool, podInfoOnMount *bool, volumeLifecycleModes []VolumeLifecycleMode set
    storageCapacity *bool, fsGroupPolicy *FSGroupPolicy, tokenRequests []TokenRequest atomic, requiresRepublish *bool
    seLinuxMount *bool, nodeAllocatableUpdatePeriodSeconds *int64, serviceAccountTokenInSecrets *bool
    preventPodSchedulingIfMissing *bool
TokenRequest: audience!, expirationSeconds *int64

CSIStorageCapacity kind: nodeTopology *LabelSelector, storageClassName!, capacity *Quantity
    maximumVolumeSize *Quantity

VolumeAttachment kind: spec! VolumeAttachmentSpec, status VolumeAttachmentStatus
VolumeAttachmentSpec: attacher!, source! VolumeAttachmentSource, nodeName!
VolumeAttachmentSource: persistentVolumeName *string, inlineVolumeSpec *PersistentVolumeSpec
VolumeAttachmentStatus: attached! bool, attachmentMetadata map[string]string, attachError *VolumeError
    detachError *VolumeError
VolumeError: time Time, message, errorCode *int32

VolumeAttributesClass kind: driverName!, parameters map[string]string
"""
