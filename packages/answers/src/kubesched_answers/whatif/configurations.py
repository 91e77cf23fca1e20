"""Other weights of plugins in a configuration.

From a configuration and weights by plugin to the configuration with these weights in every profile.
"""

from collections.abc import Mapping

import msgspec

from kubesched.config.types import KubeSchedulerConfiguration, Plugin, PluginSet, Profile
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import UnknownObjectError, nearest


def parse_weight(text: str) -> tuple[str, int]:
    """Return the plugin and the weight in `PLUGIN=W`; raises KubeschedError."""
    plugin, _, weight = text.partition("=")
    if not plugin or not weight.isdecimal():
        raise KubeschedError(f"weight {text}: write PLUGIN=W, such as NodeResourcesFit=5; 0 leaves its scores out")
    return plugin, int(weight)


def with_weights(config: KubeSchedulerConfiguration, weights: Mapping[str, int]) -> KubeSchedulerConfiguration:
    """Return a configuration in which plugins score with other weights; raises UnknownObjectError."""
    known = {plugin.name for profile in config.profiles for plugin in _enabled(profile)}
    for plugin in weights:
        if plugin not in known:
            raise UnknownObjectError(f"no profile enables a plugin {plugin}{nearest(plugin, known)}")
    return msgspec.structs.replace(config, profiles=tuple(_weighted(profile, weights) for profile in config.profiles))


def _enabled(profile: Profile) -> tuple[Plugin, ...]:
    return (*profile.plugins.multi_point.enabled, *profile.plugins.score.enabled)


def _weighted(profile: Profile, weights: Mapping[str, int]) -> Profile:
    plugins = profile.plugins
    every, score = (_reweighted(each, weights) for each in (plugins.multi_point, plugins.score))
    names = {plugin.name for plugin in _enabled(profile)}
    silent = tuple(Plugin(name=name) for name, weight in weights.items() if not weight and name in names)
    if silent:
        gone = {plugin.name for plugin in silent}
        score = PluginSet(
            enabled=tuple(plugin for plugin in score.enabled if plugin.name not in gone),
            disabled=(*(plugin for plugin in score.disabled if plugin.name not in gone), *silent),
        )
    return msgspec.structs.replace(profile, plugins=msgspec.structs.replace(plugins, multi_point=every, score=score))


def _reweighted(some: PluginSet, weights: Mapping[str, int]) -> PluginSet:
    enabled = tuple(
        msgspec.structs.replace(plugin, weight=weights[plugin.name]) if weights.get(plugin.name) else plugin
        for plugin in some.enabled
    )
    return msgspec.structs.replace(some, enabled=enabled)
