"""The registry of the in-tree plugins.

From plugin classes to factories by name; `config.intree` has the same names for configurations.
"""

from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import Plugin
from kubesched.core.plugins.default_binder import DefaultBinder
from kubesched.core.plugins.default_preemption import DefaultPreemption
from kubesched.core.plugins.dynamic_resources import DynamicResources
from kubesched.core.plugins.gang_scheduling import GangScheduling
from kubesched.core.plugins.image_locality import ImageLocality
from kubesched.core.plugins.inter_pod_affinity import InterPodAffinity
from kubesched.core.plugins.node_affinity import NodeAffinity
from kubesched.core.plugins.node_declared_features import NodeDeclaredFeatures
from kubesched.core.plugins.node_name import NodeName
from kubesched.core.plugins.node_ports import NodePorts
from kubesched.core.plugins.node_resources import NodeResourcesBalancedAllocation, NodeResourcesFit
from kubesched.core.plugins.node_unschedulable import NodeUnschedulable
from kubesched.core.plugins.node_volume_limits import NodeVolumeLimits
from kubesched.core.plugins.pod_group_pods_count import PodGroupPodsCount
from kubesched.core.plugins.pod_topology_spread import PodTopologySpread
from kubesched.core.plugins.priority_sort import PrioritySort
from kubesched.core.plugins.scheduling_gates import SchedulingGates
from kubesched.core.plugins.taint_toleration import TaintToleration
from kubesched.core.plugins.topology_placement_generator import TopologyPlacementGenerator
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.core.plugins.volume_restrictions import VolumeRestrictions
from kubesched.core.plugins.volume_zone import VolumeZone

IN_TREE_PLUGINS: tuple[type[Plugin], ...] = (
    DefaultBinder,
    DefaultPreemption,
    DynamicResources,
    GangScheduling,
    ImageLocality,
    InterPodAffinity,
    NodeAffinity,
    NodeDeclaredFeatures,
    NodeName,
    NodePorts,
    NodeResourcesBalancedAllocation,
    NodeResourcesFit,
    NodeUnschedulable,
    NodeVolumeLimits,
    PodGroupPodsCount,
    PodTopologySpread,
    PrioritySort,
    SchedulingGates,
    TaintToleration,
    TopologyPlacementGenerator,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
)


def in_tree_registry() -> Registry:
    """Return a new registry with every in-tree plugin."""
    registry = Registry()
    for plugin in IN_TREE_PLUGINS:
        registry.register(plugin, in_tree=True)
    return registry
