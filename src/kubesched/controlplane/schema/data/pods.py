"""Pods: their specification and status, affinity, tolerations, spreading, claims; bindings."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: RestartPolicy, DNSPolicy, PreemptionPolicy, SupplementalGroupsPolicy, PodFSGroupChangePolicy
string: PodSELinuxChangePolicy, NodeSelectorOperator, TolerationOperator, TaintEffect, PodConditionType
string: UnsatisfiableConstraintAction, NodeInclusionPolicy, OSName, PodPhase, ConditionStatus, PodQOSClass
string: PodResizeStatus, ResourceName, ResourceID, ResourceHealthStatus
ResourceList = map[ResourceName]MilliQuantity

Pod kind: spec PodSpec, status PodStatus
Binding kind: target! ObjectReference
PodTemplate kind: template PodTemplateSpec
PodTemplateSpec: metadata ObjectMeta, spec PodSpec

PodSpec: volumes []Volume by(name) retainKeys, initContainers []Container by(name), containers! []Container by(name)
    ephemeralContainers []EphemeralContainer by(name), restartPolicy RestartPolicy
    terminationGracePeriodSeconds *int64, activeDeadlineSeconds *int64, dnsPolicy DNSPolicy
    nodeSelector map[string]string atomic, serviceAccountName, serviceAccount, automountServiceAccountToken *bool
    nodeName, hostNetwork bool, hostPID bool, hostIPC bool, shareProcessNamespace *bool
    securityContext *PodSecurityContext, imagePullSecrets []LocalObjectReference by(name), hostname, subdomain
    affinity *Affinity, schedulerName, tolerations []Toleration atomic, hostAliases []HostAlias by(ip)
    priorityClassName, priority *int32, dnsConfig *PodDNSConfig, readinessGates []PodReadinessGate atomic
    runtimeClassName *string, enableServiceLinks *bool, preemptionPolicy *PreemptionPolicy, overhead ResourceList
    topologySpreadConstraints []TopologySpreadConstraint map(topologyKey whenUnsatisfiable) merge(topologyKey)
    setHostnameAsFQDN *bool, os *PodOS, hostUsers *bool, schedulingGates []PodSchedulingGate by(name)
    resourceClaims []PodResourceClaim by(name) retainKeys, resources *ResourceRequirements, hostnameOverride *string
    schedulingGroup *PodSchedulingGroup

PodSecurityContext: seLinuxOptions *SELinuxOptions, windowsOptions *WindowsSecurityContextOptions, runAsUser *int64
    runAsGroup *int64, runAsNonRoot *bool, supplementalGroups []int64 atomic
    supplementalGroupsPolicy *SupplementalGroupsPolicy, fsGroup *int64, sysctls []Sysctl atomic
    fsGroupChangePolicy *PodFSGroupChangePolicy, seccompProfile *SeccompProfile, appArmorProfile *AppArmorProfile
    seLinuxChangePolicy *PodSELinuxChangePolicy
Sysctl: name!, value!

Affinity: nodeAffinity *NodeAffinity, podAffinity *PodAffinity, podAntiAffinity *PodAntiAffinity
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution *NodeSelector
    preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm atomic
NodeSelector atomic: nodeSelectorTerms! []NodeSelectorTerm atomic
NodeSelectorTerm atomic: matchExpressions []NodeSelectorRequirement atomic, matchFields []NodeSelectorRequirement atomic
NodeSelectorRequirement: key!, operator! NodeSelectorOperator, values []string atomic
PreferredSchedulingTerm: weight! int32, preference! NodeSelectorTerm
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm atomic
    preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm atomic
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm atomic
    preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm atomic
PodAffinityTerm: labelSelector *LabelSelector, namespaces []string atomic, topologyKey!
    namespaceSelector *LabelSelector, matchLabelKeys []string atomic, mismatchLabelKeys []string atomic
WeightedPodAffinityTerm: weight! int32, podAffinityTerm! PodAffinityTerm

Toleration: key, operator TolerationOperator, value, effect TaintEffect, tolerationSeconds *int64
HostAlias: ip!, hostnames []string atomic
PodDNSConfig: nameservers []string atomic, searches []string atomic, options []PodDNSConfigOption atomic
PodDNSConfigOption: name, value *string
PodReadinessGate: conditionType! PodConditionType
TopologySpreadConstraint: maxSkew! int32, topologyKey!, whenUnsatisfiable! UnsatisfiableConstraintAction
    labelSelector *LabelSelector, minDomains *int32, nodeAffinityPolicy *NodeInclusionPolicy
    nodeTaintsPolicy *NodeInclusionPolicy, matchLabelKeys []string atomic
PodOS: name! OSName
PodSchedulingGate: name!
PodResourceClaim: name!, resourceClaimName *string, resourceClaimTemplateName *string
PodSchedulingGroup: podGroupName *string

PodStatus: observedGeneration int64, phase PodPhase, conditions []PodCondition by(type), message, reason
    nominatedNodeName, hostIP, hostIPs []HostIP atomic merge(ip), podIP, podIPs []PodIP by(ip), startTime *Time
    initContainerStatuses []ContainerStatus atomic, containerStatuses []ContainerStatus atomic, qosClass PodQOSClass
    ephemeralContainerStatuses []ContainerStatus atomic, resize PodResizeStatus
    resourceClaimStatuses []PodResourceClaimStatus by(name) retainKeys
    extendedResourceClaimStatus *PodExtendedResourceClaimStatus, allocatedResources ResourceList
    resources *ResourceRequirements, nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus atomic
PodCondition: type! PodConditionType, observedGeneration int64, status! ConditionStatus, lastProbeTime Time
    lastTransitionTime Time, reason, message
HostIP: ip!
PodIP: ip!
PodResourceClaimStatus: name!, resourceClaimName *string
PodExtendedResourceClaimStatus: requestMappings! []ContainerExtendedResourceRequest atomic, resourceClaimName!
ContainerExtendedResourceRequest: containerName!, resourceName!, requestName!
NodeAllocatableResourceClaimStatus: resourceClaimName!, containers []string set, resources! map[ResourceName]Quantity
ResourceStatus: name! ResourceName, resources []ResourceHealth map(resourceID)
ResourceHealth: resourceID! ResourceID, health ResourceHealthStatus, message *string
"""
