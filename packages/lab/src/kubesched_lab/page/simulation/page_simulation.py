"""A simulation as the page uses it: a cluster on display, a clock, marks; and commands.

From the reports of its thread to a `ShownCluster`, in their order, on the page's loop.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec

from kubesched.api.nodes import Node
from kubesched.config.load import Loaded
from kubesched.core.framework.values.texts import described
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ADMISSION_KINDS, ClusterObjects
from kubesched.sources.pod_records import PodRecords
from kubesched_lab.page.shown.shown_cluster import ShownCluster
from kubesched_lab.page.simulation.commands import ENDED, RunReport, SimulationClock
from kubesched_lab.page.simulation.object_mirror import Changes
from kubesched_lab.page.simulation.page_run import ObserverFactory, PageRun
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration, UserAction
from kubesched_lab.page.simulation.simulation_thread import SimulationThread
from kubesched_lab.page.timeline.mark_series import MarkSeries
from kubesched_lab.simulate.traces.trace import TraceEvent

T = TypeVar("T")
# objects that are taken in before requests have their turn
BATCH: Final = 200
# how long a question waits for its answer
PATIENCE_SECONDS: Final = 10.0
# how long the thread may take to end
ENDING_SECONDS: Final = 1.0
# limit of decisions that are shown for one pod
MOST_DECISIONS: Final = 200
NO_ANSWER: Final = "the simulation does not answer because a plugin takes long; try again, or leave the simulation"


class PageSimulation:
    """A simulation that runs in a thread."""

    def __init__(
        self,
        scenario: PageScenario,
        *,
        observers: Sequence[ObserverFactory] = (),
    ) -> None:
        self.scenario = scenario
        self.configuration = scenario.configuration
        self.clock = SimulationClock()
        self.marks = MarkSeries()
        self.shown = self._empty(scenario.configuration.loaded)
        self._loop = asyncio.get_running_loop()
        self._reports: asyncio.Queue[RunReport] = asyncio.Queue()
        self._thread = SimulationThread(scenario, self._hand_over, observers)
        self._taking = self._loop.create_task(self._apply_reports())
        self._begun = asyncio.Event()
        self._taken = asyncio.Event()

    async def start(self) -> None:
        """Begin; return when the initial cluster is on display; raises KubeschedError if that is not possible."""
        self._thread.start()
        await self._begun.wait()
        if self.clock.problem:
            self.end()
            raise KubeschedError(self.clock.problem)

    def end(self) -> None:
        """End the thread; abandon it if it does not answer."""
        self._thread.post(self._thread.close)
        self._taking.cancel()

    async def gone(self) -> None:
        """Wait a moment for the end of the thread."""
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, ENDING_SECONDS)

    # -- commands

    def play(self, speed: float) -> None:
        """Let time pass, at a number of simulated seconds a second."""
        self._thread.post(self._thread.play, speed)

    def pause(self) -> None:
        """Stop the time."""
        self._thread.post(self._thread.pause)

    def step(self) -> None:
        """Run one scheduling cycle."""
        self._thread.post(self._thread.step)

    def seek(self, to: float) -> None:
        """Move to a time, forward or back; infinity is the end."""
        self._thread.post(self._thread.seek, to)

    def seek_cycle(self, to: int) -> None:
        """Move to the end of a scheduling cycle, forward or back; 0 is the beginning."""
        self._thread.post(self._thread.seek_cycle, to)

    def rerun(self, scenario: PageScenario) -> None:
        """Run another scenario up to the present moment; `scenario` is a changed scenario of this simulation."""
        self._thread.post(self._thread.rerun, scenario)

    async def apply(
        self,
        title: str,
        events: Sequence[TraceEvent] = (),
        configuration: SimulatedConfiguration | None = None,
        note: object = None,
    ) -> UserAction:
        """Apply events or another configuration now, as a part of the scenario; raises KubeschedError if that is not
        possible.

        The times of events are ignored. Another configuration is put in force between two cycles.
        """
        done: Future[UserAction] = Future()
        self._thread.post(self._thread.act, title, tuple(events), configuration, note, done)
        return await self._await_answer(done)

    async def ask(self, function: Callable[[PageRun], T], *, anywhere: bool = False) -> T:
        """Call a function with the run, in its thread, between two turns; return its result, an immutable value.

        The run is at the moment on display, unless `anywhere` is true.
        """
        done: Future[T] = Future()
        self._thread.post(self._thread.ask, function, done, anywhere)
        return await self._await_answer(done)

    async def _await_answer(self, done: "Future[T]") -> T:
        """Wait for an answer; a run that catches up with the display may take longer, as long as it advances."""
        answer = asyncio.wrap_future(done)
        while True:
            taken = self._thread.reporter.acknowledged
            found, _ = await asyncio.wait((answer,), timeout=PATIENCE_SECONDS)
            if found:
                return answer.result()
            if self._thread.reporter.acknowledged == taken:
                answer.cancel()
                raise KubeschedError(NO_ANSWER)

    async def rested(self) -> SimulationClock:
        """Wait until the simulation neither plays nor seeks and the page shows that; return the clock."""
        done: Future[int] = Future()
        self._thread.post(self._thread.await_rest, done)
        number = await asyncio.wrap_future(done)
        while self._thread.reporter.acknowledged < number:
            self._taken.clear()
            await self._taken.wait()
        return self.clock

    async def records_of(self, pod: str) -> PodRecords | None:
        """Return the decisions about a pod, `namespace/name`; None while the run catches up with the display."""
        if self.clock.behind is not None:
            self.catch_up()
            return None
        page = await self.ask(lambda run: run.recorder.ring.page(pod, MOST_DECISIONS))
        return PodRecords(page.decisions, page.now, page.since)

    def catch_up(self) -> None:
        """Let the run catch up with the moment on display; the clock reports when it arrives."""
        self._thread.post(self._thread.ask, lambda run: None, Future(), False)

    # -- reports

    def _hand_over(self, report: RunReport) -> None:
        """Receive a report; the thread calls this."""
        # the page's loop may have ended by now
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._reports.put_nowait, report)

    async def _apply_reports(self) -> None:
        try:
            while True:
                await self._apply_report(await self._reports.get())
        except Exception as error:
            problem = f"what happens in the simulation cannot be shown: {described(error)}"
            self.clock = msgspec.structs.replace(self.clock, state=ENDED, problem=problem)
            self._begun.set()
            self.shown.wake()

    async def _apply_report(self, report: RunReport) -> None:
        if report.anew:
            shown = self._empty(report.configuration.loaded)
            # nodes by name, as in other clusters
            await self._put(shown, dict(sorted(report.changes.items(), key=_nodes_first)))
            shown.skip(self.shown.seq)
            before, self.shown = self.shown, shown
            before.wake()
        else:
            await self._put(self.shown, report.changes)
        self.marks.cut(report.marks_from)
        self.marks.extend(report.marks)
        self.scenario, self.configuration, self.clock = report.scenario, report.configuration, report.clock
        self._thread.reporter.acknowledged = report.number
        self._taken.set()
        if report.anew or report.clock.problem:
            self._begun.set()
        self.shown.wake()

    def _empty(self, loaded: Loaded) -> ShownCluster:
        # traces do not have these kinds
        unread = tuple(ADMISSION_KINDS)
        source = ClusterObjects((), origin=f"simulation of {self.scenario.trace.name}", unread=unread)
        model = ClusterModel(source, loaded, self.scenario.registry)
        return ShownCluster(model, fresh_seconds=0.0, ordered=True)

    async def _put(self, shown: ShownCluster, changes: Changes) -> None:
        """Apply changes to the cluster on display, in small batches."""
        items = iter(changes.items())
        while batch := list(islice(items, BATCH)):
            for (kind, full_name), obj in batch:
                if obj is not None:
                    shown.put(obj)
                else:
                    shown.drop_named(kind, full_name)
            await asyncio.sleep(0)


def _nodes_first(item: tuple[tuple[str, str], Any]) -> tuple[bool, str]:
    kind, full_name = item[0]
    return (kind != Node.__name__, full_name if kind == Node.__name__ else "")
