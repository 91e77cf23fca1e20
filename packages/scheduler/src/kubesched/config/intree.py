"""The in-tree plugins: which extension points each implements, and which are on by default.

`Catalog`, which the build stage reads, maps a plugin's name to the extension points it implements. Out-of-tree plugins
are added by `merge_catalogs`.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.types import Plugin

Catalog = Mapping[str, frozenset[str]]

# upstream: pkg/scheduler/framework/runtime/framework.go getExtensionPoints (v1.36); the order decides which error
# comes first.
EXTENSION_POINTS = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "preEnqueue",
    "queueSort",
    "placementGenerate",
    "placementScore",
)
WEIGHTED_POINTS = ("score", "placementScore")

_FILTER = ("preFilter", "filter")
_SCORE = ("preScore", "score")
_IMPLEMENTED: dict[str, tuple[str, ...]] = {
    "DefaultBinder": ("bind",),
    "DefaultPreemption": ("postFilter", "preEnqueue"),
    "DynamicResources": ("preEnqueue", *_FILTER, "postFilter", "score", "reserve", "preBind"),
    "GangScheduling": ("preEnqueue", "permit"),
    "ImageLocality": ("score",),
    "InterPodAffinity": (*_FILTER, *_SCORE),
    "NodeAffinity": (*_FILTER, *_SCORE),
    "NodeDeclaredFeatures": _FILTER,
    "NodeName": ("filter",),
    "NodePorts": _FILTER,
    "NodeResourcesBalancedAllocation": _SCORE,
    "NodeResourcesFit": (*_FILTER, *_SCORE, "placementScore"),
    "NodeUnschedulable": ("filter",),
    "NodeVolumeLimits": _FILTER,
    "PodGroupPodsCount": ("placementScore",),
    "PodTopologySpread": (*_FILTER, *_SCORE),
    "PrioritySort": ("queueSort",),
    "SchedulingGates": ("preEnqueue",),
    "TaintToleration": ("filter", *_SCORE),
    "TopologyPlacementGenerator": ("placementGenerate",),
    "VolumeBinding": (*_FILTER, *_SCORE, "reserve", "preBind"),
    "VolumeRestrictions": _FILTER,
    "VolumeZone": _FILTER,
}
IN_TREE: Catalog = {name: frozenset(points) for name, points in _IMPLEMENTED.items()}

# upstream: pkg/scheduler/apis/config/v1/default_plugins.go (v1.36): (plugin, weight, the gate it needs), in order.
_DEFAULTS: tuple[tuple[str, int, str | None], ...] = (
    ("SchedulingGates", 0, None),
    ("PrioritySort", 0, None),
    ("NodeUnschedulable", 0, None),
    ("NodeName", 0, None),
    ("TaintToleration", 3, None),
    ("NodeAffinity", 2, None),
    ("NodePorts", 0, None),
    ("NodeResourcesFit", 1, None),
    ("VolumeRestrictions", 0, None),
    ("NodeVolumeLimits", 0, None),
    ("VolumeBinding", 0, None),
    ("VolumeZone", 0, None),
    ("PodTopologySpread", 2, None),
    ("InterPodAffinity", 2, None),
    # Before preemption: it is better to deallocate an unused claim than to evict a pod.
    ("DynamicResources", 2, "DynamicResourceAllocation"),
    ("DefaultPreemption", 0, None),
    ("NodeResourcesBalancedAllocation", 1, None),
    ("ImageLocality", 1, None),
    ("DefaultBinder", 0, None),
    ("NodeDeclaredFeatures", 0, "NodeDeclaredFeatures"),
    ("GangScheduling", 0, "GangScheduling"),
    ("TopologyPlacementGenerator", 0, "TopologyAwareWorkloadScheduling"),
    ("PodGroupPodsCount", 1, "TopologyAwareWorkloadScheduling"),
)


def default_plugins(gates: FeatureGates) -> tuple[Plugin, ...]:
    """Return the plugins that multiPoint enables by default under `gates`, in order."""
    return tuple(
        Plugin(name=name, weight=weight) for name, weight, gate in _DEFAULTS if gate is None or gates.enabled(gate)
    )


def merge_catalogs(*catalogs: Catalog) -> Catalog:
    """Return all plugins of `catalogs`; a name that occurs twice is an error."""
    merged: dict[str, frozenset[str]] = {}
    clashes: list[str] = []
    for catalog in catalogs:
        for name, points in catalog.items():
            if name in merged:
                clashes.append(f"a plugin named {name} already exists")
            merged[name] = points
    if clashes:
        raise ConfigError(Stage.BUILD, clashes)
    return merged
