"""The fields with texts that leave the process in snapshots, recordings and exports of the page, by struct.

A field that can have texts or structs and is not listed here is left out, including any field that a struct gets
later. Numbers, truth values and times always stay. Questions and scheduling read the listed fields; a few more
identify a volume, since an API server refuses one without them.
"""

from typing import Final

_FIELDS: Final = """
# devices
AllocatedDeviceStatus: driver pool device share_id conditions
AllocationResult: devices node_selector
CELDeviceSelector: expression
CapacityRequestPolicy: default valid_values valid_range
CapacityRequestPolicyRange: min max step
CapacityRequirements: requests
Counter: value
CounterSet: name counters
Device: name attributes capacity consumes_counters node_name node_selector taints binding_conditions
    binding_failure_conditions node_allocatable_resource_mappings
DeviceAllocationConfiguration: source requests opaque
DeviceAllocationResult: results config
DeviceAttribute: string_value version_value string_values version_values
DeviceCapacity: value request_policy
DeviceClaim: requests constraints config
DeviceClaimConfiguration: requests opaque
DeviceClass: api_version kind metadata spec
DeviceClassConfiguration: opaque
DeviceClassSpec: selectors config extended_resource_name
DeviceConstraint: requests match_attribute distinct_attribute
DeviceCounterConsumption: counter_set counters
DeviceRequest: name exactly first_available
DeviceRequestAllocationResult: request driver pool device tolerations binding_conditions binding_failure_conditions
    share_id consumed_capacity
DeviceSelector: cel
DeviceSubRequest: name device_class_name selectors allocation_mode tolerations capacity
DeviceTaint: key value effect
DeviceTaintRule: api_version kind metadata spec status
DeviceTaintRuleSpec: device_selector taint
DeviceTaintSelector: driver pool device
DeviceToleration: key operator value effect
ExactDeviceRequest: device_class_name selectors allocation_mode tolerations capacity
NodeAllocatableResourceMapping: capacity_key allocation_multiplier
OpaqueDeviceConfiguration: driver
ResourceClaim: api_version kind metadata spec status
ResourceClaimConsumerReference: api_group resource name uid
ResourceClaimSpec: devices
ResourceClaimStatus: allocation reserved_for devices
ResourceClaimTemplate: api_version kind metadata spec
ResourceClaimTemplateSpec: metadata spec
ResourcePool: name
ResourceSlice: api_version kind metadata spec
ResourceSliceSpec: driver pool node_name node_selector devices shared_counters
# meta
Condition: type status reason message
LabelSelector: match_labels match_expressions
LabelSelectorRequirement: key operator values
ObjectMeta: name generate_name namespace uid resource_version labels annotations owner_references finalizers
ObjectReference: kind namespace name uid api_version resource_version field_path
OwnerReference: api_version kind name uid
TypedLocalObjectReference: api_group kind name namespace
# nodes
ContainerImage: names
Namespace: api_version kind metadata spec status
NamespaceStatus: phase
Node: api_version kind metadata spec status
NodeCondition: type status reason message
NodeSpec: taints
NodeStatus: capacity allocatable conditions node_info images declared_features
NodeSystemInfo: kubelet_version operating_system architecture
# owners
ReplicaSet: api_version kind metadata spec status
ReplicaSetSpec: selector
ReplicationController: api_version kind metadata spec status
ReplicationControllerSpec: selector
Service: api_version kind metadata spec
ServiceSpec: selector type
StatefulSet: api_version kind metadata spec status
StatefulSetSpec: selector service_name
# pods
Affinity: node_affinity pod_affinity pod_anti_affinity
Container: name image resources ports restart_policy restart_policy_rules security_context
ContainerExtendedResourceRequest: container_name resource_name request_name
ContainerPort: name host_ip protocol
ContainerRestartRule: action
ContainerStatus: name resources allocated_resources
NodeAffinity: required_during_scheduling_ignored_during_execution preferred_during_scheduling_ignored_during_execution
NodeAllocatableResourceClaimStatus: resource_claim_name containers resources
NodeSelector: node_selector_terms
NodeSelectorRequirement: key operator values
NodeSelectorTerm: match_expressions match_fields
Pod: api_version kind metadata spec status
PodAffinity: required_during_scheduling_ignored_during_execution preferred_during_scheduling_ignored_during_execution
PodAffinityTerm: label_selector namespaces topology_key namespace_selector match_label_keys mismatch_label_keys
PodExtendedResourceClaimStatus: request_mappings resource_claim_name
PodOS: name
PodResourceClaim: name resource_claim_name resource_claim_template_name
PodResourceClaimStatus: name resource_claim_name
PodSchedulingGate: name
PodSchedulingGroup: pod_group_name
PodSpec: containers init_containers node_name scheduler_name node_selector affinity tolerations
    topology_spread_constraints scheduling_gates scheduling_group resource_claims volumes overhead resources
    priority_class_name preemption_policy os restart_policy security_context runtime_class_name
PodStatus: phase conditions nominated_node_name container_statuses init_container_statuses resize resources
    allocated_resources resource_claim_statuses extended_resource_claim_status
    node_allocatable_resource_claim_statuses
PreferredSchedulingTerm: preference
ResourceClaimRef: name request
ResourceRequirements: requests limits claims
SeccompProfile: type localhost_profile
SecurityContext: seccomp_profile
Taint: key value effect
Toleration: key operator value effect
TopologySpreadConstraint: topology_key when_unsatisfiable label_selector node_affinity_policy node_taints_policy
    match_label_keys
WeightedPodAffinityTerm: pod_affinity_term
# policy
PodDisruptionBudget: api_version kind metadata spec status
PodDisruptionBudgetSpec: selector min_available max_unavailable unhealthy_pod_eviction_policy
PodDisruptionBudgetStatus: disrupted_pods
# scheduling
PodGroup: api_version kind metadata spec status
PodGroupResourceClaim: name resource_claim_name resource_claim_template_name
PodGroupResourceClaimStatus: name resource_claim_name
PodGroupSchedulingConstraints: topology
PodGroupSchedulingPolicy: basic gang
PodGroupSpec: pod_group_template_ref scheduling_policy scheduling_constraints resource_claims disruption_mode
    priority_class_name
PodGroupStatus: conditions resource_claim_statuses
PodGroupTemplate: name scheduling_policy scheduling_constraints resource_claims disruption_mode priority_class_name
PodGroupTemplateReference: workload
PriorityClass: api_version kind metadata preemption_policy
TopologyConstraint: key
Workload: api_version kind metadata spec
WorkloadPodGroupTemplateReference: workload_name pod_group_template_name
WorkloadSpec: controller_ref pod_group_templates
# storage
AzureFilePersistentVolumeSource: secret_name share_name
CSIDriver: api_version kind metadata spec
CSIDriverSpec: volume_lifecycle_modes fs_group_policy
CSINode: api_version kind metadata spec
CSINodeDriver: name node_id topology_keys allocatable
CSINodeSpec: drivers
CSIPersistentVolumeSource: driver volume_handle
CSIStorageCapacity: api_version kind metadata node_topology storage_class_name capacity maximum_volume_size
CinderPersistentVolumeSource: volume_id
FCVolumeSource: target_wwns wwids
HostPathVolumeSource: path type
ISCSIPersistentVolumeSource: target_portal iqn iscsi_interface portals
LocalVolumeSource: path
ModifyVolumeStatus: target_volume_attributes_class_name status
NFSVolumeSource: server path
PersistentVolume: api_version kind metadata spec status
PersistentVolumeClaim: api_version kind metadata spec status
PersistentVolumeClaimStatus: phase access_modes capacity allocated_resources allocated_resource_statuses
    current_volume_attributes_class_name modify_volume_status
PersistentVolumeSpec: capacity access_modes claim_ref persistent_volume_reclaim_policy storage_class_name
    volume_mode node_affinity volume_attributes_class_name csi gce_persistent_disk aws_elastic_block_store
    azure_disk azure_file cinder vsphere_volume portworx_volume iscsi rbd fc nfs local host_path
PersistentVolumeStatus: phase
RBDPersistentVolumeSource: monitors image pool
StorageClass: api_version kind metadata provisioner reclaim_policy volume_binding_mode allowed_topologies
TopologySelectorLabelRequirement: key values
TopologySelectorTerm: match_label_expressions
VolumeAttachment: api_version kind metadata spec status
VolumeAttachmentSource: persistent_volume_name inline_volume_spec
VolumeAttachmentSpec: attacher source node_name
VolumeAttributesClass: api_version kind metadata driver_name
VolumeNodeAffinity: required
# volumes
AWSElasticBlockStoreVolumeSource: volume_id
AzureDiskVolumeSource: disk_name disk_uri kind
AzureFileVolumeSource: secret_name share_name
CSIVolumeSource: driver
CinderVolumeSource: volume_id
EphemeralVolumeClaimMetadata: labels annotations
EphemeralVolumeSource: volume_claim_template
GCEPersistentDiskVolumeSource: pd_name
ISCSIVolumeSource: iqn target_portal
ImageVolumeSource: reference pull_policy
PersistentVolumeClaimSpec: access_modes selector resources volume_name storage_class_name volume_mode data_source
    data_source_ref volume_attributes_class_name
PersistentVolumeClaimTemplate: metadata spec
PersistentVolumeClaimVolumeSource: claim_name
PortworxVolumeSource: volume_id
RBDVolumeSource: monitors image pool
TypedObjectReference: api_group kind name namespace
EmptyDirVolumeSource: medium
Volume: name persistent_volume_claim ephemeral empty_dir gce_persistent_disk aws_elastic_block_store iscsi rbd
    azure_disk azure_file cinder vsphere_volume portworx_volume csi image
VolumeResourceRequirements: requests limits
VsphereVirtualDiskVolumeSource: volume_path
"""


def kept_fields() -> dict[str, frozenset[str]]:
    """Return the names of the kept fields, by the name of their struct."""
    kept: dict[str, frozenset[str]] = {}
    struct = ""
    for line in _FIELDS.splitlines():
        if not line or line.startswith("#"):
            continue
        name, colon, fields = line.partition(":")
        struct, names = (name, fields) if colon else (struct, line)
        kept[struct] = kept.get(struct, frozenset()) | frozenset(names.split())
    return kept
