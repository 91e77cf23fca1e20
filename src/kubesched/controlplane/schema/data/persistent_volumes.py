"""Persistent volumes with all their sources, and the claims to them."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: PersistentVolumeAccessMode, PersistentVolumeMode, PersistentVolumeReclaimPolicy, PersistentVolumePhase
string: PersistentVolumeClaimPhase, PersistentVolumeClaimConditionType, ClaimResourceStatus
string: PersistentVolumeClaimModifyVolumeStatus

PersistentVolume kind: spec PersistentVolumeSpec, status PersistentVolumeStatus
PersistentVolumeSpec: capacity ResourceList, +PersistentVolumeSource, accessModes []PersistentVolumeAccessMode atomic
    claimRef *ObjectReference granular, persistentVolumeReclaimPolicy PersistentVolumeReclaimPolicy, storageClassName
    mountOptions []string atomic, volumeMode *PersistentVolumeMode, nodeAffinity *VolumeNodeAffinity
    volumeAttributesClassName *string
PersistentVolumeStatus: phase PersistentVolumePhase, message, reason, lastPhaseTransitionTime *Time
VolumeNodeAffinity: required *NodeSelector
PersistentVolumeSource: gcePersistentDisk *GCEPersistentDiskVolumeSource
    awsElasticBlockStore *AWSElasticBlockStoreVolumeSource, hostPath *HostPathVolumeSource
    glusterfs *GlusterfsPersistentVolumeSource, nfs *NFSVolumeSource, rbd *RBDPersistentVolumeSource
    iscsi *ISCSIPersistentVolumeSource, cinder *CinderPersistentVolumeSource, cephfs *CephFSPersistentVolumeSource
    fc *FCVolumeSource, flocker *FlockerVolumeSource, flexVolume *FlexPersistentVolumeSource
    azureFile *AzureFilePersistentVolumeSource, vsphereVolume *VsphereVirtualDiskVolumeSource
    quobyte *QuobyteVolumeSource, azureDisk *AzureDiskVolumeSource
    photonPersistentDisk *PhotonPersistentDiskVolumeSource, portworxVolume *PortworxVolumeSource
    scaleIO *ScaleIOPersistentVolumeSource, local *LocalVolumeSource, storageos *StorageOSPersistentVolumeSource
    csi *CSIPersistentVolumeSource

GlusterfsPersistentVolumeSource: endpoints!, path!, readOnly bool, endpointsNamespace *string
RBDPersistentVolumeSource: monitors! []string atomic, image!, fsType, pool, user, keyring, secretRef *SecretReference
    readOnly bool
ISCSIPersistentVolumeSource: targetPortal!, iqn!, lun! int32, iscsiInterface, fsType, readOnly bool
    portals []string atomic, chapAuthDiscovery bool, chapAuthSession bool, secretRef *SecretReference
    initiatorName *string
CinderPersistentVolumeSource: volumeID!, fsType, readOnly bool, secretRef *SecretReference
CephFSPersistentVolumeSource: monitors! []string atomic, path, user, secretFile, secretRef *SecretReference
    readOnly bool
FlexPersistentVolumeSource: driver!, fsType, secretRef *SecretReference, readOnly bool, options map[string]string
AzureFilePersistentVolumeSource: secretName!, shareName!, readOnly bool, secretNamespace! *string optional
ScaleIOPersistentVolumeSource: gateway!, system!, secretRef! *SecretReference, sslEnabled bool, protectionDomain
    storagePool, storageMode, volumeName, fsType, readOnly bool
LocalVolumeSource: path!, fsType *string
StorageOSPersistentVolumeSource: volumeName, volumeNamespace, fsType, readOnly bool, secretRef *ObjectReference
CSIPersistentVolumeSource: driver!, volumeHandle!, readOnly bool, fsType, volumeAttributes map[string]string
    controllerPublishSecretRef *SecretReference, nodeStageSecretRef *SecretReference
    nodePublishSecretRef *SecretReference, controllerExpandSecretRef *SecretReference
    nodeExpandSecretRef *SecretReference
SecretReference atomic: name, namespace

PersistentVolumeClaim kind: spec PersistentVolumeClaimSpec, status PersistentVolumeClaimStatus
PersistentVolumeClaimSpec: accessModes []PersistentVolumeAccessMode atomic, selector *LabelSelector
    resources VolumeResourceRequirements, volumeName, storageClassName *string, volumeMode *PersistentVolumeMode
    dataSource *TypedLocalObjectReference, dataSourceRef *TypedObjectReference, volumeAttributesClassName *string
VolumeResourceRequirements: limits ResourceList, requests ResourceList
TypedLocalObjectReference atomic: apiGroup! *string optional, kind!, name!
TypedObjectReference: apiGroup! *string optional, kind!, name!, namespace *string
PersistentVolumeClaimStatus: phase PersistentVolumeClaimPhase, accessModes []PersistentVolumeAccessMode atomic
    capacity ResourceList, conditions []PersistentVolumeClaimCondition by(type), allocatedResources ResourceList
    allocatedResourceStatuses map[ResourceName]ClaimResourceStatus granular
    currentVolumeAttributesClassName *string, modifyVolumeStatus *ModifyVolumeStatus
PersistentVolumeClaimCondition: type! PersistentVolumeClaimConditionType, status! ConditionStatus, lastProbeTime Time
    lastTransitionTime Time, reason, message
ModifyVolumeStatus: targetVolumeAttributesClassName, status! PersistentVolumeClaimModifyVolumeStatus
"""
