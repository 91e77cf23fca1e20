"""Devices: the classes they are asked for by, the claims to them, the slices that offer them, their taints."""

# upstream: api/resource/{v1,v1beta2}/types.go (v1.36)

TYPES = """
string: DeviceAllocationMode, DeviceTolerationOperator, DeviceTaintEffect, QualifiedName, FullyQualifiedName
string: AllocationConfigSource

DeviceClass kind: spec=2! DeviceClassSpec
DeviceClassSpec: selectors=1 []DeviceSelector atomic most(32), config=2 []DeviceClassConfiguration atomic most(32)
    extendedResourceName=4 *string format(extendedresource)
DeviceSelector: cel=1 *CELDeviceSelector
CELDeviceSelector: expression=1!
DeviceClassConfiguration: +DeviceConfiguration=1
DeviceConfiguration: opaque=1 *OpaqueDeviceConfiguration
OpaqueDeviceConfiguration: driver=1!, parameters=2! RawExtension

ResourceClaim kind: spec=2! ResourceClaimSpec, status=3 ResourceClaimStatus
ResourceClaimTemplate kind: spec=2! ResourceClaimTemplateSpec
ResourceClaimTemplateSpec: metadata=1 ObjectMeta, spec=2! ResourceClaimSpec
ResourceClaimSpec: devices=1! DeviceClaim optional
DeviceClaim: requests=1! []DeviceRequest atomic optional, constraints=2 []DeviceConstraint atomic
    config=3 []DeviceClaimConfiguration atomic
DeviceRequest: name=1!, exactly=2 *ExactDeviceRequest, firstAvailable=3 []DeviceSubRequest atomic
ExactDeviceRequest: deviceClassName=1!, selectors=2 []DeviceSelector atomic, allocationMode=3 DeviceAllocationMode
    count=4 int64, adminAccess=5 *bool, tolerations=6 []DeviceToleration atomic, capacity=7 *CapacityRequirements
DeviceSubRequest: name=1!, deviceClassName=2!, selectors=3 []DeviceSelector atomic
    allocationMode=4 DeviceAllocationMode, count=5 int64, tolerations=6 []DeviceToleration atomic
    capacity=7 *CapacityRequirements
DeviceToleration: key=1, operator=2 DeviceTolerationOperator, value=3, effect=4 DeviceTaintEffect
    tolerationSeconds=5 *int64
CapacityRequirements: requests=1 map[QualifiedName]Quantity
DeviceConstraint: requests=1 []string atomic, matchAttribute=2 *FullyQualifiedName
    distinctAttribute=3 *FullyQualifiedName
DeviceClaimConfiguration: requests=1 []string atomic, +DeviceConfiguration=2

ResourceClaimStatus: allocation=1 *AllocationResult, reservedFor=2 []ResourceClaimConsumerReference by(uid)
    devices=4 []AllocatedDeviceStatus map(driver device pool shareID)
AllocationResult: devices=1 DeviceAllocationResult, nodeSelector=3 *NodeSelector, allocationTimestamp=5 *Time
DeviceAllocationResult: results=1 []DeviceRequestAllocationResult atomic
    config=2 []DeviceAllocationConfiguration atomic
DeviceRequestAllocationResult: request=1!, driver=2!, pool=3!, device=4!, adminAccess=5 *bool
    tolerations=6 []DeviceToleration atomic, bindingConditions=7 []string atomic
    bindingFailureConditions=8 []string atomic, shareID=9 *UID, consumedCapacity=10 map[QualifiedName]Quantity
DeviceAllocationConfiguration: source=1! AllocationConfigSource, requests=2 []string atomic, +DeviceConfiguration=3
ResourceClaimConsumerReference: apiGroup=1, resource=3!, name=4!, uid=5! UID
AllocatedDeviceStatus: driver=1!, pool=2!, device=3!, shareID=7 *string, conditions=4! []Condition map(type) optional
    data=5 *RawExtension, networkData=6 *NetworkDeviceData
NetworkDeviceData: interfaceName=1, ips=2 []string atomic, hardwareAddress=3

ResourceSlice kind: spec=2! ResourceSliceSpec
ResourceSliceSpec: driver=1!, pool=2! ResourcePool, nodeName=3 *string, nodeSelector=4 *NodeSelector, allNodes=5 *bool
    devices=6 []Device atomic, perDeviceNodeSelection=7 *bool, sharedCounters=8 []CounterSet atomic
ResourcePool: name=1! string nonempty format(pool), generation=2! int64 min(0 must be greater than or equal to zero)
    resourceSliceCount=3! int64 min(1 must be greater than zero)
CounterSet: name=1!, counters=2 map[string]Counter required
Counter: value=1! Quantity
Device: name=1!, attributes=2 map[QualifiedName]DeviceAttribute, capacity=3 map[QualifiedName]DeviceCapacity
    consumesCounters=4 []DeviceCounterConsumption atomic, nodeName=5 *string, nodeSelector=6 *NodeSelector
    allNodes=7 *bool, taints=8 []DeviceTaint atomic, bindsToNode=9 *bool, bindingConditions=10 []string atomic
    bindingFailureConditions=11 []string atomic, allowMultipleAllocations=12 *bool
    nodeAllocatableResourceMappings=13 map[ResourceName]NodeAllocatableResourceMapping
DeviceAttribute: int=2 *int64, bool=3 *bool, string=4 *string, version=5 *string, ints=6 []int64 atomic
    bools=7 []bool atomic, strings=8 []string atomic, versions=9 []string atomic
DeviceCapacity: value=1! Quantity, requestPolicy=2 *CapacityRequestPolicy
CapacityRequestPolicy: default=1! *Quantity optional, validValues=3 []Quantity atomic
    validRange=4 *CapacityRequestPolicyRange
CapacityRequestPolicyRange: min=1 *Quantity required, max=2 *Quantity, step=3 *Quantity
DeviceCounterConsumption: counterSet=1!, counters=2 map[string]Counter required
DeviceTaint: key=1!, value=2, effect=3! DeviceTaintEffect, timeAdded=4 *Time
NodeAllocatableResourceMapping: capacityKey=1 *QualifiedName, allocationMultiplier=2 *Quantity
"""

TAINT_RULES = """
string: DeviceTaintEffect

DeviceTaintRule kind: spec=2! DeviceTaintRuleSpec, status=3 DeviceTaintRuleStatus
DeviceTaintRuleSpec: deviceSelector=1 *DeviceTaintSelector, taint=2 DeviceTaint required
DeviceTaintSelector: driver=2 *string format(driver), pool=3 *string format(pool), device=4 *string format(label)
DeviceTaint: key=1!, value=2, effect=3! DeviceTaintEffect, timeAdded=4 *Time
DeviceTaintRuleStatus: conditions=1 []Condition by(type)
"""
