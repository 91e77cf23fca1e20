"""Storage classes, drivers and their capabilities on nodes, attachments."""

# upstream: api/storage/v1/types.go (v1.36)

TYPES = """
string: VolumeBindingMode, VolumeLifecycleMode, FSGroupPolicy

StorageClass kind: provisioner=2!, parameters=3 map[string]string, reclaimPolicy=4 *PersistentVolumeReclaimPolicy
    mountOptions=5 []string atomic, allowVolumeExpansion=6 *bool, volumeBindingMode=7 *VolumeBindingMode
    allowedTopologies=8 []TopologySelectorTerm atomic

CSINode kind: spec=2! CSINodeSpec
CSINodeSpec: drivers=1! []CSINodeDriver by(name)
CSINodeDriver: name=1!, nodeID=2!, topologyKeys=3! []string atomic optional, allocatable=4 *VolumeNodeResources
VolumeNodeResources: count=1 *int32

CSIDriver kind: spec=2! CSIDriverSpec
CSIDriverSpec: attachRequired=1 *bool, podInfoOnMount=2 *bool, volumeLifecycleModes=3 []VolumeLifecycleMode set
    storageCapacity=4 *bool, fsGroupPolicy=5 *FSGroupPolicy, tokenRequests=6 []TokenRequest atomic
    requiresRepublish=7 *bool, seLinuxMount=8 *bool, nodeAllocatableUpdatePeriodSeconds=9 *int64
    serviceAccountTokenInSecrets=10 *bool, preventPodSchedulingIfMissing=11 *bool
TokenRequest: audience=1!, expirationSeconds=2 *int64

CSIStorageCapacity kind: nodeTopology=2 *LabelSelector, storageClassName=3!, capacity=4 *Quantity
    maximumVolumeSize=5 *Quantity

VolumeAttachment kind: spec=2! VolumeAttachmentSpec, status=3 VolumeAttachmentStatus
VolumeAttachmentSpec: attacher=1!, source=2! VolumeAttachmentSource, nodeName=3!
VolumeAttachmentSource: persistentVolumeName=1 *string, inlineVolumeSpec=2 *PersistentVolumeSpec
VolumeAttachmentStatus: attached=1! bool, attachmentMetadata=2 map[string]string, attachError=3 *VolumeError
    detachError=4 *VolumeError
VolumeError: time=1 Time, message=2, errorCode=3 *int32

VolumeAttributesClass kind: driverName=2!, parameters=3 map[string]string
"""
