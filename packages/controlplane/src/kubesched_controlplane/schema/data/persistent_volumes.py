"""Persistent volumes with all their sources, and the claims to them."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: PersistentVolumeAccessMode, PersistentVolumeMode, PersistentVolumeReclaimPolicy, PersistentVolumePhase
string: PersistentVolumeClaimPhase, PersistentVolumeClaimConditionType, ClaimResourceStatus
string: PersistentVolumeClaimModifyVolumeStatus

PersistentVolume kind: spec=2 PersistentVolumeSpec, status=3 PersistentVolumeStatus
PersistentVolumeSpec: capacity=1 ResourceList, +PersistentVolumeSource=2
    accessModes=3 []PersistentVolumeAccessMode atomic, claimRef=4 *ObjectReference granular
    persistentVolumeReclaimPolicy=5 PersistentVolumeReclaimPolicy, storageClassName=6, mountOptions=7 []string atomic
    volumeMode=8 *PersistentVolumeMode, nodeAffinity=9 *VolumeNodeAffinity, volumeAttributesClassName=10 *string
PersistentVolumeStatus: phase=1 PersistentVolumePhase, message=2, reason=3, lastPhaseTransitionTime=4 *Time
VolumeNodeAffinity: required=1 *NodeSelector
PersistentVolumeSource: gcePersistentDisk=1 *GCEPersistentDiskVolumeSource
    awsElasticBlockStore=2 *AWSElasticBlockStoreVolumeSource, hostPath=3 *HostPathVolumeSource
    glusterfs=4 *GlusterfsPersistentVolumeSource, nfs=5 *NFSVolumeSource, rbd=6 *RBDPersistentVolumeSource
    iscsi=7 *ISCSIPersistentVolumeSource, cinder=8 *CinderPersistentVolumeSource
    cephfs=9 *CephFSPersistentVolumeSource, fc=10 *FCVolumeSource, flocker=11 *FlockerVolumeSource
    flexVolume=12 *FlexPersistentVolumeSource, azureFile=13 *AzureFilePersistentVolumeSource
    vsphereVolume=14 *VsphereVirtualDiskVolumeSource, quobyte=15 *QuobyteVolumeSource
    azureDisk=16 *AzureDiskVolumeSource, photonPersistentDisk=17 *PhotonPersistentDiskVolumeSource
    portworxVolume=18 *PortworxVolumeSource, scaleIO=19 *ScaleIOPersistentVolumeSource, local=20 *LocalVolumeSource
    storageos=21 *StorageOSPersistentVolumeSource, csi=22 *CSIPersistentVolumeSource

GlusterfsPersistentVolumeSource: endpoints=1! string nonempty, path=2! string nonempty, readOnly=3 bool
    endpointsNamespace=4 *string
RBDPersistentVolumeSource: monitors=1! []string atomic nonempty, image=2! string nonempty, fsType=3, pool=4, user=5
    keyring=6, secretRef=7 *SecretReference, readOnly=8 bool
ISCSIPersistentVolumeSource: targetPortal=1! string nonempty, iqn=2! string nonempty, lun=3! int32, iscsiInterface=4
    fsType=5, readOnly=6 bool, portals=7 []string atomic, chapAuthDiscovery=8 bool, chapAuthSession=11 bool
    secretRef=10 *SecretReference, initiatorName=12 *string
CinderPersistentVolumeSource: volumeID=1! string nonempty, fsType=2, readOnly=3 bool, secretRef=4 *SecretReference
CephFSPersistentVolumeSource: monitors=1! []string atomic nonempty, path=2, user=3, secretFile=4
    secretRef=5 *SecretReference, readOnly=6 bool
FlexPersistentVolumeSource: driver=1! string nonempty, fsType=2, secretRef=3 *SecretReference, readOnly=4 bool
    options=5 map[string]string
AzureFilePersistentVolumeSource: secretName=1! string nonempty, shareName=2! string nonempty, readOnly=3 bool
    secretNamespace=4! *string optional
ScaleIOPersistentVolumeSource: gateway=1! string nonempty, system=2! string nonempty, secretRef=3! *SecretReference
    sslEnabled=4 bool, protectionDomain=5, storagePool=6, storageMode=7, volumeName=8, fsType=9, readOnly=10 bool
LocalVolumeSource: path=1! string nonempty, fsType=2 *string
StorageOSPersistentVolumeSource: volumeName=1, volumeNamespace=2, fsType=3, readOnly=4 bool
    secretRef=5 *ObjectReference
CSIPersistentVolumeSource: driver=1! string nonempty format(driver), volumeHandle=2! string nonempty, readOnly=3 bool
    fsType=4, volumeAttributes=5 map[string]string, controllerPublishSecretRef=6 *SecretReference
    nodeStageSecretRef=7 *SecretReference, nodePublishSecretRef=8 *SecretReference
    controllerExpandSecretRef=9 *SecretReference, nodeExpandSecretRef=10 *SecretReference
SecretReference atomic: name=1, namespace=2

PersistentVolumeClaim kind: spec=2 PersistentVolumeClaimSpec, status=3 PersistentVolumeClaimStatus
PersistentVolumeClaimSpec: accessModes=1 []PersistentVolumeAccessMode atomic, selector=4 *LabelSelector
    resources=2 VolumeResourceRequirements, volumeName=3, storageClassName=5 *string
    volumeMode=6 *PersistentVolumeMode, dataSource=7 *TypedLocalObjectReference, dataSourceRef=8 *TypedObjectReference
    volumeAttributesClassName=9 *string
VolumeResourceRequirements: limits=1 ResourceList, requests=2 ResourceList
TypedLocalObjectReference atomic: apiGroup=1! *string optional format(subdomain), kind=2! string nonempty
    name=3! string nonempty
TypedObjectReference: apiGroup=1! *string optional, kind=2!, name=3!, namespace=4 *string
PersistentVolumeClaimStatus: phase=1 PersistentVolumeClaimPhase, accessModes=2 []PersistentVolumeAccessMode atomic
    capacity=3 ResourceList, conditions=4 []PersistentVolumeClaimCondition by(type), allocatedResources=5 ResourceList
    allocatedResourceStatuses=7 map[ResourceName]ClaimResourceStatus granular
    currentVolumeAttributesClassName=8 *string, modifyVolumeStatus=9 *ModifyVolumeStatus
PersistentVolumeClaimCondition: type=1! PersistentVolumeClaimConditionType, status=2! ConditionStatus
    lastProbeTime=3 Time, lastTransitionTime=4 Time, reason=5, message=6
ModifyVolumeStatus: targetVolumeAttributesClassName=1, status=2! PersistentVolumeClaimModifyVolumeStatus
"""
