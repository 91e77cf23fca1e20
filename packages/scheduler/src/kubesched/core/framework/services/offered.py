"""Services: the arguments that constructors of plugins get by parameter name.

From the composition root to every plugin of every profile. `args` and `gates` come from the configuration and are added
where profiles are compiled.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.framework.services.background import Backgrounds, NoBackground
from kubesched.core.framework.services.http_client import HttpClient, NoHttp
from kubesched.core.framework.services.object_writer import IdleWriters, ObjectWriters
from kubesched.core.framework.services.placement_trial import PlacementTrials
from kubesched.core.framework.services.plugin_metrics import PluginMetrics
from kubesched.core.framework.services.waiting import NoWaits, Waits
from kubesched.core.framework.services.waiting_pods import NoWaitingPods, WaitingPods
from kubesched.core.framework.values.effects import Effects
from kubesched.core.framework.values.preemption import RunningPreemptions
from kubesched.core.framework.views.cluster_view import ClusterView


@runtime_checkable
class ReleasedService(Protocol):
    """A per-plugin service with a lifetime; `release` ends it when the plugin is retired."""

    def release(self) -> None:
        """Do it no longer."""


class Services:
    """One of each for a scheduler; the defaults are for an engine without a loop."""

    def __init__(
        self,
        cluster: ClusterState,
        effects: Effects,
        waits: Waits | None = None,
        waiting_pods: WaitingPods | None = None,
        observers: Observers = NOBODY,
        background: Backgrounds | None = None,
        http: HttpClient | None = None,
        writer: ObjectWriters | None = None,
    ) -> None:
        self.cluster = cluster
        self.effects = effects
        self.waits = waits or NoWaits()
        self.waiting_pods = waiting_pods if waiting_pods is not None else NoWaitingPods()
        self.observers = observers
        self.preemptions = RunningPreemptions(cluster.table.pods)
        self.trials = PlacementTrials(cluster)
        self.background: Backgrounds = background if background is not None else NoBackground()
        self.http: HttpClient = http if http is not None else NoHttp()
        self.writer: ObjectWriters = writer if writer is not None else IdleWriters()

    def by_name(self) -> dict[str, Any]:
        """Return the services by parameter name; some are made for each plugin (`services_of`)."""
        return dict(vars(self))


def services_of(
    name: str, services: Mapping[str, Any], writes: Sequence[str] = (), *, in_tree: bool = False
) -> dict[str, Any]:
    """Return the services that the constructor of a plugin may request; `writes` are the kinds that it may write.

    Log, metrics, background and writer are per plugin; in-tree plugins get the cluster itself, third-party plugins a
    view.
    """
    offered = {**services, "log": logging.getLogger(f"kubesched.plugins.{name}"), "metrics": PluginMetrics(name)}
    cluster, background = services.get("cluster"), services.get("background")
    if not in_tree and isinstance(cluster, ClusterState):
        offered["cluster"] = ClusterView(cluster)
    if background is not None:
        offered["background"] = background.of(name)
    if "writer" in services:
        offered["writer"] = services["writer"].of(name, writes)
    return offered
