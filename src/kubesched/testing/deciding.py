"""Decisions for tests of plugins: an engine over some objects, with plugins of the test's own.

From objects, plugin classes and their arguments to decisions, without an API server and without a loop.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.assembly import build_engine
from kubesched.core.framework.plugin import Plugin
from kubesched.core.framework.plugin_args import shown_args
from kubesched.core.framework.registry import Registry, plugin_class
from kubesched.core.scheduling.decision import Decision, decide
from kubesched.core.scheduling.engine import Engine

Declared = type[Plugin] | Callable[..., Any]
EngineFactory = Callable[..., "Decider"]


class Decider:
    """An engine that decides about pods; the first of equally good nodes is chosen."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, *objects: ApiObject) -> None:
        """Add objects to the cluster, or replace them."""
        for obj in objects:
            self.engine.cluster.add(obj)

    def remove(self, obj: ApiObject) -> None:
        """Remove an object."""
        self.engine.cluster.remove(obj)

    def decide(self, pod: Pod) -> Decision:
        """Return the decision about a pod: `node_name`, or why there is none in `message`."""
        return decide(self.engine.evaluation_of(self.engine.cluster.reader.read(pod)), lambda count: 0)


def decider(
    objects: Iterable[ApiObject] = (),
    *,
    plugins: Iterable[Declared] = (),
    args: Mapping[str, Any] | None = None,
    config: str | None = None,
) -> Decider:
    """Return an engine over objects in which plugins are enabled beside the default ones.

    `args` are the plugins' arguments by name; a `config` of the test's own says itself what is enabled.
    """
    registry = Registry()
    plugins = list(plugins)
    for plugin in plugins:
        registry.register(plugin)
    made = Decider(build_engine(config or _config(plugins, args or {}), registry=registry))
    made.add(*objects)
    return made


def _config(plugins: Iterable[Declared], args: Mapping[str, Any]) -> str:
    kinds = [plugin_class(plugin) for plugin in plugins]
    enabled = [{"name": kind.name} for kind in kinds if kind is not None]
    profile = {
        "plugins": {"multiPoint": {"enabled": enabled}},
        "pluginConfig": [
            {"name": name, "args": value if isinstance(value, Mapping) else shown_args(value)}
            for name, value in args.items()
        ],
    }
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps({**head, "profiles": [profile]})
