"""One run of a scenario, which is driven step by step.

From a scenario to a cluster at any moment: `turn` processes due events, `jump` lets time pass. Actions happen at their
moments. Only one thread may use a run.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from kubesched.api.scheduling import PodGroup
from kubesched.common.timer_loop import TimerLoop
from kubesched.common.virtual_time import BEGINNING
from kubesched.core.assembly import engine_of, scheduler_of
from kubesched.core.framework.observer import Observer, Observers
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions
from kubesched.errors import KubeschedError
from kubesched.serving.decisions.recorder import DecisionRecorder
from kubesched.serving.queue.reading import read_queue
from kubesched_lab.page.queue.history import QueueHistory
from kubesched_lab.page.simulation.history import Checkpoint
from kubesched_lab.page.simulation.object_mirror import Journal, ObjectMirror
from kubesched_lab.page.simulation.scenario import Moment, PageScenario, SimulatedConfiguration, UserAction
from kubesched_lab.page.simulation.stepped_scheduler import SteppedScheduler
from kubesched_lab.page.timeline.marks import ACTION, MarkRecorder
from kubesched_lab.simulate.configuration_changes import changed_configuration
from kubesched_lab.simulate.simulated_api import SimulatedApi, pace_of
from kubesched_lab.simulate.simulation import GROUPS_IGNORED, tried_again
from kubesched_lab.simulate.trace_feed import TraceFeed
from kubesched_lab.simulate.traces.trace import ConfigurationChange, ObjectPut, TraceEvent

Watching = TypeVar("Watching", bound=Observer)
# factory of an observer of one run; its argument is the clock, in simulated seconds
ObserverFactory = Callable[[Callable[[], float]], Observer]
# limit of bytes for decisions, with their details
RECORD_BYTES = 64 << 20
# seconds without any binding after which pods that are retried no longer keep the run going
PATIENCE_SECONDS = 3600.0


class SteppedRun:
    """A scheduler and a cluster in virtual time; `scenario` may get further actions while it runs."""

    def __init__(self, scenario: PageScenario, journal: Journal, observers: Sequence[ObserverFactory] = ()) -> None:
        # only methods for input are abstract, and they raise NotImplementedError
        self.loop = TimerLoop()  # type: ignore[abstract]
        self.scenario = scenario
        self.notes: list[str] = []
        self.mirror = ObjectMirror(journal)
        self.marks = MarkRecorder(self.loop.time, lambda: self.cycles + self.scheduler.in_cycle)
        self.recorder = DecisionRecorder(RECORD_BYTES, self._epoch_seconds, self.loop.time)
        self.observers = [self.marks, self.recorder, *(make(self.loop.time) for make in observers)]
        self.queue_history = QueueHistory(from_beginning=True)
        self.moment = Moment()
        self.configuration = scenario.configuration
        self._done = 0
        self._on_loop(self._start)

    def _on_loop(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function as the loop does; no time passes."""
        asyncio._set_running_loop(self.loop)
        try:
            return function(*args)
        finally:
            asyncio._set_running_loop(None)

    def _epoch_seconds(self) -> float:
        return BEGINNING.timestamp() + self.loop.time()

    # -- its parts

    def _start(self) -> None:
        self.api = SimulatedApi(pace_of(self.scenario.pace, self.scenario.trace), self.marks, self.mirror)
        self.feed = TraceFeed(self.scenario.trace.events(self.scenario.seed), self._apply)
        self._start_scheduler(self.scenario.configuration)

    def _start_scheduler(self, configuration: SimulatedConfiguration) -> None:
        """Start a scheduler that gets all objects."""
        _refuse_extenders(configuration)
        services = LoopServices(self.note, lambda: BEGINNING + timedelta(seconds=self.loop.time()))
        engine = engine_of(
            configuration.loaded,
            self.scenario.registry,
            effects=self.api,
            waits=services.waits,
            waiting_pods=services.waiting_pods,
            observers=Observers(self.observers, clock=self.loop.time, note=self.note, timed=False),
            background=services.plugin_tasks,
        )
        options = LoopOptions(self.scenario.seed, self.scenario.pace.attempt_seconds)
        scheduler = scheduler_of(engine, services, options=options, of_class=SteppedScheduler)
        assert isinstance(scheduler, SteppedScheduler)
        self.scheduler = scheduler
        self.configuration = configuration
        self.mirror.report_all(services.inbox)
        self.scheduling = self.loop.create_task(self.scheduler.run())

    def _apply(self, event: TraceEvent) -> None:
        if isinstance(event, ConfigurationChange):
            registry, before = self.scenario.registry, self.configuration.loaded
            loaded = changed_configuration(event, self.scenario.trace, before, registry)
            self.scheduler.reconfigure(loaded)
            self.configuration = SimulatedConfiguration(event.text, loaded)
            return
        self.api.apply(event)
        ignored = isinstance(event, ObjectPut) and isinstance(event.obj, PodGroup)
        if ignored and not self.configuration.loaded.gates.enabled("GangScheduling"):
            self.note(GROUPS_IGNORED)

    def note(self, line: str) -> None:
        """Keep a log line of the scheduler, each distinct line once."""
        if line not in self.notes and len(self.notes) < 100:
            self.notes.append(line)

    def observer(self, kind: type[Watching]) -> Watching:
        """Return the observer of a class."""
        return next(each for each in self.observers if isinstance(each, kind))

    @property
    def cycles(self) -> int:
        """Return the number of scheduling cycles so far."""
        return self.scheduler.cycles

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Return a checkpoint of the moment, None between such moments."""
        resting = self.resting
        if not resting and not self.between_cycles:
            return None
        note = self.notes[-1] if self.notes else ""
        return Checkpoint(self.moment, self.cycles, self.mirror.count, resting, note, self.configuration)

    # -- events

    @property
    def resting(self) -> bool:
        """Return whether nothing more happens at this time."""
        return self.loop.idle and not self._action_is_due()

    @property
    def between_cycles(self) -> bool:
        """Return whether the scheduler is about to begin a cycle, and all work that takes no time is done."""
        return self.scheduler.between_cycles

    def turn(self) -> None:
        """Process due events; raises any error that ends the run."""
        if self._action_is_due():
            self._act_next()
            return
        self.loop.turn()
        self.moment = Moment(self.moment.seconds, self.moment.turns + 1)
        for task in (self.scheduling, self.feed.ended):
            if task.done():
                task.result()

    @property
    def next_seconds(self) -> float:
        """Return the time of the next event, infinity without one."""
        due = self.scenario.actions[self._done].at.seconds if self._done < len(self.scenario.actions) else None
        return self.loop.next_time() if due is None else min(due, self.loop.next_time())

    def jump(self, to: float) -> None:
        """Let time pass, at most until the next event."""
        seconds = min(to, self.next_seconds)
        if seconds > self.moment.seconds:
            self._sample_queue(seconds)
            self.loop.advance(seconds)
            self.moment = Moment(seconds)

    def _sample_queue(self, until: float) -> None:
        """Add a sample of the queue, which stays as it is until a time."""
        beginning = BEGINNING.timestamp()
        if self.queue_history.is_due(beginning + until):
            page = read_queue(self.scheduler.queue, self.loop.time(), BEGINNING, limit=0)
            self.queue_history.note(beginning + self.loop.time(), page.counts, page.moves)

    def _action_is_due(self) -> bool:
        if self._done == len(self.scenario.actions):
            return False
        at = self.scenario.actions[self._done].at
        # if an earlier action was removed, there are fewer turns
        return at <= self.moment or (at.seconds <= self.moment.seconds and self.loop.idle)

    def act(self, action: UserAction) -> None:
        """Carry out an action now, as a part of the scenario."""
        while self._action_is_due():
            self._act_next()
        self.scenario = self.scenario.with_action(action)
        self._act_next()

    def _act_next(self) -> None:
        action = self.scenario.actions[self._done]
        self._done += 1
        self.marks.mark(ACTION, message=action.title)
        if action.configuration is not None:
            _refuse_extenders(action.configuration)
            self._on_loop(self.scheduler.reconfigure, action.configuration.loaded)
            self.configuration = action.configuration
        for event in action.events:
            self._on_loop(self._apply, event)

    @property
    def ended(self) -> bool:
        """Return whether there are no more events until a user acts; pods that are retried in vain do not count."""
        if self._done < len(self.scenario.actions) or not self.feed.ended.done() or not self.loop.idle:
            return False
        if self.api.ends_to_come or self.scheduler.busy:
            return False
        return not tried_again(self.scheduler) or self.loop.time() - self.marks.stirred > PATIENCE_SECONDS

    def close(self) -> None:
        """Release the run's scheduler and cluster."""
        self.feed.stop()
        self.loop.cancel_all()
        self.loop.close()


def _refuse_extenders(configuration: SimulatedConfiguration) -> None:
    if configuration.loaded.config.extenders:
        raise KubeschedError("the configuration has extenders, which cannot be simulated: remove them")
