"""A simulation: the real scheduler, a trace, and a cluster around them, in virtual time.

From a trace and a configuration to figures. There are no real waits: when no task can run, the clock jumps to the next
timer. The same trace, configuration and seed give the same figures.
"""

import asyncio
from collections.abc import Callable

import msgspec

from kubesched.common.notes import Note
from kubesched.common.timer_loop import TimerLoop
from kubesched.config.load import Loaded
from kubesched.core.framework.building.registry import Registry
from kubesched_lab.simulate.measuring.figures import Figures, figures_of
from kubesched_lab.simulate.measuring.measurements import Measurements
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.measuring.rates import RateLabels
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation_run import PATIENCE_SECONDS, SimulationRun
from kubesched_lab.simulate.traces.trace import Trace, TraceEvent

# events of the trace between two reports of progress
_TOLD_EVERY = 1000


class SimulationProgress(msgspec.Struct, frozen=True):
    """The progress of a simulation."""

    seconds: float
    events: int
    bound: int
    pending: int = 0


class Run(msgspec.Struct, frozen=True):
    """The input of a simulation: a trace, one configuration, one seed.

    With `one_by_one`, each attempt waits for the consequences of the one before that take no time, such as its binding.
    Otherwise pods that wait at the same moment are attempted first and bound afterwards.
    """

    trace: Trace
    loaded: Loaded
    registry: Registry
    config_name: str = "default"
    seed: int = 0
    until: float | None = None
    warm_up: float = 0.0
    pace: Pace = Pace()
    rates: RateLabels = RateLabels()
    one_by_one: bool = False


def simulate(
    run: Run,
    note: Note = lambda line: None,
    progress: Callable[[SimulationProgress], None] = lambda _: None,
    pod_log: PodLog | None = None,
) -> Figures:
    """Return the figures of a simulation; `pod_log` gets a record of each pod."""
    return MeasuredRun(run, note, progress, pod_log).figures()


class MeasuredRun:
    """A measured run, which ends when nothing more happens; `driver` may be driven before `figures` is called."""

    def __init__(
        self,
        run: Run,
        note: Note = lambda line: None,
        progress: Callable[[SimulationProgress], None] = lambda _: None,
        log: PodLog | None = None,
    ) -> None:
        self._run = run
        self._note = note
        self._progress = progress
        self._events = 0
        # only methods for input are abstract, and they raise NotImplementedError
        self._loop = loop = TimerLoop()  # type: ignore[abstract]
        self._measurements = measurements = Measurements(loop.time, log, run.rates)
        if run.warm_up:
            measurements.warm_up()
            loop.call_at(run.warm_up, measurements.start)
        self.driver = SimulationRun(run, loop, measurements, [measurements], note, applied=self._count)
        measurements.watch(self.driver.scheduler.cluster)
        self._sampling = loop.create_task(self._sample())
        self.driver.over = loop.create_task(self._end())

    def figures(self) -> Figures:
        """Run to the end and return the figures."""
        try:
            self.driver.until()
            self.driver.over.result()
            return self._figures()
        finally:
            self.driver.close()

    def _figures(self) -> Figures:
        measurements, note, seconds = self._measurements, self._note, self._loop.time()
        if measurements.first_error:
            note(f"attempts ended in an error; the first one: {measurements.first_error}")
        measurements.sample()
        self._report_progress()
        if not measurements.offered.of and measurements.pending.value:
            note("the trace has no nodes: add a file with nodes to the one with the pods")
        if seconds < self._run.warm_up:
            note(f"the last event is at {seconds:g} s, before the end of the warm-up, so it is measured, too")
        measurements.stayed(self.driver.api.pods.values())
        return figures_of(self._run, measurements, seconds)

    async def _end(self) -> None:
        """Wait for the end, and stop the scheduler there."""
        driver = self.driver
        try:
            async with asyncio.timeout_at(self._run.until):
                await driver.feed.ended
                await self._until_settled()
        except TimeoutError:
            pass
        finally:
            driver.feed.stop()
            self._sampling.cancel()
            driver.scheduler.stop()
            await driver.scheduling

    async def _until_settled(self) -> None:
        """Wait until the run has settled; pods that are retried without end are given up after an hour.

        Such are pods for which a plugin always fails.
        """
        driver, loop, counts = self.driver, self._loop, self._measurements.counts
        bound, since = counts["bound"], loop.time()
        while driver.busy or driver.retried:
            if driver.api.ends_to_come or counts["bound"] != bound:
                await driver.api.until_all_ended()
                bound, since = counts["bound"], loop.time()
            elif loop.time() - since > PATIENCE_SECONDS:
                left = self._measurements.pending.value
                self._note(
                    f"{left} pods are retried without success, so the simulation ends; use --until to end it earlier"
                )
                return
            await asyncio.sleep(1.0)

    async def _sample(self) -> None:
        """Take samples during the simulation."""
        while True:
            await asyncio.sleep(self._measurements.timeline.seconds)
            self._measurements.sample()
            self._report_progress()

    def _count(self, event: TraceEvent) -> None:
        self._events += 1
        if self._events % _TOLD_EVERY == 0:
            self._report_progress()

    def _report_progress(self) -> None:
        """Report the progress."""
        now, pending = self._loop.time(), self._measurements.pending.value
        self._progress(SimulationProgress(now, self._events, self._measurements.counts["bound"], pending))
