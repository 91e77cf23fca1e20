"""Pods: their specification and status, affinity, tolerations, spreading, claims; bindings."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: RestartPolicy, DNSPolicy, PreemptionPolicy, SupplementalGroupsPolicy, PodFSGroupChangePolicy
string: PodSELinuxChangePolicy, NodeSelectorOperator, TolerationOperator, TaintEffect, PodConditionType
string: UnsatisfiableConstraintAction, NodeInclusionPolicy, OSName, PodPhase, ConditionStatus, PodQOSClass
string: PodResizeStatus, ResourceName, ResourceID, ResourceHealthStatus
ResourceList = map[ResourceName]MilliQuantity

Pod kind: spec=2 PodSpec, status=3 PodStatus
Binding kind: target=2! ObjectReference
PodTemplate kind: template=2 PodTemplateSpec
PodTemplateSpec: metadata=1 ObjectMeta, spec=2 PodSpec

PodSpec: volumes=1 []Volume by(name) retainKeys, initContainers=20 []Container by(name)
    containers=2! []Container by(name), ephemeralContainers=34 []EphemeralContainer by(name)
    restartPolicy=3 RestartPolicy, terminationGracePeriodSeconds=4 *int64, activeDeadlineSeconds=5 *int64
    dnsPolicy=6 DNSPolicy, nodeSelector=7 map[string]string atomic, serviceAccountName=8, serviceAccount=9
    automountServiceAccountToken=21 *bool, nodeName=10, hostNetwork=11 bool, hostPID=12 bool, hostIPC=13 bool
    shareProcessNamespace=27 *bool, securityContext=14 *PodSecurityContext
    imagePullSecrets=15 []LocalObjectReference by(name), hostname=16, subdomain=17, affinity=18 *Affinity
    schedulerName=19, tolerations=22 []Toleration atomic, hostAliases=23 []HostAlias by(ip), priorityClassName=24
    priority=25 *int32, dnsConfig=26 *PodDNSConfig, readinessGates=28 []PodReadinessGate atomic
    runtimeClassName=29 *string, enableServiceLinks=30 *bool, preemptionPolicy=31 *PreemptionPolicy
    overhead=32 ResourceList
    topologySpreadConstraints=33 []TopologySpreadConstraint map(topologyKey whenUnsatisfiable) merge(topologyKey)
    setHostnameAsFQDN=35 *bool, os=36 *PodOS, hostUsers=37 *bool, schedulingGates=38 []PodSchedulingGate by(name)
    resourceClaims=39 []PodResourceClaim by(name) retainKeys, resources=40 *ResourceRequirements
    hostnameOverride=41 *string, schedulingGroup=43 *PodSchedulingGroup

PodSecurityContext: seLinuxOptions=1 *SELinuxOptions, windowsOptions=8 *WindowsSecurityContextOptions
    runAsUser=2 *int64, runAsGroup=6 *int64, runAsNonRoot=3 *bool, supplementalGroups=4 []int64 atomic
    supplementalGroupsPolicy=12 *SupplementalGroupsPolicy, fsGroup=5 *int64, sysctls=7 []Sysctl atomic
    fsGroupChangePolicy=9 *PodFSGroupChangePolicy, seccompProfile=10 *SeccompProfile
    appArmorProfile=11 *AppArmorProfile, seLinuxChangePolicy=13 *PodSELinuxChangePolicy
Sysctl: name=1!, value=2!

Affinity: nodeAffinity=1 *NodeAffinity, podAffinity=2 *PodAffinity, podAntiAffinity=3 *PodAntiAffinity
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution=1 *NodeSelector
    preferredDuringSchedulingIgnoredDuringExecution=2 []PreferredSchedulingTerm atomic
NodeSelector atomic: nodeSelectorTerms=1! []NodeSelectorTerm atomic
NodeSelectorTerm atomic: matchExpressions=1 []NodeSelectorRequirement atomic
    matchFields=2 []NodeSelectorRequirement atomic
NodeSelectorRequirement: key=1!, operator=2! NodeSelectorOperator, values=3 []string atomic
PreferredSchedulingTerm: weight=1! int32, preference=2! NodeSelectorTerm
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution=1 []PodAffinityTerm atomic
    preferredDuringSchedulingIgnoredDuringExecution=2 []WeightedPodAffinityTerm atomic
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution=1 []PodAffinityTerm atomic
    preferredDuringSchedulingIgnoredDuringExecution=2 []WeightedPodAffinityTerm atomic
PodAffinityTerm: labelSelector=1 *LabelSelector, namespaces=2 []string atomic, topologyKey=3!
    namespaceSelector=4 *LabelSelector, matchLabelKeys=5 []string atomic, mismatchLabelKeys=6 []string atomic
WeightedPodAffinityTerm: weight=1! int32, podAffinityTerm=2! PodAffinityTerm

Toleration: key=1, operator=2 TolerationOperator, value=3, effect=4 TaintEffect, tolerationSeconds=5 *int64
HostAlias: ip=1!, hostnames=2 []string atomic
PodDNSConfig: nameservers=1 []string atomic, searches=2 []string atomic, options=3 []PodDNSConfigOption atomic
PodDNSConfigOption: name=1, value=2 *string
PodReadinessGate: conditionType=1! PodConditionType
TopologySpreadConstraint: maxSkew=1! int32, topologyKey=2!, whenUnsatisfiable=3! UnsatisfiableConstraintAction
    labelSelector=4 *LabelSelector, minDomains=5 *int32, nodeAffinityPolicy=6 *NodeInclusionPolicy
    nodeTaintsPolicy=7 *NodeInclusionPolicy, matchLabelKeys=8 []string atomic
PodOS: name=1! OSName
PodSchedulingGate: name=1!
PodResourceClaim: name=1!, resourceClaimName=3 *string, resourceClaimTemplateName=4 *string
PodSchedulingGroup: podGroupName=1 *string

PodStatus: observedGeneration=17 int64, phase=1 PodPhase, conditions=2 []PodCondition by(type), message=3, reason=4
    nominatedNodeName=11, hostIP=5, hostIPs=16 []HostIP atomic merge(ip), podIP=6, podIPs=12 []PodIP by(ip)
    startTime=7 *Time, initContainerStatuses=10 []ContainerStatus atomic, containerStatuses=8 []ContainerStatus atomic
    qosClass=9 PodQOSClass, ephemeralContainerStatuses=13 []ContainerStatus atomic, resize=14 PodResizeStatus
    resourceClaimStatuses=15 []PodResourceClaimStatus by(name) retainKeys
    extendedResourceClaimStatus=18 *PodExtendedResourceClaimStatus, allocatedResources=19 ResourceList
    resources=20 *ResourceRequirements
    nodeAllocatableResourceClaimStatuses=21 []NodeAllocatableResourceClaimStatus atomic
PodCondition: type=1! PodConditionType, observedGeneration=7 int64, status=2! ConditionStatus, lastProbeTime=3 Time
    lastTransitionTime=4 Time, reason=5, message=6
HostIP: ip=1!
PodIP: ip=1!
PodResourceClaimStatus: name=1!, resourceClaimName=2 *string
PodExtendedResourceClaimStatus: requestMappings=1! []ContainerExtendedResourceRequest atomic, resourceClaimName=2!
ContainerExtendedResourceRequest: containerName=1!, resourceName=2!, requestName=3!
NodeAllocatableResourceClaimStatus: resourceClaimName=1!, containers=2 []string set
    resources=3! map[ResourceName]Quantity
ResourceStatus: name=1! ResourceName, resources=2 []ResourceHealth map(resourceID)
ResourceHealth: resourceID=1! ResourceID, health=2 ResourceHealthStatus, message=6 *string
"""
