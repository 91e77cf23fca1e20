"""One run of a scenario: the run of `kubesched simulate`, with its state for the page, and the actions of users.

From a scenario to a cluster at any moment: `step` processes due events, `jump` lets time pass. Actions happen at their
moments. Only one thread may use a run.
"""

from collections.abc import Callable, Sequence

from kubesched.common.timer_loop import TimerLoop
from kubesched.common.virtual_time import BEGINNING
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.loop.inbox import Inbox
from kubesched.errors import KubeschedError
from kubesched.serving.decisions.recorder import DecisionRecorder
from kubesched.serving.queue.reading import read_queue
from kubesched_lab.page.queue.history import QueueHistory
from kubesched_lab.page.simulation.history import Checkpoint
from kubesched_lab.page.simulation.object_mirror import Journal, ObjectMirror
from kubesched_lab.page.simulation.scenario import Moment, PageScenario, SimulatedConfiguration, UserAction
from kubesched_lab.page.timeline.marks import ACTION, MarkRecorder
from kubesched_lab.simulate.simulation import Run
from kubesched_lab.simulate.simulation_run import MOST_TURNS, PATIENCE_SECONDS, SimulationRun
from kubesched_lab.simulate.traces.trace import ConfigurationChange, TraceEvent

# factory of an observer of one run; its argument is the clock, in simulated seconds
ObserverFactory = Callable[[Callable[[], float]], Observer]
# limit of bytes for decisions, with their details
RECORD_BYTES = 64 << 20


class PageRun:
    """A scheduler and a cluster in virtual time; `scenario` may get further actions while it runs."""

    def __init__(self, scenario: PageScenario, journal: Journal, observers: Sequence[ObserverFactory] = ()) -> None:
        _refuse_extenders(scenario.configuration)
        # only methods for input are abstract, and they raise NotImplementedError
        self.loop = loop = TimerLoop()  # type: ignore[abstract]
        self.scenario = scenario
        self.configuration = scenario.configuration
        # an error has ended the run
        self.broken = False
        self.notes: list[str] = []
        self.mirror = ObjectMirror(journal)
        self.marks = MarkRecorder(loop.time, lambda: self.driver.cycles + self.driver.in_cycle)
        self.recorder = DecisionRecorder(RECORD_BYTES, lambda: BEGINNING.timestamp() + loop.time(), loop.time)
        self.queue_history = QueueHistory(from_beginning=True)
        self._done = 0
        run = Run(
            scenario.trace,
            scenario.configuration.loaded,
            scenario.registry or Registry(),
            seed=scenario.seed,
            pace=scenario.pace,
            one_by_one=True,
        )
        watching = [self.marks, self.recorder, *(make(loop.time) for make in observers)]
        self.driver = SimulationRun(run, loop, self.marks, watching, self.note, self._mirrored, self._applied)

    def _mirrored(self, inbox: Inbox) -> Inbox:
        self.mirror.target = inbox
        return self.mirror

    def _applied(self, event: TraceEvent) -> None:
        if isinstance(event, ConfigurationChange):
            self.configuration = SimulatedConfiguration(event.text, self.driver.loaded)

    def note(self, line: str) -> None:
        """Keep a log line of the scheduler, each distinct line once."""
        if line not in self.notes and len(self.notes) < 100:
            self.notes.append(line)

    @property
    def moment(self) -> Moment:
        """Return the moment at which the run is."""
        return Moment(self.loop.time(), self.driver.turns)

    @property
    def cycles(self) -> int:
        """Return the number of scheduling cycles so far."""
        return self.driver.cycles

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Return a checkpoint of the moment, None between such moments."""
        resting = self.resting
        if not resting and not self.driver.between_cycles:
            return None
        note = self.notes[-1] if self.notes else ""
        return Checkpoint(self.moment, self.cycles, self.mirror.count, resting, note, self.configuration)

    # -- events

    @property
    def resting(self) -> bool:
        """Return whether nothing more happens at this time."""
        return self.loop.idle and not self._action_is_due()

    def step(self) -> None:
        """Process due events, up to the next scheduling cycle or action; raises any error that ends the run."""
        if self._action_is_due():
            self._act_next()
        else:
            self.driver.step(self._turns_until_action)

    @property
    def next_seconds(self) -> float:
        """Return the time of the next event, infinity without one."""
        due = self.scenario.actions[self._done].at.seconds if self._done < len(self.scenario.actions) else None
        return self.loop.next_time() if due is None else min(due, self.loop.next_time())

    def jump(self, to: float) -> None:
        """Let time pass, at most until the next event."""
        seconds = min(to, self.next_seconds)
        if seconds > self.loop.time():
            self._sample_queue(seconds)
            self.driver.jump(seconds)

    def _sample_queue(self, until: float) -> None:
        """Add a sample of the queue, which stays as it is until a time."""
        beginning = BEGINNING.timestamp()
        if self.queue_history.is_due(beginning + until):
            page = read_queue(self.driver.scheduler.queue, self.loop.time(), BEGINNING, limit=0)
            self.queue_history.note(beginning + self.loop.time(), page.counts, page.moves)

    def _action_is_due(self) -> bool:
        if self._done == len(self.scenario.actions):
            return False
        at = self.scenario.actions[self._done].at
        # if an earlier action was removed, there are fewer turns
        return at <= self.moment or (at.seconds <= self.loop.time() and self.loop.idle)

    @property
    def _turns_until_action(self) -> int:
        """Return how many turns of the loop one step may make: an action happens after as many turns as before."""
        if self._done == len(self.scenario.actions):
            return MOST_TURNS
        at = self.scenario.actions[self._done].at
        return min(MOST_TURNS, at.turns - self.driver.turns) if at.seconds == self.loop.time() else MOST_TURNS

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
            self.loop.call(self.driver.scheduler.reconfigure, action.configuration.loaded)
            self.configuration = action.configuration
        for event in action.events:
            self.loop.call(self.driver.apply, event)

    @property
    def ended(self) -> bool:
        """Return whether there are no more events until a user acts; pods that are retried in vain do not count."""
        driver = self.driver
        if self._done < len(self.scenario.actions) or not driver.feed.ended.done() or not self.loop.idle:
            return False
        if driver.busy:
            return False
        return not driver.retried or self.loop.time() - self.marks.stirred > PATIENCE_SECONDS

    def close(self) -> None:
        """Release the run's scheduler and cluster."""
        self.driver.close()


def _refuse_extenders(configuration: SimulatedConfiguration) -> None:
    if configuration.loaded.config.extenders:
        raise KubeschedError("the configuration has extenders, which cannot be simulated: remove them")
