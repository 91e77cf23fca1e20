"""A configuration with the typed arguments of out-of-tree plugins completed by their defaults.

From a loaded configuration and the registry to what `kubesched config show` prints. Plugins without typed arguments
keep their arguments as written.
"""

import msgspec

from kubesched.config.build import ResolvedProfile
from kubesched.config.load import Loaded
from kubesched.config.types import PluginConfig, Profile, RawArgs
from kubesched.core.framework.building.plugin_args import args_schema, decoded_args, shown_args
from kubesched.core.framework.building.registry import Registry


def with_typed_args(loaded: Loaded, registry: Registry) -> Loaded:
    """Return a configuration in which enabled plugins have all of their typed arguments; raises PluginError."""
    profiles = tuple(
        msgspec.structs.replace(profile, config=_completed(profile, registry)) for profile in loaded.profiles
    )
    config = msgspec.structs.replace(loaded.config, profiles=tuple(profile.config for profile in profiles))
    return msgspec.structs.replace(loaded, config=config, profiles=profiles)


def _completed(profile: ResolvedProfile, registry: Registry) -> Profile:
    written = {entry.name: entry for entry in profile.config.plugin_config}
    enabled = dict.fromkeys(plugin.name for plugins in profile.points.values() for plugin in plugins)
    for name in enabled:
        schema = args_schema(registry.factory(name)) if name in registry else None
        if schema is not None:
            raw = written[name].args if name in written else None
            args = decoded_args(schema, raw.value if isinstance(raw, RawArgs) else None, name)
            written[name] = PluginConfig(name=name, args=RawArgs(value=shown_args(args)))
    return msgspec.structs.replace(profile.config, plugin_config=tuple(written.values()))
