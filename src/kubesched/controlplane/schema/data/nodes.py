"""Nodes: taints, capacity, conditions, what the kubelet says of its machine; and classes of runtimes."""

# upstream: api/core/v1/types.go, api/node/v1/types.go (v1.36)

TYPES = """
string: NodePhase, NodeConditionType, NodeAddressType, UniqueVolumeName

Node kind: spec NodeSpec, status NodeStatus
NodeSpec: podCIDR, podCIDRs []string set merge, providerID, unschedulable bool, taints []Taint atomic
    configSource *NodeConfigSource, externalID
Taint: key!, value, effect! TaintEffect, timeAdded *Time
NodeConfigSource: configMap *ConfigMapNodeConfigSource
ConfigMapNodeConfigSource: namespace!, name!, uid UID, resourceVersion, kubeletConfigKey!

NodeStatus: capacity ResourceList, allocatable ResourceList, phase NodePhase, conditions []NodeCondition by(type)
    addresses []NodeAddress by(type), daemonEndpoints NodeDaemonEndpoints, nodeInfo NodeSystemInfo
    images []ContainerImage atomic, volumesInUse []UniqueVolumeName atomic, volumesAttached []AttachedVolume atomic
    config *NodeConfigStatus, runtimeHandlers []NodeRuntimeHandler atomic, features *NodeFeatures
    declaredFeatures []string atomic
NodeCondition: type! NodeConditionType, status! ConditionStatus, lastHeartbeatTime Time, lastTransitionTime Time
    reason, message
NodeAddress: type! NodeAddressType, address!
NodeDaemonEndpoints: kubeletEndpoint DaemonEndpoint
DaemonEndpoint: Port! int32
NodeSystemInfo: machineID!, systemUUID!, bootID!, kernelVersion!, osImage!, containerRuntimeVersion!, kubeletVersion!
    kubeProxyVersion!, operatingSystem!, architecture!, swap *NodeSwapStatus
NodeSwapStatus: capacity *int64
ContainerImage: names! []string atomic optional, sizeBytes int64
AttachedVolume: name! UniqueVolumeName, devicePath!
NodeConfigStatus: assigned *NodeConfigSource, active *NodeConfigSource, lastKnownGood *NodeConfigSource, error
NodeRuntimeHandler: name! string optional, features *NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts *bool, userNamespaces *bool
NodeFeatures: supplementalGroupsPolicy *bool
"""

RUNTIME_CLASSES = """
RuntimeClass kind: handler!, overhead *Overhead, scheduling *Scheduling
Overhead: podFixed ResourceList
Scheduling: nodeSelector map[string]string atomic, tolerations []Toleration atomic
"""
