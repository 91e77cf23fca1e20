"""Devices and claims to them (resource.k8s.io).

From JSON documents to frozen structs; see `meta` for the conventions. The shape is that of v1, which v1beta2 shares;
DeviceTaintRule has that of v1beta2, which v1alpha3 shares. Parameters of drivers are opaque and passed on unchanged.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

import msgspec

from kubesched.api.meta import ApiObject, ApiStruct, Condition, Int64, ObjectMeta, RawQuantity, Timestamp
from kubesched.api.opaque_json import OpaqueJson, keep_value
from kubesched.api.pods import NodeSelector

# Slices.


class Counter(ApiStruct, frozen=True):
    """An amount that several devices consume from."""

    value: RawQuantity = 0


class CounterSet(ApiStruct, frozen=True):
    """A named set of counters of a pool."""

    name: str = ""
    counters: dict[str, Counter] = {}


class DeviceCounterConsumption(ApiStruct, frozen=True):
    """The counters that a device consumes from one counter set."""

    counter_set: str = ""
    counters: dict[str, Counter] = {}


class CapacityRequestPolicyRange(ApiStruct, frozen=True):
    """The valid amounts of a request: from min to max in steps."""

    min: RawQuantity | None = None
    max: RawQuantity | None = None
    step: RawQuantity | None = None


class CapacityRequestPolicy(ApiStruct, frozen=True):
    """The valid amounts of requests for a shared capacity, and the default of a request without an amount."""

    default: RawQuantity | None = None
    valid_values: tuple[RawQuantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(ApiStruct, frozen=True):
    """A capacity of a device."""

    value: RawQuantity = 0
    request_policy: CapacityRequestPolicy | None = None


class DeviceAttribute(ApiStruct, frozen=True):
    """An attribute of a device; one of the values is set, and an empty list is a value."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")
    int_values: tuple[Int64, ...] | None = msgspec.field(default=None, name="ints")
    bool_values: tuple[bool, ...] | None = msgspec.field(default=None, name="bools")
    string_values: tuple[str, ...] | None = msgspec.field(default=None, name="strings")
    version_values: tuple[str, ...] | None = msgspec.field(default=None, name="versions")


class DeviceTaint(ApiStruct, frozen=True):
    """A taint of a device."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Timestamp | None = None


class NodeAllocatableResourceMapping(ApiStruct, frozen=True):
    """How much of a node's allocatable resource an allocation of the device takes."""

    capacity_key: str | None = None
    allocation_multiplier: RawQuantity | None = None


class Device(ApiStruct, frozen=True):
    """One device of a slice."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] = {}


class ResourcePool(ApiStruct, frozen=True):
    """The pool a slice belongs to; only slices of the highest generation count."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(ApiStruct, frozen=True):
    """spec of a slice: devices of a driver, and the nodes that can use them."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(ApiObject, frozen=True):
    """Part of a pool of devices."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


# Claims and classes.


class CELDeviceSelector(ApiStruct, frozen=True):
    """A CEL expression over a device."""

    expression: str = ""


class DeviceSelector(ApiStruct, frozen=True):
    """A condition on a device."""

    cel: CELDeviceSelector | None = None


class DeviceToleration(ApiStruct, frozen=True):
    """A toleration of device taints."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class CapacityRequirements(ApiStruct, frozen=True):
    """The requested amounts of a shared device's capacity."""

    requests: dict[str, RawQuantity] = {}


class ExactDeviceRequest(ApiStruct, frozen=True):
    """A request for devices of one class."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(ApiStruct, frozen=True):
    """One alternative of a request."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceRequest(ApiStruct, frozen=True):
    """A request: exactly this, or the first alternative that can be allocated."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(ApiStruct, frozen=True):
    """A constraint on the devices of several requests: an attribute has to match, or be distinct."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class OpaqueDeviceConfiguration(ApiStruct, frozen=True):
    """Parameters that only the driver understands."""

    driver: str = ""
    parameters: OpaqueJson = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "parameters", keep_value(self.parameters))


class DeviceClaimConfiguration(ApiStruct, frozen=True):
    """Parameters for some requests of a claim."""

    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(ApiStruct, frozen=True):
    """The requests, constraints and parameters of a claim."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(ApiStruct, frozen=True):
    """spec of a claim."""

    devices: DeviceClaim = DeviceClaim()


class DeviceClassConfiguration(ApiStruct, frozen=True):
    """Parameters for all devices of a class."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(ApiStruct, frozen=True):
    """spec of a device class: its selectors, and the extended resource by which pods can request it."""

    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(ApiObject, frozen=True):
    """A class of devices."""

    spec: DeviceClassSpec = DeviceClassSpec()


# Allocations.


class DeviceRequestAllocationResult(ApiStruct, frozen=True):
    """A device allocated to a request; `request` is `main/sub` if an alternative was chosen."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, RawQuantity] = {}


class DeviceAllocationConfiguration(ApiStruct, frozen=True):
    """Parameters of an allocation, from a class or a claim."""

    source: str = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(ApiStruct, frozen=True):
    """The devices allocated to a claim."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(ApiStruct, frozen=True):
    """The allocation of a claim, and the nodes that can use it."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Timestamp | None = None


class ResourceClaimConsumerReference(ApiStruct, frozen=True):
    """A consumer for which a claim is reserved."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class NetworkDeviceData(ApiStruct, frozen=True):
    """Network data that a driver reports of a device."""

    interface_name: str = ""
    ips: tuple[str, ...] = ()
    hardware_address: str = ""


class AllocatedDeviceStatus(ApiStruct, frozen=True):
    """The status that a driver reports of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()
    data: OpaqueJson = None
    network_data: NetworkDeviceData | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "data", keep_value(self.data))


class ResourceClaimStatus(ApiStruct, frozen=True):
    """status of a claim."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(ApiObject, frozen=True):
    """A claim to devices."""

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(ApiStruct, frozen=True):
    """metadata and spec of the claims made from a template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(ApiObject, frozen=True):
    """A template of claims."""

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


# Taints.


class DeviceTaintSelector(ApiStruct, frozen=True):
    """The devices that a rule taints; an unset field matches all."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(ApiStruct, frozen=True):
    """spec of a rule: a taint, and the devices that get it."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRuleStatus(ApiStruct, frozen=True):
    """status of a rule: the progress of eviction."""

    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(ApiObject, frozen=True):
    """A taint of devices that is not part of their slices."""

    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()
