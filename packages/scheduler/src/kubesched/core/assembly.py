"""The composition root of the core: the one module that imports the in-tree plugins and connects the rooms.

From a configuration and out-of-tree plugins to an engine (verdicts, without an API server) or to a scheduler.
"""

from collections.abc import Callable

from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import request_options
from kubesched.core.cluster_effects import ClusterEffects
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.framework.services.background import Backgrounds
from kubesched.core.framework.services.http_client import HttpClient
from kubesched.core.framework.services.offered import Services
from kubesched.core.framework.services.waiting import Waits
from kubesched.core.framework.services.waiting_pods import WaitingPods
from kubesched.core.framework.values.effects import Effects
from kubesched.core.loop.extender_client import ExtenderClient
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.plugin_writers import PluginWriters
from kubesched.core.loop.scheduler import LoopOptions, Scheduler
from kubesched.core.plugins.in_tree import in_tree_registry
from kubesched.core.plugins.node_pre_check import NodePreCheck
from kubesched.core.scheduling.engine import Engine


def with_in_tree(registry: Registry | None) -> Registry:
    """Return a registry of the in-tree plugins and the plugins of another registry."""
    everything = in_tree_registry()
    for name in registry or ():
        assert registry is not None
        everything.adopt(registry, name)
    return everything


def load_config(
    config: str | bytes | None = None,
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    *,
    validate: bool = True,
    adjust: Callable[[KubeSchedulerConfiguration], KubeSchedulerConfiguration] = lambda config: config,
) -> Loaded:
    """Return a configuration that may enable in-tree plugins and plugins of a registry; see `load`."""
    catalog = merge_catalogs(IN_TREE, registry.catalog()) if registry is not None else IN_TREE
    return load(config, gates, catalog, validate=validate, adjust=adjust)


def engine_of(
    loaded: Loaded,
    registry: Registry | None = None,
    *,
    effects: Effects | None = None,
    waits: Waits | None = None,
    waiting_pods: WaitingPods | None = None,
    observers: Observers = NOBODY,
    background: Backgrounds | None = None,
    http: HttpClient | None = None,
) -> Engine:
    """Return an engine for a configuration; without `effects`, effects are carried out on the engine's own cluster."""
    cluster = ClusterState(request_options(loaded.gates))
    # what plugins write is carried out where there is a loop
    writer = PluginWriters(effects) if effects is not None and background is not None else None
    effects = effects or ClusterEffects(cluster)
    services = Services(
        cluster, effects, waits, waiting_pods, observers, background=background, http=http, writer=writer
    )
    return Engine(loaded, with_in_tree(registry), services)


def build_engine(
    config: str | bytes | None = None,
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    *,
    validate: bool = True,
    effects: Effects | None = None,
    waits: Waits | None = None,
    waiting_pods: WaitingPods | None = None,
    observers: Observers = NOBODY,
) -> Engine:
    """Return an engine for a configuration text; `registry` has out-of-tree plugins, the rest is for binding."""
    loaded = load_config(config, gates, registry, validate=validate)
    return engine_of(loaded, registry, effects=effects, waits=waits, waiting_pods=waiting_pods, observers=observers)


def scheduler_of(
    engine: Engine,
    services: LoopServices,
    *,
    options: LoopOptions | None = None,
    extender_client: ExtenderClient | None = None,
) -> Scheduler:
    """Return a scheduler around an engine whose plugins use these services."""
    gates = engine.loaded.gates
    hints = gates.enabled("SchedulerQueueingHints")
    pre_check = None if hints else NodePreCheck(engine.cluster, gates).admits
    return Scheduler(engine, services, options or LoopOptions(), extender_client, pre_check)


def build_scheduler(
    effects: Effects,
    config: str | bytes | None = None,
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    *,
    services: LoopServices | None = None,
    options: LoopOptions | None = None,
    extender_client: ExtenderClient | None = None,
    observers: Observers = NOBODY,
    http: HttpClient | None = None,
) -> Scheduler:
    """Return a scheduler for a configuration text; its plugins share its effects, waits and waiting pods."""
    services = services or LoopServices()
    engine = engine_of(
        load_config(config, gates, registry),
        registry,
        effects=effects,
        waits=services.waits,
        waiting_pods=services.waiting_pods,
        observers=observers,
        background=services.plugin_tasks,
        http=http,
    )
    return scheduler_of(engine, services, options=options, extender_client=extender_client)
