"""The predicates, priorities and algorithm providers of v1.21, and the plugins of v1.36 that replace them.

Data only. The order of `PREDICATES` is the order in which they are checked.
"""

# upstream: pkg/scheduler/framework/plugins/legacy_registry.go, pkg/scheduler/algorithmprovider/registry.go (v1.21)

from __future__ import annotations

_VOLUME_LIMITS = ("NodeVolumeLimits",)

PREDICATES: dict[str, tuple[str, ...]] = {
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "MaxEBSVolumeCount": _VOLUME_LIMITS,
    "MaxGCEPDVolumeCount": _VOLUME_LIMITS,
    "MaxCSIVolumeCountPred": _VOLUME_LIMITS,
    "MaxAzureDiskVolumeCount": _VOLUME_LIMITS,
    "MaxCinderVolumeCount": _VOLUME_LIMITS,
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
MANDATORY_PREDICATES = frozenset({"PodToleratesNodeTaints", "CheckNodeUnschedulable"})
DEFAULT_PREDICATES = frozenset(PREDICATES) - {
    "HostName",
    "PodFitsHostPorts",
    "MatchNodeSelector",
    "PodFitsResources",
    "MaxCinderVolumeCount",
}
# Predicates that counted the volumes of one cloud, before the migration to CSI.
CLOUD_VOLUME_PREDICATES = frozenset(
    {"MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "MaxCinderVolumeCount"}
)

EQUAL_PRIORITY = "EqualPriority"
RATIO_PRIORITY = "RequestedToCapacityRatio"
SELECTOR_SPREAD = "SelectorSpreadPriority"
EVEN_SPREAD = "EvenPodsSpreadPriority"
PRIORITIES: dict[str, str] = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    EVEN_SPREAD: "PodTopologySpread",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesFit",
    "MostRequestedPriority": "NodeResourcesFit",
    "NodeAffinityPriority": "NodeAffinity",
    SELECTOR_SPREAD: "PodTopologySpread",
    "TaintTolerationPriority": "TaintToleration",
}
# NodePreferAvoidPodsPriority, weight 10000, was one of them and has no equivalent.
DEFAULT_PRIORITIES: dict[str, int] = {
    SELECTOR_SPREAD: 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
    EVEN_SPREAD: 2,
}
# A profile has one of these, since all are NodeResourcesFit.
SCORING_STRATEGIES: dict[str, str] = {
    "LeastRequestedPriority": "LeastAllocated",
    "MostRequestedPriority": "MostAllocated",
    RATIO_PRIORITY: "RequestedToCapacityRatio",
}

OLDER_NAMES: dict[str, str] = {
    "PodFitsPorts": "PodFitsHostPorts",
    "ServiceSpreadingPriority": SELECTOR_SPREAD,
}

_TAINTED = "the node controller taints such nodes and taints are always checked; remove it"
_TOGETHER = "give the pods required pod affinity with the label as its topologyKey"
_APART = "list the label as topologyKey in PodTopologySpread's defaultConstraints"
_LABELLED = "describe the nodes in NodeAffinity's addedAffinity"
# Predicates, priorities and arguments without an equivalent in v1.36 -> what to do instead.
LOST_PREDICATES: dict[str, str] = {
    "CheckNodeCondition": _TAINTED,
    "CheckNodeMemoryPressure": _TAINTED,
    "CheckNodeDiskPressure": _TAINTED,
    "CheckNodePIDPressure": _TAINTED,
    "CheckNodeLabelPresence": (
        "v1.21 checked no label under this name; give the predicate a name of its own with the argument labelsPresence,"
        f" or {_LABELLED}"
    ),
    "CheckServiceAffinity": _TOGETHER,
}
LOST_PRIORITIES: dict[str, str] = {
    "NodePreferAvoidPodsPriority": "taint the nodes with the effect PreferNoSchedule",
    "NodeLabel": _LABELLED,
    "ServiceAffinity": _APART,
}
LOST_ARGUMENTS: dict[str, str] = {
    "serviceAffinity": _TOGETHER,
    "serviceAntiAffinity": _APART,
    "labelPreference": f"{_LABELLED}, as preferred",
}

# Provider -> how it scores the use of resources; nothing else differs.
PROVIDERS: dict[str, str] = {"DefaultProvider": "LeastAllocated", "ClusterAutoscalerProvider": "MostAllocated"}
PROVIDER_FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)
PROVIDER_SCORES: dict[str, int] = {
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "InterPodAffinity": 1,
    "NodeResourcesFit": 1,
    "NodeAffinity": 1,
    "PodTopologySpread": 2,
    "TaintToleration": 1,
}
# The plugins that policies decide about. Other plugins of v1.36 stay enabled.
GOVERNED = frozenset({name for names in PREDICATES.values() for name in names} | set(PRIORITIES.values()))
