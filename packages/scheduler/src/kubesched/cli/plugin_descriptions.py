"""Descriptions of plugins: origin, extension points, arguments, events.

From a registry, and a configuration if there is one, to plain values for `kubesched plugins`.
"""

import difflib
import inspect
from typing import Any, NamedTuple

from kubesched.cli.config import read
from kubesched.cli.plugin_options import with_plugin_hint
from kubesched.config.errors import ConfigError
from kubesched.core.assembly import load_config, with_in_tree
from kubesched.core.cluster.changes import ANYTHING, Reads
from kubesched.core.framework.building.plugin_args import args_fields, args_schema
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import Plugin
from kubesched.errors import KubeschedError, PluginError


class ListedPlugin(NamedTuple):
    """A plugin, its origin, its extension points, and the profiles that enable it."""

    name: str
    source: str
    extension_points: tuple[str, ...]
    enabled_in: tuple[str, ...]


def listed_plugins(registry: Registry, config: str | None) -> list[ListedPlugin]:
    """Return all plugins, in-tree ones first, with the profiles of a configuration that enable them."""
    try:
        loaded = load_config(None if config is None else read(config), registry=registry)
    except ConfigError as error:
        raise with_plugin_hint(error).about(config or "the defaults") from None
    enabled: dict[str, list[str]] = {}
    for profile in loaded.profiles:
        for name in dict.fromkeys(plugin.name for point in profile.points.values() for plugin in point):
            enabled.setdefault(name, []).append(profile.scheduler_name)
    catalog = with_in_tree(registry).catalog()
    return [
        ListedPlugin(name, registry.source(name) or "in-tree", tuple(sorted(points)), tuple(enabled.get(name, ())))
        for name, points in catalog.items()
    ]


def described_plugin(registry: Registry, name: str) -> dict[str, Any]:
    """Return the description of a plugin; PluginError with the nearest name if there is none."""
    everything = with_in_tree(registry)
    if name not in everything:
        near = difflib.get_close_matches(name, list(everything), n=1)
        hint = f"did you mean {near[0]}?" if near else "kubesched plugins list has all names"
        raise PluginError(f"there is no plugin {name}; {hint}")
    factory: Any = everything.factory(name)
    schema = args_schema(factory)
    found: dict[str, Any] = {
        "name": name,
        "from": registry.source(name) or "in-tree",
        "about": inspect.getdoc(factory) or "",
        "extension points": sorted(everything.catalog()[name]),
        "arguments": [field._asdict() for field in args_fields(schema)] if schema is not None else [],
    }
    if isinstance(factory, type):
        found["reads"] = [
            f"{hook}: {_groups(value)}"
            for hook in ("reads", "score_reads")
            if isinstance(value := getattr(factory, hook, None), int)
        ]
        found["looks up"] = list(getattr(factory, "looks_up", ()))
        found["writes"] = list(getattr(factory, "writes", ()))
        found["events"] = _events(factory)
    return found


def _groups(reads: int) -> str:
    if reads == ANYTHING:
        return "anything"
    named = [name for name, group in vars(Reads).items() if name.isupper() and isinstance(group, int) and group & reads]
    return " | ".join(named) or "nothing"


def _events(factory: type[Plugin]) -> list[str]:
    """Return the events of a plugin whose constructor needs no arguments, or why they are unknown."""
    try:
        registrations = factory().events_to_register()
        return [f"{each.event.resource}/{each.event.action.name}" for each in registrations]
    except (TypeError, AttributeError, KubeschedError):
        return ["they depend on the arguments of the constructor"]
