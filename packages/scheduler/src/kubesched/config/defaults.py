"""Defaulting: the defaults of the reference that a struct's own defaults cannot express.

In: a decoded configuration (or, before decoding, the plain tree where absence matters). Out: the defaulted
configuration.
"""

# upstream: pkg/scheduler/apis/config/v1/defaults.go, default_plugins.go (v1.36)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from kubesched.config.args import (
    ARGS_TYPES,
    DynamicResourcesArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import seconds
from kubesched.config.intree import default_plugins
from kubesched.config.types import (
    DEFAULT_SCHEDULER_NAME,
    MAX_CUSTOM_PRIORITY_SCORE,
    PLUGIN_SET_FIELDS,
    ClientConnection,
    KubeSchedulerConfiguration,
    LeaderElection,
    Plugin,
    PluginArgs,
    PluginConfig,
    Plugins,
    PluginSet,
    Profile,
)

_T = TypeVar("_T", bound=msgspec.Struct)

_RESOURCES = (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="memory", weight=1))
_ZERO_LEADER_ELECTION = {
    "lease_duration": seconds(15),
    "renew_deadline": seconds(10),
    "retry_period": seconds(2),
    "resource_lock": "leases",
    "resource_name": "kube-scheduler",
    "resource_namespace": "kube-system",
}
_ZERO_CLIENT_CONNECTION = {"content_type": "application/vnd.kubernetes.protobuf", "qps": 50.0, "burst": 100}


def fill_absent(tree: Any) -> Any:
    """Return the plain tree with the defaults of fields that are absent; an empty field keeps its value."""
    if not isinstance(tree, dict):
        return tree
    filled = dict(tree)
    if filled.get("enableContentionProfiling") is None:
        filled["enableContentionProfiling"] = filled.get("enableProfiling") is not False
    profiles = filled.get("profiles")
    if profiles is None or profiles == []:
        profiles = [{}]
    # Several profiles must be named, which validation checks.
    if isinstance(profiles, list) and len(profiles) == 1 and isinstance(profiles[0], dict | None):
        profile = dict(profiles[0] or {})
        if profile.get("schedulerName") is None:
            profile["schedulerName"] = DEFAULT_SCHEDULER_NAME
        profiles = [profile]
    filled["profiles"] = profiles
    return filled


def _replace_zeros(value: _T, defaults: dict[str, Any]) -> _T:
    zeros = {name: default for name, default in defaults.items() if not getattr(value, name)}
    return msgspec.structs.replace(value, **zeros)


def complete(config: KubeSchedulerConfiguration, gates: FeatureGates) -> KubeSchedulerConfiguration:
    """Return `config` with the defaults that depend on other fields or on gates."""
    election: LeaderElection = _replace_zeros(config.leader_election, _ZERO_LEADER_ELECTION)
    connection: ClientConnection = _replace_zeros(config.client_connection, _ZERO_CLIENT_CONNECTION)
    return msgspec.structs.replace(
        config,
        leader_election=election,
        client_connection=connection,
        profiles=tuple(_profile(profile, gates) for profile in config.profiles),
    )


def _profile(profile: Profile, gates: FeatureGates) -> Profile:
    plugins = merge_plugins(Plugins(multi_point=PluginSet(enabled=default_plugins(gates))), profile.plugins)
    given = tuple(
        msgspec.structs.replace(config, args=_args(config.args, gates))
        if isinstance(config.args, PluginArgs)
        else config
        for config in profile.plugin_config
    )
    named = {config.name for config in given}
    added = tuple(
        PluginConfig(name=name, args=_args(ARGS_TYPES[name](), gates))
        for name in sorted(plugins.names())
        if name in ARGS_TYPES and name not in named
    )
    return msgspec.structs.replace(profile, plugins=plugins, plugin_config=given + added)


def merge_plugins(defaults: Plugins, custom: Plugins) -> Plugins:
    """Return the default plugin sets with the custom ones merged in, point by point."""
    return Plugins(
        **{field: _merge_set(getattr(defaults, field), getattr(custom, field)) for field in PLUGIN_SET_FIELDS.values()}
    )


def _merge_set(defaults: PluginSet, custom: PluginSet) -> PluginSet:
    disabled = tuple(Plugin(name=plugin.name) for plugin in custom.disabled + defaults.disabled)
    off = {plugin.name for plugin in disabled}
    # Of a plugin that is listed twice the last entry takes the default's place; the other stays, and is an error at
    # build.
    replacing = {plugin.name: index for index, plugin in enumerate(custom.enabled)}
    enabled: list[Plugin] = []
    used: set[int] = set()
    for plugin in () if "*" in off else defaults.enabled:
        if plugin.name in off:
            continue
        index = replacing.get(plugin.name)
        if index is None:
            enabled.append(plugin)
        else:
            used.add(index)
            enabled.append(custom.enabled[index])
    enabled += (plugin for index, plugin in enumerate(custom.enabled) if index not in used)
    return PluginSet(enabled=tuple(enabled), disabled=disabled)


def _weighted(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    if not resources:
        return _RESOURCES
    return tuple(resource if resource.weight else ResourceSpec(name=resource.name, weight=1) for resource in resources)


def _balanced_allocation(args: NodeResourcesBalancedAllocationArgs, _: FeatureGates) -> PluginArgs:
    return msgspec.structs.replace(args, resources=_weighted(args.resources))


def _node_resources_fit(args: NodeResourcesFitArgs, _: FeatureGates) -> PluginArgs:
    strategy = args.scoring_strategy
    return msgspec.structs.replace(
        args, scoring_strategy=msgspec.structs.replace(strategy, resources=_weighted(strategy.resources))
    )


def _pod_topology_spread(args: PodTopologySpreadArgs, _: FeatureGates) -> PluginArgs:
    return msgspec.structs.replace(args, defaulting_type=args.defaulting_type or "System")


def _volume_binding(args: VolumeBindingArgs, gates: FeatureGates) -> PluginArgs:
    if args.shape or not gates.enabled("StorageCapacityScoring"):
        return args
    least_used_first = (
        UtilizationShapePoint(utilization=0, score=MAX_CUSTOM_PRIORITY_SCORE),
        UtilizationShapePoint(utilization=100, score=0),
    )
    return msgspec.structs.replace(args, shape=least_used_first)


def _dynamic_resources(args: DynamicResourcesArgs, gates: FeatureGates) -> PluginArgs:
    filter_timeout, binding_timeout = args.filter_timeout, args.binding_timeout
    if filter_timeout is None and gates.enabled("DRASchedulerFilterTimeout"):
        filter_timeout = seconds(10)
    if (
        binding_timeout is None
        and gates.enabled("DRADeviceBindingConditions")
        and gates.enabled("DRAResourceClaimDeviceStatus")
    ):
        binding_timeout = seconds(600)
    return DynamicResourcesArgs(filter_timeout=filter_timeout, binding_timeout=binding_timeout)


_ARGS_DEFAULTS: dict[type[PluginArgs], Callable[[Any, FeatureGates], PluginArgs]] = {
    DynamicResourcesArgs: _dynamic_resources,
    NodeResourcesBalancedAllocationArgs: _balanced_allocation,
    NodeResourcesFitArgs: _node_resources_fit,
    PodTopologySpreadArgs: _pod_topology_spread,
    VolumeBindingArgs: _volume_binding,
}


def _args(args: PluginArgs, gates: FeatureGates) -> PluginArgs:
    default = _ARGS_DEFAULTS.get(type(args))
    return default(args, gates) if default else args
