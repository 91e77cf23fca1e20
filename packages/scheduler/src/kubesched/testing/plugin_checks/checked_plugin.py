"""A plugin under check: engines in which it is the only plugin that filters and scores.

From a plugin class or decorated function and its arguments to engines over example clusters, each with a separate
instance. A broken plugin raises the same PluginError as in a scheduler.
"""

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from functools import cached_property
from typing import Any

from kubesched.api.meta import ApiObject
from kubesched.config.intree import IN_TREE
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config, with_in_tree
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import request_options
from kubesched.core.cluster_effects import ClusterEffects
from kubesched.core.framework.building.plugin_args import args_fields, args_schema, shown_args
from kubesched.core.framework.building.profile import registered_events
from kubesched.core.framework.building.registry import Registry, plugin_class
from kubesched.core.framework.plugin import Plugin, extension_points_of
from kubesched.core.framework.services.offered import Services
from kubesched.core.scheduling.engine import Engine
from kubesched.errors import PluginError


class Seen(Enum):
    """An observation in an example."""

    # the plugin rejected the pod on some node
    REJECTED = auto()
    # the plugin gave different scores to nodes
    SCORES_DIFFER = auto()
    # a change that makes a rejected pod fit, and for which the plugin wakes it
    WOKEN = auto()
    # a change that does not help a rejected pod, and for which the plugin does not wake it
    SKIPPED = auto()
    # the pod was gated before a change
    GATED = auto()
    # a change that opens the gate of a pod, and for which the plugin wakes it
    OPENED = auto()


class CheckedPlugin:
    """A plugin, enabled alone at all of its extension points; raises PluginError if it is invalid."""

    def __init__(self, declared: type[Plugin] | Callable[..., Any], args: Any = None) -> None:
        self.registry: Registry | None = None
        found = plugin_class(declared)
        # in-tree plugins exist already
        if found is None or found.name not in IN_TREE:
            self.registry = Registry()
            self.registry.register(declared)
            found = plugin_class(declared)
        assert found is not None
        self.kind = found
        self.name = found.name
        self.points = extension_points_of(found)
        self._args = args
        # how often examples contained the subjects of checks
        self.tally: Counter[Seen] = Counter()

    def replaced_by(self, plugin: type[Plugin]) -> "CheckedPlugin":
        """Return another class of the same name with the same arguments."""
        return CheckedPlugin(plugin, self._args)

    @cached_property
    def config(self) -> str:
        """Return the configuration in which the plugin is enabled alone."""
        return alone_config(self.name, self.points, self._args)

    @cached_property
    def loaded(self) -> Loaded:
        """Return the configuration, loaded."""
        return load_config(self.config, registry=self.registry)

    @cached_property
    def _everything(self) -> Registry:
        return with_in_tree(self.registry)

    @property
    def args_with_defaults(self) -> Any:
        """Return the arguments, with defaults for missing ones."""
        schema = args_schema(self._everything.factory(self.name))
        defaults = {} if schema is None else {field.name: field.default for field in args_fields(schema)}
        given = {} if self._args is None else _plain(self._args)
        return {**defaults, **given} if isinstance(given, Mapping) else given

    def engine(self, objects: Iterable[ApiObject] = ()) -> Engine:
        """Return a new engine, with a new plugin, over copies of the objects."""
        cluster = ClusterState(request_options(self.loaded.gates))
        engine = Engine(self.loaded, self._everything, Services(cluster, ClusterEffects(cluster)))
        for obj in objects:
            engine.cluster.add(copy.deepcopy(obj))
        return engine

    def start(self) -> Plugin:
        """Build the plugin as a scheduler does; return it, or raise PluginError."""
        profile = next(iter(self.engine().profiles.values()))
        plugin = profile.plugins[self.name]
        registered_events(plugin)
        return plugin


def alone_config(name: str, points: Iterable[str], args: Any) -> str:
    """Return a configuration with only one plugin, and the plugins that scheduling requires."""
    plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": name}]}}
    if name != "PrioritySort" and "queueSort" not in points:
        plugins["queueSort"] = {"enabled": [{"name": "PrioritySort"}]}
    if name != "DefaultBinder":
        plugins["bind"] = {"enabled": [{"name": "DefaultBinder"}]}
    profile: dict[str, Any] = {"plugins": plugins}
    if args is not None:
        profile["pluginConfig"] = [{"name": name, "args": _plain(args)}]
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
        }
    )


def _plain(args: Any) -> Any:
    """Return arguments in the form of a configuration."""
    plain = args if isinstance(args, Mapping) else shown_args(args)
    try:
        json.dumps(plain)
    except (TypeError, ValueError) as error:
        raise PluginError(f"args: cannot be written in a configuration: {error}") from None
    return plain
