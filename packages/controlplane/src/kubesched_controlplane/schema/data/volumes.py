"""Volumes of pods, and the sources they come from."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: HostPathType, StorageMedium, AzureDataDiskCachingMode, AzureDataDiskKind

Volume: name=1!, +VolumeSource=2
VolumeSource: hostPath=1 *HostPathVolumeSource, emptyDir=2 *EmptyDirVolumeSource
    gcePersistentDisk=3 *GCEPersistentDiskVolumeSource, awsElasticBlockStore=4 *AWSElasticBlockStoreVolumeSource
    gitRepo=5 *GitRepoVolumeSource, secret=6 *SecretVolumeSource, nfs=7 *NFSVolumeSource, iscsi=8 *ISCSIVolumeSource
    glusterfs=9 *GlusterfsVolumeSource, persistentVolumeClaim=10 *PersistentVolumeClaimVolumeSource
    rbd=11 *RBDVolumeSource, flexVolume=12 *FlexVolumeSource, cinder=13 *CinderVolumeSource
    cephfs=14 *CephFSVolumeSource, flocker=15 *FlockerVolumeSource, downwardAPI=16 *DownwardAPIVolumeSource
    fc=17 *FCVolumeSource, azureFile=18 *AzureFileVolumeSource, configMap=19 *ConfigMapVolumeSource
    vsphereVolume=20 *VsphereVirtualDiskVolumeSource, quobyte=21 *QuobyteVolumeSource
    azureDisk=22 *AzureDiskVolumeSource, photonPersistentDisk=23 *PhotonPersistentDiskVolumeSource
    projected=26 *ProjectedVolumeSource, portworxVolume=24 *PortworxVolumeSource, scaleIO=25 *ScaleIOVolumeSource
    storageos=27 *StorageOSVolumeSource, csi=28 *CSIVolumeSource, ephemeral=29 *EphemeralVolumeSource
    image=30 *ImageVolumeSource

HostPathVolumeSource: path=1! string nonempty, type=2 *HostPathType
EmptyDirVolumeSource: medium=1 StorageMedium, sizeLimit=2 *Quantity
GCEPersistentDiskVolumeSource: pdName=1! string nonempty, fsType=2, partition=3 int32, readOnly=4 bool
AWSElasticBlockStoreVolumeSource: volumeID=1! string nonempty, fsType=2, partition=3 int32, readOnly=4 bool
GitRepoVolumeSource: repository=1! string nonempty, revision=2, directory=3
SecretVolumeSource: secretName=1 string nonempty, items=2 []KeyToPath atomic, defaultMode=3 *int32, optional=4 *bool
ConfigMapVolumeSource: +LocalObjectReference=1, items=2 []KeyToPath atomic, defaultMode=3 *int32, optional=4 *bool
KeyToPath: key=1!, path=2!, mode=3 *int32
NFSVolumeSource: server=1! string nonempty, path=2! string nonempty, readOnly=3 bool
ISCSIVolumeSource: targetPortal=1! string nonempty, iqn=2! string nonempty, lun=3! int32, iscsiInterface=4, fsType=5
    readOnly=6 bool, portals=7 []string atomic, chapAuthDiscovery=8 bool, chapAuthSession=11 bool
    secretRef=10 *LocalObjectReference, initiatorName=12 *string
GlusterfsVolumeSource: endpoints=1! string nonempty, path=2! string nonempty, readOnly=3 bool
PersistentVolumeClaimVolumeSource: claimName=1! string nonempty, readOnly=2 bool
RBDVolumeSource: monitors=1! []string atomic nonempty, image=2! string nonempty, fsType=3, pool=4, user=5, keyring=6
    secretRef=7 *LocalObjectReference, readOnly=8 bool
FlexVolumeSource: driver=1! string nonempty, fsType=2, secretRef=3 *LocalObjectReference, readOnly=4 bool
    options=5 map[string]string
CinderVolumeSource: volumeID=1! string nonempty, fsType=2, readOnly=3 bool, secretRef=4 *LocalObjectReference
CephFSVolumeSource: monitors=1! []string atomic nonempty, path=2, user=3, secretFile=4
    secretRef=5 *LocalObjectReference, readOnly=6 bool
FlockerVolumeSource: datasetName=1, datasetUUID=2
DownwardAPIVolumeSource: items=1 []DownwardAPIVolumeFile atomic, defaultMode=2 *int32
DownwardAPIVolumeFile: path=1!, fieldRef=2 *ObjectFieldSelector, resourceFieldRef=3 *ResourceFieldSelector
    mode=4 *int32
FCVolumeSource: targetWWNs=1 []string atomic, lun=2 *int32, fsType=3, readOnly=4 bool, wwids=5 []string atomic
AzureFileVolumeSource: secretName=1! string nonempty, shareName=2! string nonempty, readOnly=3 bool
VsphereVirtualDiskVolumeSource: volumePath=1! string nonempty, fsType=2, storagePolicyName=3, storagePolicyID=4
QuobyteVolumeSource: registry=1! string nonempty, volume=2! string nonempty, readOnly=3 bool, user=4, group=5
    tenant=6
AzureDiskVolumeSource: diskName=1! string nonempty, diskURI=2! string nonempty
    cachingMode=3 *AzureDataDiskCachingMode, fsType=4 *string, readOnly=5 *bool, kind=6 *AzureDataDiskKind
PhotonPersistentDiskVolumeSource: pdID=1! string nonempty, fsType=2
PortworxVolumeSource: volumeID=1! string nonempty, fsType=2, readOnly=3 bool
ScaleIOVolumeSource: gateway=1! string nonempty, system=2! string nonempty, secretRef=3! *LocalObjectReference
    sslEnabled=4 bool, protectionDomain=5, storagePool=6, storageMode=7, volumeName=8 string nonempty, fsType=9
    readOnly=10 bool
StorageOSVolumeSource: volumeName=1, volumeNamespace=2, fsType=3, readOnly=4 bool, secretRef=5 *LocalObjectReference
CSIVolumeSource: driver=1!, readOnly=2 *bool, fsType=3 *string, volumeAttributes=4 map[string]string
    nodePublishSecretRef=5 *LocalObjectReference
EphemeralVolumeSource: volumeClaimTemplate=1 *PersistentVolumeClaimTemplate nonempty
PersistentVolumeClaimTemplate: metadata=1 ObjectMeta, spec=2! PersistentVolumeClaimSpec
ImageVolumeSource: reference=1 string nonempty, pullPolicy=2 PullPolicy

ProjectedVolumeSource: sources=1! []VolumeProjection atomic optional, defaultMode=2 *int32
VolumeProjection: secret=1 *SecretProjection, downwardAPI=2 *DownwardAPIProjection, configMap=3 *ConfigMapProjection
    serviceAccountToken=4 *ServiceAccountTokenProjection, clusterTrustBundle=5 *ClusterTrustBundleProjection
    podCertificate=6 *PodCertificateProjection
SecretProjection: +LocalObjectReference=1, items=2 []KeyToPath atomic, optional=4 *bool
DownwardAPIProjection: items=1 []DownwardAPIVolumeFile atomic
ConfigMapProjection: +LocalObjectReference=1, items=2 []KeyToPath atomic, optional=4 *bool
ServiceAccountTokenProjection: audience=1, expirationSeconds=2 *int64, path=3!
ClusterTrustBundleProjection: name=1 *string, signerName=2 *string, labelSelector=3 *LabelSelector, optional=5 *bool
    path=4!
PodCertificateProjection: signerName=1 string required, keyType=2 string required, maxExpirationSeconds=3 *int32
    credentialBundlePath=4, keyPath=5, certificateChainPath=6, userAnnotations=7 map[string]string
"""
