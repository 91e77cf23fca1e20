"""Building: from the plugin sets of a defaulted, valid configuration to the ordered plugins of each extension point.

In: the configuration, the catalog of plugins. Out: the completed configuration as the reference would write it, and
per profile the plugins of each extension point. multiPoint is expanded here, and unknown, unsuitable and doubly
enabled plugins are errors here. The first problem ends the build.
"""

# upstream: pkg/scheduler/scheduler.go, profile/profile.go, framework/runtime/framework.go (v1.36)

from __future__ import annotations

from typing import Any

import msgspec

from kubesched.api.field_errors import aggregate
from kubesched.api.go_numbers import int64
from kubesched.api.go_text import quote
from kubesched.config.args import NodeResourcesFitArgs
from kubesched.config.args_validation import args_violations
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import INT64_MAX, seconds
from kubesched.config.intree import EXTENSION_POINTS, WEIGHTED_POINTS, Catalog
from kubesched.config.types import Extender, KubeSchedulerConfiguration, Plugin, PluginConfig, PluginSet, Profile

_MAX_SCORE = 100
_EXTENDER_TIMEOUT = seconds(5)


class EnabledPlugin(msgspec.Struct, frozen=True):
    """A plugin at an extension point; the weight is 0 at points without weights."""

    name: str
    weight: int = 0


class ResolvedProfile(msgspec.Struct, frozen=True):
    """A profile with the plugins of its extension points."""

    config: Profile
    points: dict[str, tuple[EnabledPlugin, ...]]

    @property
    def scheduler_name(self) -> str:
        """Return the schedulerName of the profile's pods."""
        return self.config.scheduler_name

    def at(self, point: str) -> tuple[EnabledPlugin, ...]:
        """Return the plugins of an extension point, in the order they run."""
        return self.points[point]

    def args(self, plugin: str) -> Any:
        """Return the arguments of `plugin`, or None where it has none."""
        return self.config.args(plugin)


class _BuildError(Exception):
    """The text of the problem that ends the build."""


def build(
    config: KubeSchedulerConfiguration, catalog: Catalog, gates: FeatureGates
) -> tuple[KubeSchedulerConfiguration, tuple[ResolvedProfile, ...]]:
    """Return the completed configuration and its resolved profiles."""
    try:
        config = _with_extenders(config)
    except _BuildError as error:
        raise ConfigError(Stage.BUILD, [f"couldn't build extenders: {error}"]) from None
    try:
        profiles = _profiles(config.profiles, catalog, gates)
    except _BuildError as error:
        raise ConfigError(Stage.BUILD, [f"initializing profiles: {error}"]) from None
    completed = tuple(profile.config for profile in profiles)
    return msgspec.structs.replace(config, profiles=completed), profiles


# --- extenders --------------------------------------------------------------------------------------------------------


def _with_extenders(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    extenders = tuple(map(_extender, config.extenders))
    ignored = tuple(
        resource.name
        for extender in extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    profiles = config.profiles
    if ignored:
        profiles = tuple(_ignoring(profile, ignored) for profile in profiles)
    return msgspec.structs.replace(config, extenders=extenders, profiles=profiles)


def _extender(extender: Extender) -> Extender:
    tls = extender.tls_config
    if tls is not None and tls.insecure and (tls.ca_file or tls.ca_data):
        raise _BuildError("specifying a root certificates file with the insecure flag is not allowed")
    return extender if extender.http_timeout else msgspec.structs.replace(extender, http_timeout=_EXTENDER_TIMEOUT)


def _ignoring(profile: Profile, resources: tuple[str, ...]) -> Profile:
    """Return the profile with `resources` as the ignoredResources of NodeResourcesFit."""
    configs = list(profile.plugin_config)
    for index, config in enumerate(configs):
        if isinstance(config.args, NodeResourcesFitArgs):
            args = msgspec.structs.replace(config.args, ignored_resources=resources)
            configs[index] = PluginConfig(name=config.name, args=args)
            return msgspec.structs.replace(profile, plugin_config=tuple(configs))
    raise _BuildError("can't find NodeResourcesFitArgs in plugin config")


# --- profiles ---------------------------------------------------------------------------------------------------------


def _profiles(profiles: tuple[Profile, ...], catalog: Catalog, gates: FeatureGates) -> tuple[ResolvedProfile, ...]:
    resolved: list[ResolvedProfile] = []
    for profile in profiles:
        try:
            resolved.append(_profile(profile, catalog, gates))
        except _BuildError as error:
            raise _BuildError(f"creating profile for scheduler name {profile.scheduler_name}: {error}") from None
        if not profile.scheduler_name:
            raise _BuildError("scheduler name is needed")
        if any(earlier.scheduler_name == profile.scheduler_name for earlier in resolved[:-1]):
            raise _BuildError(f"duplicate profile with scheduler name {quote(profile.scheduler_name)}")
        _check_queue_sort(resolved[0], resolved[-1])
    return tuple(resolved)


def _check_queue_sort(first: ResolvedProfile, profile: ResolvedProfile) -> None:
    """Raise an error for a profile with another QueueSort plugin: all profiles share one queue."""
    name, first_name = profile.at("queueSort")[0].name, first.at("queueSort")[0].name
    if name != first_name:
        raise _BuildError(
            f"different queue sort plugins for profile {quote(profile.scheduler_name)}: "
            f"{quote(name)}, first: {quote(first_name)}"
        )
    if profile.args(name) != first.args(name):
        raise _BuildError(f"different queue sort plugin args for profile {quote(profile.scheduler_name)}")


def _profile(profile: Profile, catalog: Catalog, gates: FeatureGates) -> ResolvedProfile:
    configured = [config.name for config in profile.plugin_config]
    for index, name in enumerate(configured):
        if name in configured[:index]:
            raise _BuildError(f"repeated config for plugin {name}")
    needed = profile.plugins.names()
    used = tuple(
        config
        for config in sorted(profile.plugin_config, key=lambda config: config.name)
        if config.name in needed and config.name in catalog and config.args is not None
    )
    for config in used:
        _check_args(config, gates)
    listed = {point: _listed(profile.plugins.at(point), point, catalog) for point in EXTENSION_POINTS}
    ordered = {point: _ordered(profile, point, listed[point], catalog) for point in EXTENSION_POINTS}
    _check_counts(profile.scheduler_name, ordered)
    weights = {point: _weights(profile, point, catalog) for point in WEIGHTED_POINTS}
    points = {
        point: tuple(EnabledPlugin(name, weights[point][name] if point in weights else 0) for name in names)
        for point, names in ordered.items()
    }
    return ResolvedProfile(msgspec.structs.replace(profile, plugin_config=used), points)


def _check_args(config: PluginConfig, gates: FeatureGates) -> None:
    """Raise an error for arguments that the plugin's constructor in the reference refuses."""
    errors = tuple(args_violations("", config, gates))
    if errors:
        raise _BuildError(f"initializing plugin {quote(config.name)}: {aggregate(errors)}")


def _interface(point: str) -> str:
    """Return the reference's name of the interface of an extension point."""
    return f"{point[0].upper()}{point[1:]}Plugin"


def _implemented(plugin: Plugin, point: str, catalog: Catalog) -> frozenset[str]:
    points = catalog.get(plugin.name)
    if points is None:
        raise _BuildError(f"{_interface(point)} {quote(plugin.name)} does not exist")
    return points


def _twice(plugin: Plugin, point: str) -> _BuildError:
    return _BuildError(f"plugin {quote(plugin.name)} already registered as {quote(_interface(point))}")


def _listed(plugins: PluginSet, point: str, catalog: Catalog) -> list[str]:
    """Return the names of the plugins that the extension point itself enables."""
    names: list[str] = []
    for plugin in plugins.enabled:
        if point not in _implemented(plugin, point, catalog):
            raise _BuildError(f"plugin {quote(plugin.name)} does not extend {_interface(point)} plugin")
        if plugin.name in names:
            raise _twice(plugin, point)
        names.append(plugin.name)
    return names


def _ordered(profile: Profile, point: str, listed: list[str], catalog: Catalog) -> list[str]:
    """Return the point's plugins in running order, with multiPoint expanded.

    First the plugins of multiPoint that the point itself lists again, in the point's order; then the other plugins of
    multiPoint; then the plugins that only the point lists.
    """
    disabled = {plugin.name for plugin in profile.plugins.at(point).disabled}
    if "*" in disabled:
        return listed
    overridden: set[str] = set()
    expanded: list[str] = []
    for plugin in profile.plugins.multi_point.enabled:
        if point not in _implemented(plugin, point, catalog) or plugin.name in disabled:
            continue
        if plugin.name in listed:
            overridden.add(plugin.name)
        elif plugin.name in expanded:
            raise _twice(plugin, point)
        else:
            expanded.append(plugin.name)
    first = [name for name in listed if name in overridden]
    last = [name for name in listed if name not in overridden]
    return first + expanded + last


def _check_counts(scheduler_name: str, ordered: dict[str, list[str]]) -> None:
    owner = f"profile with scheduler name {quote(scheduler_name)}"
    if len(ordered["queueSort"]) != 1:
        raise _BuildError(f"only one queue sort plugin required for {owner}, but got {len(ordered['queueSort'])}")
    if not ordered["bind"]:
        raise _BuildError(f"at least one bind plugin is needed for {owner}")
    if len(ordered["placementGenerate"]) > 1:
        raise _BuildError(f"at most one placement generate plugin is allowed for {owner}")


def _weights(profile: Profile, point: str, catalog: Catalog) -> dict[str, int]:
    """Return the weights at a scoring point: its entries override multiPoint's, 0 means 1."""
    weights: dict[str, int] = {}
    total = 0
    for plugin in profile.plugins.at(point).enabled + profile.plugins.multi_point.enabled:
        if plugin.name in weights or point not in catalog[plugin.name]:
            continue
        weights[plugin.name] = plugin.weight or 1
        share = weights[plugin.name] * _MAX_SCORE
        # as in the reference, the difference overflows where a weight is negative
        if share > int64(INT64_MAX - total):
            label = "score" if point == "score" else "placement score"
            raise _BuildError(f"{label} plugins: total score of Score plugins could overflow")
        total += share
    return weights
