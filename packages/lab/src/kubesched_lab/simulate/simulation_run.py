"""The driver of a simulation: a scheduler and a cluster in virtual time, run to a time, to the end, or step by step.

From a trace and a configuration to decisions. A paused run continues with its next call, so
that the steps of its driver change neither decisions nor figures.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from kubesched.api.scheduling import PodGroup
from kubesched.common.notes import Note
from kubesched.common.timer_loop import TimerLoop
from kubesched.common.virtual_time import BEGINNING
from kubesched.core.assembly import engine_of, scheduler_of
from kubesched.core.framework.observing.observer import Observer, Observers
from kubesched.core.loop.inbox import Inbox
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import AttemptNext, LoopOptions
from kubesched.core.queue.queued_pod import Place
from kubesched_lab.simulate.configuration_changes import changed_configuration
from kubesched_lab.simulate.simulated_api import PodsWatcher, SimulatedApi, pace_of
from kubesched_lab.simulate.trace_feed import TraceFeed
from kubesched_lab.simulate.traces.trace import ConfigurationChange, ObjectPut, TraceEvent

if TYPE_CHECKING:
    from kubesched_lab.simulate.simulation import Run

# pods in these places of the queue are tried without a further event
_MOVING = (Place.ACTIVE, Place.BACKOFF, Place.IN_FLIGHT)
# seconds without any binding after which retried pods are given up: some backoffs and flushes
PATIENCE_SECONDS = 3600.0
# limit of turns of the loop, so that a task that is never idle blocks neither the scheduler nor a step
MOST_TURNS = 100
GROUPS_IGNORED = (
    "pod groups of the trace are ignored: enable them with --feature-gates GenericWorkload=true,GangScheduling=true"
)


class SimulationRun:
    """One run on a separate loop; `watcher` follows the cluster, observers follow the scheduler.

    `reports` gets the scheduler's inbox and returns the inbox that the cluster reports to. `applied` is called with
    each event of the trace.
    """

    def __init__(
        self,
        run: "Run",
        loop: TimerLoop,
        watcher: PodsWatcher,
        observers: Sequence[Observer],
        note: Note,
        reports: Callable[[Inbox], Inbox] = lambda inbox: inbox,
        applied: Callable[[TraceEvent], None] = lambda event: None,
    ) -> None:
        self.loop = loop
        self.loaded = run.loaded
        # finished scheduling cycles, and whether one is under way or about to begin
        self.cycles = 0
        self.in_cycle = self.between_cycles = False
        # turns of the loop since the last jump
        self.turns = 0
        self._run = run
        self._note = note
        self._applied = applied
        self._stepping = False
        self._groups_ignored = not run.loaded.gates.enabled("GangScheduling")
        self.over: asyncio.Future[None] = loop.create_future()
        loop.call(self._start, watcher, observers, reports)

    def _start(self, watcher: PodsWatcher, observers: Sequence[Observer], reports: Callable[[Inbox], Inbox]) -> None:
        run, loop = self._run, self.loop
        services = LoopServices(self._note, lambda: BEGINNING + timedelta(seconds=loop.time()))
        self.api = SimulatedApi(pace_of(run.pace, run.trace), watcher, reports(services.inbox))
        self.feed = TraceFeed(run.trace.events(run.seed), self.apply)
        engine = engine_of(
            run.loaded,
            run.registry,
            effects=self.api,
            waits=services.waits,
            waiting_pods=services.waiting_pods,
            observers=Observers(observers, clock=loop.time, note=self._note, timed=False),
            background=services.plugin_tasks,
        )
        options = LoopOptions(run.seed, run.pace.attempt_seconds, around_attempt=self._attempt)
        self.scheduler = scheduler_of(engine, services, options=options)
        self.scheduling = loop.create_task(self.scheduler.run())

    def apply(self, event: TraceEvent) -> None:
        """Apply an event of the trace, or of a user, now; call this on the loop."""
        if isinstance(event, ConfigurationChange):
            self.loaded = changed_configuration(event, self._run.trace, self._run.loaded, self._run.registry)
            self.scheduler.reconfigure(self.loaded)
        else:
            self.api.apply(event)
        if self._groups_ignored and isinstance(event, ObjectPut) and isinstance(event.obj, PodGroup):
            self._groups_ignored = False
            self._note(GROUPS_IGNORED)
        self._applied(event)

    async def _attempt(self, attempt_next: AttemptNext) -> bool:
        """Make an attempt, if there is a pod for it; `step` pauses before it."""
        if self._run.one_by_one:
            for _ in range(MOST_TURNS):
                if self.loop.idle:
                    break
                await asyncio.sleep(0)
            if len(self.scheduler.inbox):
                # what was reported meanwhile is applied first
                return True
        if self._stepping:
            self.between_cycles = True
            await self.loop.pause()
            self.between_cycles = False
        self.in_cycle = True
        try:
            attempted = await attempt_next()
        finally:
            self.in_cycle = False
        self.cycles += attempted
        return attempted

    # -- driving it

    def step(self, most_turns: int = MOST_TURNS) -> None:
        """Make the attempt that is due and go on to just before the next one, or until nothing more happens at this
        time; if nothing is due, let time pass until the next event first.

        Raises any error that ends the run.
        """
        if self.over.done():
            return
        if self.loop.idle:
            self.jump(self.loop.next_time())
        self._stepping = True
        for _ in range(most_turns):
            self.loop.turn()
            self.turns += 1
            if self.between_cycles or self.loop.idle:
                break
        self._stepping = False
        for each in (self.scheduling, self.feed.ended):
            if each.done() and not each.cancelled():
                each.result()

    def until(self, seconds: float = math.inf) -> None:
        """Let everything happen until a time, or until the run is over."""
        self.loop.run_until(self.over, seconds)
        self.turns = 0

    def jump(self, to: float) -> None:
        """Let time pass in which nothing happens, at most until the next event."""
        self.loop.advance(to)
        self.turns = 0

    # -- its state

    @property
    def busy(self) -> bool:
        """Return whether a pod with a known end runs, or a report, binding or preemption is under way."""
        return bool(self.api.ends_to_come) or self.scheduler.busy

    @property
    def retried(self) -> int:
        """Return the number of pods that are retried without a further event."""
        counts = self.scheduler.queue.counts()
        return sum(counts[place] for place in _MOVING)

    def close(self) -> None:
        """Release the scheduler and the cluster."""
        self.feed.stop()
        self.loop.cancel_all()
        self.loop.close()
