"""Nodes and namespaces, with every field that scheduling reads.

From JSON documents to frozen structs; see `meta` for the conventions.
"""

# ruff: noqa: RUF012 -- msgspec copies empty defaults

import msgspec

from kubesched.api.meta import ApiObject, ApiStruct, Condition, Int64, ResourceList, Timestamp
from kubesched.api.pods import Taint


class NodeSpec(ApiStruct, frozen=True):
    """spec of a node."""

    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    provider_id: str = msgspec.field(default="", name="providerID")
    pod_cidr: str = msgspec.field(default="", name="podCIDR")
    pod_cidrs: tuple[str, ...] = msgspec.field(default=(), name="podCIDRs")


class NodeCondition(ApiStruct, frozen=True):
    """One condition of a node."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_heartbeat_time: Timestamp | None = None
    last_transition_time: Timestamp | None = None


class NodeAddress(ApiStruct, frozen=True):
    """One address of a node."""

    type: str = ""
    address: str = ""


class ContainerImage(ApiStruct, frozen=True):
    """An image that a node holds, under all its names."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeSystemInfo(ApiStruct, frozen=True):
    """System information of a node."""

    machine_id: str = msgspec.field(default="", name="machineID")
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    kubelet_version: str = ""
    operating_system: str = ""
    architecture: str = ""


class NodeStatus(ApiStruct, frozen=True):
    """status of a node."""

    capacity: ResourceList = {}
    allocatable: ResourceList = {}
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    node_info: NodeSystemInfo | None = None
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(ApiObject, frozen=True):
    """A node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceSpec(ApiStruct, frozen=True):
    """spec of a namespace."""

    finalizers: tuple[str, ...] = ()


class NamespaceStatus(ApiStruct, frozen=True):
    """status of a namespace."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Namespace(ApiObject, frozen=True):
    """A namespace; scheduling reads its labels."""

    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()
