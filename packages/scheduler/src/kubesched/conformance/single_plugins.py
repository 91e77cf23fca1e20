"""Plugins of a configuration, built one at a time, for questions about a single plugin.

From a line's `config`, `featureGates` and `objects` to a cluster and the plugins over it. A plugin that fails to build
does not affect the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kubesched.api.codec import decode
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.types import RawArgs
from kubesched.core.assembly import load_config, with_in_tree
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import request_options
from kubesched.core.framework.building.profile import build_plugin
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.values.effects import RecordingEffects


class SinglePlugins:
    """The plugins of the first profile of a configuration, over a separate cluster."""

    def __init__(self, line: Mapping[str, Any], registry: Registry | None = None) -> None:
        self.gates = FeatureGates(line.get("featureGates") or {})
        self.loaded = load_config(line.get("config"), self.gates, registry)
        self.profile = self.loaded.profiles[0]
        self.cluster = ClusterState(request_options(self.gates))
        for document in line.get("objects") or ():
            self.cluster.add(decode(document))
        self._registry = with_in_tree(registry)

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all plugins that the profile enables at any extension point."""
        return list(dict.fromkeys(plugin.name for plugins in self.profile.points.values() for plugin in plugins))

    def build(self, name: str) -> Plugin:
        """Return a plugin with the arguments of the profile; raises PluginError for an unknown name."""
        args = self.profile.args(name)
        plain = args.value if isinstance(args, RawArgs) else args
        services = {"cluster": self.cluster, "gates": self.gates, "effects": RecordingEffects(), "args": plain}
        return build_plugin(name, self._registry.factory(name), services, self.profile.scheduler_name)
