"""A simulation: the real scheduler, a trace, and a cluster around them, in virtual time.

From a trace and a configuration to figures. There are no real waits: when no task can run, the clock jumps to the next
timer. The same trace, configuration and seed give the same figures.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import msgspec

from kubesched.api.scheduling import PodGroup
from kubesched.common.notes import Note
from kubesched.common.timer_loop import run_on_timers
from kubesched.common.virtual_time import BEGINNING
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of, scheduler_of
from kubesched.core.framework.observer import Observers
from kubesched.core.framework.registry import Registry
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions, Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched_lab.simulate.configuration_changes import changed_configuration
from kubesched_lab.simulate.measuring.figures import Figures, figures_of
from kubesched_lab.simulate.measuring.measurements import Measurements
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.measuring.rates import RateLabels
from kubesched_lab.simulate.simulated_api import Pace, SimulatedApi, pace_of
from kubesched_lab.simulate.trace_feed import TraceFeed
from kubesched_lab.simulate.traces.trace import ConfigurationChange, ObjectPut, Trace, TraceEvent

# pods in these places of the queue are tried without a further event
_MOVING = (Place.ACTIVE, Place.BACKOFF, Place.IN_FLIGHT)
# seconds without any binding after which retried pods are given up: some backoffs and flushes
_PATIENCE_SECONDS = 3600.0
# events of the trace between two reports of progress
_TOLD_EVERY = 1000
GROUPS_IGNORED = (
    "pod groups of the trace are ignored: enable them with --feature-gates GenericWorkload=true,GangScheduling=true"
)


class SimulationProgress(msgspec.Struct, frozen=True):
    """The progress of a simulation."""

    seconds: float
    events: int
    bound: int
    pending: int = 0


class Run(msgspec.Struct, frozen=True):
    """The input of a simulation: a trace, one configuration, one seed."""

    trace: Trace
    loaded: Loaded
    registry: Registry
    config_name: str = "default"
    seed: int = 0
    until: float | None = None
    warm_up: float = 0.0
    pace: Pace = Pace()
    rates: RateLabels = RateLabels()


def simulate(
    run: Run,
    note: Note = lambda line: None,
    progress: Callable[[SimulationProgress], None] = lambda _: None,
    pod_log: PodLog | None = None,
) -> Figures:
    """Return the figures of a simulation; `pod_log` gets a record of each pod."""
    return run_on_timers(_Simulation(run, note, progress, pod_log).run())


class _Simulation:
    """One simulation; created outside of its loop, run inside."""

    def __init__(
        self, run: Run, note: Note, progress: Callable[[SimulationProgress], None], log: PodLog | None
    ) -> None:
        self._run = run
        self._note = note
        self._progress = progress
        self._log = log
        self._events = 0
        # whether pod groups are ignored, and this has not been reported yet
        self._groups_ignored = not run.loaded.gates.enabled("GangScheduling")

    async def run(self) -> Figures:
        """Simulate from the beginning to the end."""
        loop = asyncio.get_running_loop()
        services = LoopServices(self._note, lambda: BEGINNING + timedelta(seconds=loop.time()))
        measurements = Measurements(loop.time, self._log, self._run.rates)
        api = SimulatedApi(pace_of(self._run.pace, self._run.trace), measurements, services.inbox)
        engine = engine_of(
            self._run.loaded,
            self._run.registry,
            effects=api,
            waits=services.waits,
            waiting_pods=services.waiting_pods,
            observers=Observers([measurements], clock=loop.time, note=self._note, timed=False),
            background=services.plugin_tasks,
        )
        measurements.watch(engine.cluster)
        options = LoopOptions(self._run.seed, self._run.pace.attempt_seconds)
        scheduler = scheduler_of(engine, services, options=options)
        if self._run.warm_up:
            measurements.warm_up()
            loop.call_at(self._run.warm_up, measurements.start)
        scheduling = loop.create_task(scheduler.run())
        sampling = loop.create_task(self._sample(measurements))
        try:
            async with asyncio.timeout_at(self._run.until):
                await self._feed(api, scheduler, measurements)
                await _until_settled(api, scheduler, measurements, self._note)
        except TimeoutError:
            pass
        finally:
            sampling.cancel()
            scheduler.stop()
            await scheduling
        if measurements.first_error:
            self._note(f"attempts ended in an error; the first one: {measurements.first_error}")
        measurements.sample()
        self._report_progress(measurements)
        if not measurements.offered.of and measurements.pending.value:
            self._note("the trace has no nodes: add a file with nodes to the one with the pods")
        if loop.time() < self._run.warm_up:
            self._note(f"the last event is at {loop.time():g} s, before the end of the warm-up, so it is measured, too")
        measurements.stayed(api.pods.values())
        return figures_of(self._run, measurements, loop.time())

    async def _feed(self, api: SimulatedApi, scheduler: Scheduler, measurements: Measurements) -> None:
        """Apply the events of the trace at their times."""
        registry = self._run.registry

        def carry_out(event: TraceEvent) -> None:
            if isinstance(event, ConfigurationChange):
                scheduler.reconfigure(changed_configuration(event, self._run.trace, self._run.loaded, registry))
            else:
                api.apply(event)
            self._events += 1
            if self._groups_ignored and isinstance(event, ObjectPut):
                self._warn_of_groups(event)
            if self._events % _TOLD_EVERY == 0:
                self._report_progress(measurements)

        feed = TraceFeed(self._run.trace.events(self._run.seed), carry_out)
        try:
            await feed.ended
        finally:
            feed.stop()

    def _warn_of_groups(self, event: ObjectPut) -> None:
        """Log once that the scheduler ignores pod groups, when the first PodGroup is created."""
        if isinstance(event.obj, PodGroup):
            self._groups_ignored = False
            self._note(GROUPS_IGNORED)

    async def _sample(self, measurements: Measurements) -> None:
        """Take samples during the simulation."""
        while True:
            await asyncio.sleep(measurements.timeline.seconds)
            measurements.sample()
            self._report_progress(measurements)

    def _report_progress(self, measurements: Measurements) -> None:
        """Report the progress."""
        now, pending = asyncio.get_running_loop().time(), measurements.pending.value
        self._progress(SimulationProgress(now, self._events, measurements.counts["bound"], pending))


async def _until_settled(api: SimulatedApi, scheduler: Scheduler, measurements: Measurements, note: Note) -> None:
    """Wait until no pod with a known end runs, and no pod is retried without an event.

    Pods that are retried without end, such as pods for which a plugin always fails, are given up after an hour.
    """
    loop = asyncio.get_running_loop()
    bound, since = measurements.counts["bound"], loop.time()
    while api.ends_to_come or scheduler.busy or tried_again(scheduler):
        if api.ends_to_come or measurements.counts["bound"] != bound:
            await api.until_all_ended()
            bound, since = measurements.counts["bound"], loop.time()
        elif loop.time() - since > _PATIENCE_SECONDS:
            left = measurements.pending.value
            note(f"{left} pods are retried without success, so the simulation ends; use --until to end it earlier")
            return
        await asyncio.sleep(1.0)


def tried_again(scheduler: Scheduler) -> int:
    """Return the number of pods that are retried without a further event."""
    counts = scheduler.queue.counts()
    return sum(counts[place] for place in _MOVING)
