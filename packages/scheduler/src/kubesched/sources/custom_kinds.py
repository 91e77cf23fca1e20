"""The custom resources to read with a cluster, for plugins that look them up.

From a configuration and its plugins to names of kinds.
"""

from collections.abc import Mapping

from kubesched.api.custom import CustomObject
from kubesched.client.informers.watched_kinds import watched_kinds
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.building.registry import Registry


def custom_kinds_of(loaded: Loaded, registry: Registry) -> list[str]:
    """Return the kinds of custom resources that the plugins of a configuration look up."""
    enabled = {plugin.name for profile in loaded.profiles for plugins in profile.points.values() for plugin in plugins}
    if enabled.isdisjoint(registry):
        # in-tree plugins look up no custom resources, so that there is nothing to build
        return []
    return custom_kinds_in(engine_of(loaded, registry).profiles, loaded.gates)


def custom_kinds_in(profiles: Mapping[str, Profile], gates: FeatureGates) -> list[str]:
    """Return the kinds of custom resources that the plugins of profiles look up."""
    return [each.name for each in watched_kinds(profiles, gates) if issubclass(each.kind, CustomObject)]
