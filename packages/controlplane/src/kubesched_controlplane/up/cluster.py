"""A cluster in one process: the embedded control plane, simulated nodes, and a scheduler, on one loop.

    objects in a server ──▶ simulation makes nodes ready ──▶ informers synced ──▶ scheduling ──▶ settled, or ended

The scheduler is a client with the user and roles of a scheduler in a cluster, but without HTTP. A cluster has settled
when no work is left (`under_way`); no timeout decides that.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from random import Random

import msgspec

from kubesched.client.informers.watched_kinds import kinds_of
from kubesched.common.notes import Note
from kubesched.config.load import Loaded
from kubesched.core.framework.building.plugin_rights import custom_kinds
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observers
from kubesched.core.loop.scheduler import LoopOptions
from kubesched.core.queue.queued_pod import Place
from kubesched.run.assembly import Dependencies, Parts, assemble
from kubesched.run.configuration_swap import ConfigurationSwap
from kubesched.run.plugin_failures import PluginFailures
from kubesched.serving.decisions.memory import DEFAULT_BYTES
from kubesched.serving.queue.reading import read_queue
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.running import SCHEDULER
from kubesched_controlplane.simulation import Simulation
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.configuration_page import serve_configuration
from kubesched_controlplane.up.decisions import serve_decisions
from kubesched_controlplane.up.local_rest import LocalRest
from kubesched_controlplane.up.plugin_rights import grant, not_served
from kubesched_controlplane.up.queue_page import serve_queue
from kubesched_controlplane.up.record import SchedulingRecord
from kubesched_controlplane.up.reloading import ConfigFile, follow_config

# seconds between checks whether the cluster has settled
LOOK_SECONDS = 0.02
# timers due within this time count as work: controllers handle changes in batches, and pods may run only briefly
NEAR_SECONDS = 1.0
# pods in these places of the queue are tried without any further event
_MOVING = (Place.ACTIVE, Place.BACKOFF, Place.IN_FLIGHT)


class ClusterSpec(msgspec.Struct, frozen=True):
    """The configuration and plugins of the scheduler, the options of simulated nodes, the seed, the record's size."""

    loaded: Loaded
    registry: Registry
    simulation: Options = Options()
    seed: int = 0
    date: Callable[[], datetime] = lambda: datetime.now(UTC)
    # the memory for the record of decisions, 0 for none
    record_bytes: int = DEFAULT_BYTES
    # the configuration file, if it is followed
    followed: ConfigFile | None = None


class LocalCluster:
    """The control plane behind `transport`, with simulated nodes and a scheduler."""

    def __init__(self, transport: Transport, spec: ClusterSpec, note: Note) -> None:
        self.server = transport.server
        self.record = SchedulingRecord()
        self.simulation = Simulation(self.server, spec.simulation, note)
        self._delays = _delays(spec.simulation)
        self._rest = LocalRest(transport, SCHEDULER)
        # requests for events are not counted as under way
        events = LocalRest(transport, SCHEDULER)
        clock = asyncio.get_running_loop().time
        tracebacks = PluginFailures(lambda plugin, hook, text: note(f"plugin {plugin} failed in {hook}: {text}"), clock)
        decisions = serve_decisions(self.server, spec.record_bytes, spec.date, clock)
        observers = Observers([self.record, tracebacks, *decisions], clock=clock, note=note)
        dependencies = Dependencies(self._rest, events, note, observers, spec.date, Random(spec.seed), "localhost")
        self.parts: Parts = assemble(spec.loaded, spec.registry, dependencies, LoopOptions(seed=spec.seed))
        queue = self.parts.scheduler.queue
        serve_configuration(self.server, lambda: self.parts.scheduler.engine.loaded)
        serve_queue(self.server, lambda: read_queue(queue, clock(), spec.date()))
        # the rights granted to plugins
        self._looked_up: dict[str, None] = {}
        self._written: dict[str, None] = {}
        self._grant(self.parts.scheduler.engine.profiles)
        self._follow = self._following(spec.followed, note) if spec.followed is not None else None
        self._scheduling: asyncio.Task[None] | None = None

    def _grant(self, profiles: Mapping[str, Profile]) -> None:
        """Grant the scheduler the rights that its plugins need, in addition to those granted before."""
        for plugin in (plugin for profile in profiles.values() for plugin in profile.plugins.values()):
            self._looked_up |= dict.fromkeys(kinds_of(plugin))
            self._written |= dict.fromkeys(plugin.writes)
        grant(self.server, self._looked_up, self._written)

    @asynccontextmanager
    async def _following(self, file: ConfigFile, note: Note) -> AsyncIterator[None]:
        """Apply changes of the configuration file until the block ends."""
        swap = ConfigurationSwap(self.parts.scheduler, self.parts.informers, self._grant)
        following = asyncio.create_task(follow_config(file, self.parts.scheduler, swap, note))
        try:
            yield
        finally:
            await _end(following)
            await swap.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the simulation and the scheduler until the block ends."""
        parts = self.parts
        async with AsyncExitStack() as stack:
            if parts.extender_client is not None:
                stack.push_async_callback(parts.extender_client.close)
            self.simulation.start()
            stack.callback(self.simulation.stop)
            # nodes without a delay are ready before the first pod is scheduled
            while self.simulation.seconds_left() <= 0:
                await asyncio.sleep(0)
            stack.push_async_callback(_end, asyncio.create_task(parts.recorder.run()))
            stack.push_async_callback(parts.informers.stop)
            parts.informers.start()
            await parts.informers.until_synced()
            self._scheduling = asyncio.create_task(parts.scheduler.run())
            stack.push_async_callback(_end, self._scheduling)
            if self._follow is not None:
                await stack.enter_async_context(self._follow)
            yield

    def kinds_not_served(self) -> list[str]:
        """Return a line for each kind that plugins look up and that the server does not serve."""
        profiles = self.parts.scheduler.engine.profiles.values()
        plugins = [plugin for profile in profiles for plugin in profile.plugins.values()]
        return not_served(
            self.server,
            {
                name: dict.fromkeys(plugin.name for plugin in plugins if name in kinds_of(plugin))
                for name in custom_kinds(self.parts.informers.reflectors)
            },
        )

    async def until_settled(self) -> None:
        """Return when every pod is bound, or waits for an event that only a user can cause.

        Do not wait for a pod whose attempts keep failing in a plugin with the same error.
        """
        looks = 0
        # twice in a row: work that begins in this turn of the loop is visible in the next
        while looks < 2:
            looks = looks + 1 if self.settled else 0
            await asyncio.sleep(LOOK_SECONDS)
            self.check()

    async def until_ended(self) -> None:
        """Wait until the scheduler ends; raise its error."""
        assert self._scheduling is not None
        await asyncio.wait([self._scheduling])
        self.check()

    def check(self) -> None:
        """Raise the error of the scheduler, if it has ended."""
        if self._scheduling is not None and self._scheduling.done():
            self._scheduling.result()

    @property
    def settled(self) -> bool:
        """Return whether no work is left at this moment."""
        return next(self.under_way(), None) is None

    def under_way(self) -> Iterator[str]:
        """Yield the work that is left, in sentences for people."""
        scheduler, reflectors = self.parts.scheduler, self.parts.informers.reflectors
        unknown = [name for name, reflector in reflectors.items() if not reflector.synced.is_set()]
        if unknown:
            yield f"the scheduler waits to read {', '.join(unknown)}"
        for queued in scheduler.queue.pods():
            if queued.place in _MOVING and not self.record.fails_for_good(queued.uid):
                yield f"pod {queued.pod.full_name} is {_WORDS[queued.place]}"
        if scheduler.busy or self._rest.requests:
            yield from (f"pod {pod} is being bound" for pod in self._assumed())
            yield "pods are being bound or written about"
        streams = self._rest.streams
        if len(streams) < len(reflectors) or not all(stream.all_taken for stream in streams):
            yield "changes are being reported"
        if self.simulation.seconds_left() <= self._delays:
            yield from (
                f"pod {pod.full_name} is terminating"
                for pod in scheduler.event_handlers.known_pods()
                if pod.terminating
            )
            yield "simulated nodes or controllers are working"

    def _assumed(self) -> Iterator[str]:
        """Yield the names of assumed pods: they have a node, but are not bound to it yet."""
        scheduler = self.parts.scheduler
        for pod in scheduler.event_handlers.known_pods():
            if not pod.spec.node_name and pod.uid in scheduler.cluster.table.pods:
                yield pod.full_name


_WORDS = {
    Place.ACTIVE: "about to be tried",
    Place.BACKOFF: "backing off until it is tried again",
    Place.IN_FLIGHT: "being tried",
}


def _delays(options: Options) -> float:
    """Return the longest delay of the simulation; timers that are due later are not waited for."""
    return max(
        NEAR_SECONDS,
        options.node_ready_seconds,
        options.pod_start_seconds,
        options.ready_seconds,
        options.termination_seconds,
        options.provision_seconds,
    )


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
