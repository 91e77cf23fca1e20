"""The registry of the in-tree plugins."""

import importlib

from kubesched.framework.plugin import Plugin
from kubesched.framework.registry import Registry

_MODULES = {
    "SchedulingGates": "scheduling_gates",
    "PrioritySort": "priority_sort",
    "NodeUnschedulable": "node_unschedulable",
    "NodeName": "node_name",
    "TaintToleration": "taint_toleration",
    "NodeAffinity": "node_affinity",
    "NodePorts": "node_ports",
    "NodeResourcesFit": "node_resources_fit",
    "NodeResourcesBalancedAllocation": "node_resources_balanced_allocation",
    "PodTopologySpread": "pod_topology_spread",
    "InterPodAffinity": "inter_pod_affinity",
    "ImageLocality": "image_locality",
    "NodeDeclaredFeatures": "node_declared_features",
    "DefaultPreemption": "default_preemption",
    "DefaultBinder": "default_binder",
    "DynamicResources": "dynamic_resources",
    "VolumeBinding": "volume_binding",
    "VolumeZone": "volume_zone",
    "VolumeRestrictions": "volume_restrictions",
    "NodeVolumeLimits": "node_volume_limits",
    "GangScheduling": "gang_scheduling",
    "TopologyPlacementGenerator": "topology_placement_generator",
    "PodGroupPodsCount": "pod_group_pods_count",
}


def in_tree_registry() -> Registry:
    """Return a new registry with every in-tree plugin."""
    registry = Registry()
    for name, module in _MODULES.items():
        try:
            loaded = importlib.import_module(f"kubesched.plugins.{module}")
        except ModuleNotFoundError:
            continue
        plugin: type[Plugin] = getattr(loaded, name)
        registry.register(plugin)
    return registry
