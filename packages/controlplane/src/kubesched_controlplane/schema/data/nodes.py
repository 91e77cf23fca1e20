"""Nodes: taints, capacity, conditions, the kubelet's description of its machine; and classes of runtimes."""

# upstream: api/core/v1/types.go, api/node/v1/types.go (v1.36)

TYPES = """
string: NodePhase, NodeConditionType, NodeAddressType, UniqueVolumeName

Node kind: spec=2 NodeSpec, status=3 NodeStatus
NodeSpec: podCIDR=1, podCIDRs=7 []string set merge, providerID=3, unschedulable=4 bool, taints=5 []Taint atomic
    configSource=6 *NodeConfigSource, externalID=2
Taint: key=1!, value=2, effect=3! TaintEffect, timeAdded=4 *Time
NodeConfigSource: configMap=2 *ConfigMapNodeConfigSource
ConfigMapNodeConfigSource: namespace=1!, name=2!, uid=3 UID, resourceVersion=4, kubeletConfigKey=5!

NodeStatus: capacity=1 ResourceList, allocatable=2 ResourceList, phase=3 NodePhase
    conditions=4 []NodeCondition by(type), addresses=5 []NodeAddress by(type), daemonEndpoints=6 NodeDaemonEndpoints
    nodeInfo=7 NodeSystemInfo, images=8 []ContainerImage atomic, volumesInUse=9 []UniqueVolumeName atomic
    volumesAttached=10 []AttachedVolume atomic, config=11 *NodeConfigStatus
    runtimeHandlers=12 []NodeRuntimeHandler atomic, features=13 *NodeFeatures, declaredFeatures=14 []string atomic
NodeCondition: type=1! NodeConditionType, status=2! ConditionStatus, lastHeartbeatTime=3 Time
    lastTransitionTime=4 Time, reason=5, message=6
NodeAddress: type=1! NodeAddressType, address=2!
NodeDaemonEndpoints: kubeletEndpoint=1 DaemonEndpoint
DaemonEndpoint: Port=1! int32
NodeSystemInfo: machineID=1!, systemUUID=2!, bootID=3!, kernelVersion=4!, osImage=5!, containerRuntimeVersion=6!
    kubeletVersion=7!, kubeProxyVersion=8!, operatingSystem=9!, architecture=10!, swap=11 *NodeSwapStatus
NodeSwapStatus: capacity=1 *int64
ContainerImage: names=1! []string atomic optional, sizeBytes=2 int64
AttachedVolume: name=1! UniqueVolumeName, devicePath=2!
NodeConfigStatus: assigned=1 *NodeConfigSource, active=2 *NodeConfigSource, lastKnownGood=3 *NodeConfigSource, error=4
NodeRuntimeHandler: name=1! string optional, features=2 *NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts=1 *bool, userNamespaces=2 *bool
NodeFeatures: supplementalGroupsPolicy=1 *bool
"""

RUNTIME_CLASSES = """
RuntimeClass kind: handler=2!, overhead=3 *Overhead, scheduling=4 *Scheduling
Overhead: podFixed=1 ResourceList
Scheduling: nodeSelector=1 map[string]string atomic, tolerations=2 []Toleration atomic
"""
