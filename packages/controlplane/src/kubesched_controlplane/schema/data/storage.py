"""Storage classes, drivers and their capabilities on nodes, attachments."""

# upstream: api/storage/v1/types.go (v1.36)

TYPES = """
string: VolumeBindingMode, VolumeLifecycleMode, FSGroupPolicy

StorageClass kind: provisioner=2!, parameters=3 map[string]string
    reclaimPolicy=4 *PersistentVolumeReclaimPolicy default(Delete) enum(Delete|Retain)
    mountOptions=5 []string atomic
    allowVolumeExpansion=6 *bool
    volumeBindingMode=7 *VolumeBindingMode default(Immediate) enum(Immediate|WaitForFirstConsumer)
    allowedTopologies=8 []TopologySelectorTerm atomic

CSINode kind: spec=2! CSINodeSpec
CSINodeSpec: drivers=1! []CSINodeDriver by(name)
CSINodeDriver: name=1! string nonempty format(driver), nodeID=2! string nonempty format(nodeid)
    topologyKeys=3! []string atomic optional, allocatable=4 *VolumeNodeResources
VolumeNodeResources: count=1 *int32 min(0)

CSIDriver kind: spec=2! CSIDriverSpec
CSIDriverSpec: attachRequired=1 *bool default(true), podInfoOnMount=2 *bool default(false)
    volumeLifecycleModes=3 []VolumeLifecycleMode set immutable, storageCapacity=4 *bool default(false)
    fsGroupPolicy=5 *FSGroupPolicy default(ReadWriteOnceWithFSType) enum(File|None|ReadWriteOnceWithFSType)
    tokenRequests=6 []TokenRequest atomic, requiresRepublish=7 *bool default(false), seLinuxMount=8 *bool default(false)
    nodeAllocatableUpdatePeriodSeconds=9 *int64 min(10 must be greater than or equal to 10 seconds)
    serviceAccountTokenInSecrets=10 *bool, preventPodSchedulingIfMissing=11 *bool
TokenRequest: audience=1!
    expirationSeconds=2 *int64 min(600 may not specify a duration less than 10 minutes)
        max(4294967296 may not specify a duration larger than 2^32 seconds)

CSIStorageCapacity kind: nodeTopology=2 *LabelSelector format(selector) immutable
    storageClassName=3! string immutable, capacity=4 *Quantity
    maximumVolumeSize=5 *Quantity

VolumeAttachment kind: spec=2! VolumeAttachmentSpec, status=3 VolumeAttachmentStatus
VolumeAttachmentSpec: attacher=1!, source=2! VolumeAttachmentSource, nodeName=3!
VolumeAttachmentSource: persistentVolumeName=1 *string, inlineVolumeSpec=2 *PersistentVolumeSpec
VolumeAttachmentStatus: attached=1! bool, attachmentMetadata=2 map[string]string, attachError=3 *VolumeError
    detachError=4 *VolumeError
VolumeError: time=1 Time, message=2, errorCode=3 *int32

VolumeAttributesClass kind: driverName=2!, parameters=3 map[string]string
"""
