"""Services: the arguments that constructors of plugins get by parameter name.

From the composition root to every plugin of every profile. `args` and `gates` come from the configuration and are added
where profiles are compiled.
"""

from typing import Any

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.effects import Effects
from kubesched.core.framework.observer import NOBODY, Observers
from kubesched.core.framework.preemption import RunningPreemptions
from kubesched.core.framework.waiting import NoWaits, Waits
from kubesched.core.framework.waiting_pods import NoWaitingPods, WaitingPods


class Services:
    """One of each for a scheduler; the defaults are those of an engine that no loop runs."""

    def __init__(
        self,
        cluster: ClusterState,
        effects: Effects,
        waits: Waits | None = None,
        waiting_pods: WaitingPods | None = None,
        observers: Observers = NOBODY,
    ) -> None:
        self.cluster = cluster
        self.effects = effects
        self.waits = waits or NoWaits()
        self.waiting_pods = waiting_pods if waiting_pods is not None else NoWaitingPods()
        self.observers = observers
        self.preemptions = RunningPreemptions(cluster.table.pods)

    def by_name(self) -> dict[str, Any]:
        """Return the services by parameter name."""
        return dict(vars(self))
