"""The state of the page: it shows the cluster of its source, or a simulation.

From the source's cluster and the choices of users to one `ShownCluster` at a time. A browser that follows a cluster
that is no longer on display has to read everything again.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from kubesched.common.daemon_thread import on_thread
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.explain.placing_pending import with_pods_placed
from kubesched_lab.page.shown.shown_cluster import ShownCluster
from kubesched_lab.page.simulation.commands import SimulationClock
from kubesched_lab.page.simulation.page_run import ObserverFactory
from kubesched_lab.page.simulation.page_simulation import PageSimulation
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.page.timeline.seen_marks import SeenMarks
from kubesched_lab.simulate.traces.manifest_trace import trace_of_objects

FILES, LIVE, SIMULATION = "files", "live", "simulation"
NO_SOURCE: Final = "this page has only a simulation; start kubesched page with --from or --cluster to show a cluster"
NO_MANIFESTS: Final = "only pods of manifests can be placed; clusters, snapshots and simulations are shown unchanged"


class PageState:
    """The source's cluster, None if there is only a simulation; and the simulation, if any.

    `configuration` is the text of the configuration of the source's scheduler. `assumed` is a sentence that says why
    another one may be in force. `observers` are created for each run of a simulation. `writable` says whether users may
    change the source's cluster.
    """

    def __init__(
        self,
        source: ShownCluster | None,
        *,
        configuration: str = "",
        assumed: str = "",
        observers: Sequence[ObserverFactory] = (),
    ) -> None:
        self.source = source
        self._configuration = configuration
        # changes when the scheduler puts another configuration in force
        self.source_assumed = assumed
        self.observers = observers
        self.simulation: PageSimulation | None = None
        # the source after its pending pods were placed, None until a user asks for it
        self._placed: ShownCluster | None = None
        self._places = False
        self.seen = SeenMarks()
        if source is not None:
            source.followers.append(self.seen)
        self.writable = False

    @property
    def shown(self) -> ShownCluster:
        """Return the cluster on display."""
        shown = self._displayed()
        assert shown is not None, "there is neither a cluster nor a simulation"
        return shown

    @property
    def written(self) -> ShownCluster:
        """Return the cluster on display, without the placements that the page computed for pods."""
        found = self.simulation.shown if self.simulation is not None else self.source
        assert found is not None, "there is neither a cluster nor a simulation"
        return found

    @property
    def places(self) -> bool | None:
        """Return whether pods of manifests are shown where the scheduler places them; None for all other sources."""
        if self.simulation is not None or self.source is None or not self.source.model.source.drafted:
            return None
        return self._places

    @property
    def mode(self) -> str:
        """Return the kind of the cluster on display: files, a live cluster or a simulation."""
        if self.simulation is not None:
            return SIMULATION
        return LIVE if self.shown.model.source.server is not None else FILES

    @property
    def now(self) -> datetime:
        """Return the date of the cluster on display."""
        if self.simulation is not None:
            return datetime.fromisoformat(self.simulation.clock.date)
        return self.shown.model.source.taken_at or datetime.now(UTC)

    @property
    def configuration(self) -> str:
        """Return the text of the configuration in force, empty for the default."""
        return self.simulation.configuration.text if self.simulation is not None else self._configuration

    @property
    def assumed(self) -> str:
        """Return a sentence if another configuration may be in force; empty for a simulation."""
        return self.source_assumed if self.simulation is None else ""

    @property
    def clock(self) -> SimulationClock | None:
        """Return the clock of the simulation, None without a simulation."""
        return self.simulation.clock if self.simulation is not None else None

    def head(self) -> dict[str, Any]:
        """Return the fields that /v1/cluster has beside the cluster."""
        return {
            "mode": self.mode,
            "writable": self.writable or self.simulation is not None,
            "leavable": self.simulation is not None and self.source is not None,
            "clock": self.clock,
            "placed": self.places,
        }

    def encoded(self) -> bytes:
        """Return the body of /v1/cluster."""
        # the encoded cluster is cached; the clock is current
        return msgspec.json.encode(self.head())[:-1] + b"," + self.shown.encoded()[1:]

    # -- simulations

    async def simulate(self, scenario: PageScenario | None = None) -> PageSimulation:
        """Show a simulation, by default one of the cluster on display; raises KubeschedError if it cannot begin."""
        scenario = scenario or scenario_of(self.written.model, self.configuration)
        found = PageSimulation(scenario, observers=self.observers)
        await found.start()
        self._show(found)
        return found

    def leave(self) -> None:
        """Show the source's cluster again; raises KubeschedError without a source."""
        if self.source is None:
            raise KubeschedError(NO_SOURCE)
        self._show(None)

    def _show(self, simulation: PageSimulation | None) -> None:
        ended, before = self.simulation, self._displayed()
        self.simulation = simulation
        if ended is not None:
            ended.end()
        if before is not None:
            self._follow(before)

    def _follow(self, before: ShownCluster) -> None:
        """Make browsers read the cluster on display instead of the one before."""
        self.shown.skip(before.seq)
        before.wake()

    def _displayed(self) -> ShownCluster | None:
        if self.simulation is not None:
            return self.simulation.shown
        return self._placed if self._places else self.source

    # -- places of pods

    async def place(self, places: bool) -> None:
        """Show pods of manifests where the scheduler places them, or as pending; raises KubeschedError for other
        sources.
        """
        if self.places is None or self.source is None:
            raise KubeschedError(NO_MANIFESTS)
        if places and self._placed is None:
            model = self.source.model
            self._placed = await on_thread(lambda: _with_pods_placed(model))
        before = self.shown
        self._places = places
        if before is not self.shown:
            self._follow(before)

    async def close(self) -> None:
        """End the simulation, if any."""
        if self.simulation is not None:
            self.simulation.end()
            await self.simulation.gone()


def _with_pods_placed(model: ClusterModel) -> ShownCluster:
    """Return a cluster after its pending pods were placed; `model` is not changed."""
    objects = with_pods_placed(ClusterModel(model.objects_now(), model.loaded, model.registry))
    placed = ClusterModel(objects, model.loaded, model.registry)
    uids = {pod.uid for pod in placed.pods.values() if pod.spec.node_name}
    return ShownCluster(placed, placed=uids - {pod.uid for pod in model.pods.values() if pod.spec.node_name})


def scenario_of(model: ClusterModel, configuration: str = "") -> PageScenario:
    """Return a scenario that begins with the objects of a model; `configuration` is the text of its configuration."""
    objects = model.objects_now()
    return PageScenario(
        trace_of_objects(objects.origin or "the cluster", objects.objects, strict=False),
        SimulatedConfiguration(configuration, model.loaded),
        model.registry,
        workloads=objects.workloads,
    )
