"""Volumes of pods, and the sources they come from."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: HostPathType, StorageMedium, AzureDataDiskCachingMode, AzureDataDiskKind

Volume: name!, +VolumeSource
VolumeSource: hostPath *HostPathVolumeSource, emptyDir *EmptyDirVolumeSource
    gcePersistentDisk *GCEPersistentDiskVolumeSource, awsElasticBlockStore *AWSElasticBlockStoreVolumeSource
    gitRepo *GitRepoVolumeSource, secret *SecretVolumeSource, nfs *NFSVolumeSource, iscsi *ISCSIVolumeSource
    glusterfs *GlusterfsVolumeSource, persistentVolumeClaim *PersistentVolumeClaimVolumeSource, rbd *RBDVolumeSource
    flexVolume *FlexVolumeSource, cinder *CinderVolumeSource, cephfs *CephFSVolumeSource
    flocker *FlockerVolumeSource, downwardAPI *DownwardAPIVolumeSource, fc *FCVolumeSource
    azureFile *AzureFileVolumeSource, configMap *ConfigMapVolumeSource, vsphereVolume *VsphereVirtualDiskVolumeSource
    quobyte *QuobyteVolumeSource, azureDisk *AzureDiskVolumeSource
    photonPersistentDisk *PhotonPersistentDiskVolumeSource, projected *ProjectedVolumeSource
    portworxVolume *PortworxVolumeSource, scaleIO *ScaleIOVolumeSource, storageos *StorageOSVolumeSource
    csi *CSIVolumeSource, ephemeral *EphemeralVolumeSource, image *ImageVolumeSource

HostPathVolumeSource: path!, type *HostPathType
EmptyDirVolumeSource: medium StorageMedium, sizeLimit *Quantity
GCEPersistentDiskVolumeSource: pdName!, fsType, partition int32, readOnly bool
AWSElasticBlockStoreVolumeSource: volumeID!, fsType, partition int32, readOnly bool
GitRepoVolumeSource: repository!, revision, directory
SecretVolumeSource: secretName, items []KeyToPath atomic, defaultMode *int32, optional *bool
ConfigMapVolumeSource: +LocalObjectReference, items []KeyToPath atomic, defaultMode *int32, optional *bool
KeyToPath: key!, path!, mode *int32
NFSVolumeSource: server!, path!, readOnly bool
ISCSIVolumeSource: targetPortal!, iqn!, lun! int32, iscsiInterface, fsType, readOnly bool, portals []string atomic
    chapAuthDiscovery bool, chapAuthSession bool, secretRef *LocalObjectReference, initiatorName *string
GlusterfsVolumeSource: endpoints!, path!, readOnly bool
PersistentVolumeClaimVolumeSource: claimName!, readOnly bool
RBDVolumeSource: monitors! []string atomic, image!, fsType, pool, user, keyring, secretRef *LocalObjectReference
    readOnly bool
FlexVolumeSource: driver!, fsType, secretRef *LocalObjectReference, readOnly bool, options map[string]string
CinderVolumeSource: volumeID!, fsType, readOnly bool, secretRef *LocalObjectReference
CephFSVolumeSource: monitors! []string atomic, path, user, secretFile, secretRef *LocalObjectReference, readOnly bool
FlockerVolumeSource: datasetName, datasetUUID
DownwardAPIVolumeSource: items []DownwardAPIVolumeFile atomic, defaultMode *int32
DownwardAPIVolumeFile: path!, fieldRef *ObjectFieldSelector, resourceFieldRef *ResourceFieldSelector, mode *int32
FCVolumeSource: targetWWNs []string atomic, lun *int32, fsType, readOnly bool, wwids []string atomic
AzureFileVolumeSource: secretName!, shareName!, readOnly bool
VsphereVirtualDiskVolumeSource: volumePath!, fsType, storagePolicyName, storagePolicyID
QuobyteVolumeSource: registry!, volume!, readOnly bool, user, group, tenant
AzureDiskVolumeSource: diskName!, diskURI!, cachingMode *AzureDataDiskCachingMode, fsType *string, readOnly *bool
    kind *AzureDataDiskKind
PhotonPersistentDiskVolumeSource: pdID!, fsType
PortworxVolumeSource: volumeID!, fsType, readOnly bool
ScaleIOVolumeSource: gateway!, system!, secretRef! *LocalObjectReference, sslEnabled bool, protectionDomain, storagePool
    storageMode, volumeName, fsType, readOnly bool
StorageOSVolumeSource: volumeName, volumeNamespace, fsType, readOnly bool, secretRef *LocalObjectReference
CSIVolumeSource: driver!, readOnly *bool, fsType *string, volumeAttributes map[string]string
    nodePublishSecretRef *LocalObjectReference
EphemeralVolumeSource: volumeClaimTemplate *PersistentVolumeClaimTemplate
PersistentVolumeClaimTemplate: metadata ObjectMeta, spec! PersistentVolumeClaimSpec
ImageVolumeSource: reference, pullPolicy PullPolicy

ProjectedVolumeSource: sources! []VolumeProjection atomic optional, defaultMode *int32
VolumeProjection: secret *SecretProjection, downwardAPI *DownwardAPIProjection, configMap *ConfigMapProjection
    serviceAccountToken *ServiceAccountTokenProjection, clusterTrustBundle *ClusterTrustBundleProjection
    podCertificate *PodCertificateProjection
SecretProjection: +LocalObjectReference, items []KeyToPath atomic, optional *bool
DownwardAPIProjection: items []DownwardAPIVolumeFile atomic
ConfigMapProjection: +LocalObjectReference, items []KeyToPath atomic, optional *bool
ServiceAccountTokenProjection: audience, expirationSeconds *int64, path!
ClusterTrustBundleProjection: name *string, signerName *string, labelSelector *LabelSelector, optional *bool, path!
PodCertificateProjection: signerName string required, keyType string required, maxExpirationSeconds *int32
    credentialBundlePath, keyPath, certificateChainPath, userAnnotations map[string]string
"""
