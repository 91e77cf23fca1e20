"""A test's plugins, enabled in addition to the default ones.

From plugin classes and decorated functions, and their arguments by name, to a registry and a configuration.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kubesched.core.framework.building.plugin_args import shown_args
from kubesched.core.framework.building.registry import Registry, plugin_class
from kubesched.core.framework.plugin import Plugin, QueueSortPlugin

Declared = type[Plugin] | Callable[..., Any]
_HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def registry_of(plugins: Iterable[Declared]) -> Registry:
    """Return a registry of some plugins."""
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    return registry


def config_of(plugins: Iterable[Declared], args: Mapping[str, Any] | None = None) -> str:
    """Return a configuration with plugins enabled at all of their extension points; a queue sort plugin replaces
    PrioritySort.

    The arguments of a plugin are a mapping, or its typed arguments.
    """
    kinds = [kind for kind in map(plugin_class, plugins) if kind is not None]
    points: dict[str, Any] = {"multiPoint": {"enabled": [{"name": kind.name} for kind in kinds]}}
    sorting = [{"name": kind.name} for kind in kinds if issubclass(kind, QueueSortPlugin)]
    if sorting:
        points["queueSort"] = {"enabled": sorting, "disabled": [{"name": "*"}]}
    given = [
        {"name": name, "args": value if isinstance(value, Mapping) else shown_args(value)}
        for name, value in (args or {}).items()
    ]
    return json.dumps({**_HEAD, "profiles": [{"plugins": points, "pluginConfig": given}]})
