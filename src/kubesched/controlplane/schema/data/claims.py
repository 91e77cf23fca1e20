"""Devices: the classes they are asked for by, the claims to them, the slices that offer them, their taints."""

# upstream: api/resource/{v1,v1beta2}/types.go (v1.36)

TYPES = """
string: DeviceAllocationMode, DeviceTolerationOperator, DeviceTaintEffect, QualifiedName, FullyQualifiedName
string: AllocationConfigSource

DeviceClass kind: spec! DeviceClassSpec
DeviceClassSpec: selectors []DeviceSelector atomic, config []DeviceClassConfiguration atomic
    extendedResourceName *string
DeviceSelector: cel *CELDeviceSelector
CELDeviceSelector: expression!
DeviceClassConfiguration: +DeviceConfiguration
DeviceConfiguration: opaque *OpaqueDeviceConfiguration
OpaqueDeviceConfiguration: driver!, parameters! RawExtension

ResourceClaim kind: spec! ResourceClaimSpec, status ResourceClaimStatus
ResourceClaimTemplate kind: spec! ResourceClaimTemplateSpec
ResourceClaimTemplateSpec: metadata ObjectMeta, spec! ResourceClaimSpec
ResourceClaimSpec: devices! DeviceClaim optional
DeviceClaim: requests! []DeviceRequest atomic optional, constraints []DeviceConstraint atomic
    config []DeviceClaimConfiguration atomic
DeviceRequest: name!, exactly *ExactDeviceRequest, firstAvailable []DeviceSubRequest atomic
ExactDeviceRequest: deviceClassName!, selectors []DeviceSelector atomic, allocationMode DeviceAllocationMode
    count int64, adminAccess *bool, tolerations []DeviceToleration atomic, capacity *CapacityRequirements
DeviceSubRequest: name!, deviceClassName!, selectors []DeviceSelector atomic, allocationMode DeviceAllocationMode
    count int64, tolerations []DeviceToleration atomic, capacity *CapacityRequirements
DeviceToleration: key, operator DeviceTolerationOperator, value, effect DeviceTaintEffect, tolerationSeconds *int64
CapacityRequirements: requests map[QualifiedName]Quantity
DeviceConstraint: requests []string atomic, matchAttribute *FullyQualifiedName, distinctAttribute *FullyQualifiedName
DeviceClaimConfiguration: requests []string atomic, +DeviceConfiguration

ResourceClaimStatus: allocation *AllocationResult, reservedFor []ResourceClaimConsumerReference by(uid)
    devices []AllocatedDeviceStatus map(driver device pool shareID)
AllocationResult: devices DeviceAllocationResult, nodeSelector *NodeSelector, allocationTimestamp *Time
DeviceAllocationResult: results []DeviceRequestAllocationResult atomic, config []DeviceAllocationConfiguration atomic
DeviceRequestAllocationResult: request!, driver!, pool!, device!, adminAccess *bool
    tolerations []DeviceToleration atomic, bindingConditions []string atomic, bindingFailureConditions []string atomic
    shareID *UID, consumedCapacity map[QualifiedName]Quantity
DeviceAllocationConfiguration: source! AllocationConfigSource, requests []string atomic, +DeviceConfiguration
ResourceClaimConsumerReference: apiGroup, resource!, name!, uid! UID
AllocatedDeviceStatus: driver!, pool!, device!, shareID *string, conditions! []Condition map(type) optional
    data *RawExtension, networkData *NetworkDeviceData
NetworkDeviceData: interfaceName, ips []string atomic, hardwareAddress

ResourceSlice kind: spec! ResourceSliceSpec
ResourceSliceSpec: driver!, pool! ResourcePool, nodeName *string, nodeSelector *NodeSelector, allNodes *bool
    devices []Device atomic, perDeviceNodeSelection *bool, sharedCounters []CounterSet atomic
ResourcePool: name!, generation! int64, resourceSliceCount! int64
CounterSet: name!, counters map[string]Counter required
Counter: value! Quantity
Device: name!, attributes map[QualifiedName]DeviceAttribute, capacity map[QualifiedName]DeviceCapacity
    consumesCounters []DeviceCounterConsumption atomic, nodeName *string, nodeSelector *NodeSelector, allNodes *bool
    taints []DeviceTaint atomic, bindsToNode *bool, bindingConditions []string atomic
    bindingFailureConditions []string atomic, allowMultipleAllocations *bool
    nodeAllocatableResourceMappings map[ResourceName]NodeAllocatableResourceMapping
DeviceAttribute: int *int64, bool *bool, string *string, version *string, ints []int64 atomic, bools []bool atomic
    strings []string atomic, versions []string atomic
DeviceCapacity: value! Quantity, requestPolicy *CapacityRequestPolicy
CapacityRequestPolicy: default! *Quantity optional, validValues []Quantity atomic
    validRange *CapacityRequestPolicyRange
CapacityRequestPolicyRange: min *Quantity required, max *Quantity, step *Quantity
DeviceCounterConsumption: counterSet!, counters map[string]Counter required
DeviceTaint: key!, value, effect! DeviceTaintEffect, timeAdded *Time
NodeAllocatableResourceMapping: capacityKey *QualifiedName, allocationMultiplier *Quantity
"""

TAINT_RULES = """
string: DeviceTaintEffect

DeviceTaintRule kind: spec! DeviceTaintRuleSpec, status DeviceTaintRuleStatus
DeviceTaintRuleSpec: deviceSelector *DeviceTaintSelector, taint DeviceTaint required
DeviceTaintSelector: driver *string, pool *string, device *string
DeviceTaint: key!, value, effect! DeviceTaintEffect, timeAdded *Time
DeviceTaintRuleStatus: conditions []Condition by(type)
"""
