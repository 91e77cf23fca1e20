"""KubeSchedulerConfiguration: types, plugin arguments, defaults, validation, feature gates, loading.

In: the text of a configuration file and of `--feature-gates`. Out: `Loaded`, frozen structs that the other rooms read.
Never here: files, sockets, the clock, or plugin code; which plugins exist comes in as a catalog.
"""

from kubesched.config.args import (
    ARGS_TYPES,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    VolumeBindingArgs,
)
from kubesched.config.build import EnabledPlugin, ResolvedProfile
from kubesched.config.encoding import to_wire
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import Duration
from kubesched.config.intree import EXTENSION_POINTS, IN_TREE, WEIGHTED_POINTS, Catalog, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.config.report import describe
from kubesched.config.types import (
    API_VERSION,
    ClientConnection,
    Extender,
    KubeSchedulerConfiguration,
    LeaderElection,
    Plugin,
    PluginArgs,
    PluginConfig,
    Plugins,
    PluginSet,
    Profile,
    RawArgs,
)

__all__ = [
    "API_VERSION",
    "ARGS_TYPES",
    "EXTENSION_POINTS",
    "IN_TREE",
    "WEIGHTED_POINTS",
    "Catalog",
    "ClientConnection",
    "ConfigError",
    "DefaultPreemptionArgs",
    "Duration",
    "DynamicResourcesArgs",
    "EnabledPlugin",
    "Extender",
    "FeatureGates",
    "InterPodAffinityArgs",
    "KubeSchedulerConfiguration",
    "LeaderElection",
    "Loaded",
    "NodeAffinityArgs",
    "NodeResourcesBalancedAllocationArgs",
    "NodeResourcesFitArgs",
    "Plugin",
    "PluginArgs",
    "PluginConfig",
    "PluginSet",
    "Plugins",
    "PodTopologySpreadArgs",
    "Profile",
    "RawArgs",
    "ResolvedProfile",
    "Stage",
    "VolumeBindingArgs",
    "describe",
    "load",
    "merge_catalogs",
    "to_wire",
]
