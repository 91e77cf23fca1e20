"""The thread of a simulation: carries out commands and lets time pass.

From commands in a queue to runs of the scenario, and to reports. It works for a few milliseconds at a time and then
yields to other threads, so that the page stays responsive. The clock has the error of a failed run; the thread
continues.

A known moment, earlier or later, is displayed from the history, and the run stays where it is. Commands that need the
run at that moment (play, act, ask for the queue) wait until it has caught up.
"""

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Final

from kubesched.core.framework.texts import described
from kubesched.errors import KubeschedError
from kubesched_lab.page.simulation.commands import (
    ENDED,
    PAUSED,
    PLAYING,
    SEEKING,
    Act,
    Ask,
    AwaitRest,
    Close,
    Command,
    Pause,
    Play,
    Rerun,
    RunReport,
    Seek,
    SeekCycle,
    StepCycle,
)
from kubesched_lab.page.simulation.goals import Goal, after_cycles, at_beginning, at_moment
from kubesched_lab.page.simulation.history import PastMoment, RunHistory
from kubesched_lab.page.simulation.past_view import PastView
from kubesched_lab.page.simulation.run_reporter import REPORT_SECONDS, RunReporter, RunStatus
from kubesched_lab.page.simulation.scenario import Moment, PageScenario, UserAction
from kubesched_lab.page.simulation.stepped_run import ObserverFactory, SteppedRun

# length of a slice of work, and of the pause after it in which other threads run
SLICE_SECONDS: Final = 0.005
PAUSE_SECONDS: Final = 0.0005
# limit of the real time that one step of play makes up for: a machine that is too slow plays more slowly
MOST_LAG_SECONDS: Final = 0.1
ALL_TURNS: Final = 1 << 62


class SimulationThread(threading.Thread):
    """Drives one scenario at a time."""

    def __init__(
        self, scenario: PageScenario, report: Callable[[RunReport], None], observers: Sequence[ObserverFactory] = ()
    ) -> None:
        # a plugin that never returns must not prevent the process from ending
        super().__init__(name="simulation", daemon=True)
        self.commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._scenario = scenario
        self._observers = observers
        self._run: SteppedRun | None = None
        self._history = RunHistory()
        self._view = PastView(self._history)
        self.reporter = RunReporter(report, self._view)
        # commands that wait for the run to reach the moment on display
        self._waiting: list[Play | Act | Ask] = []
        self._state = PAUSED
        self._speed = 1.0
        self._problem = ""
        # the run has ended with an error
        self._broken = False
        self._goal: tuple[Goal, float] = (at_beginning, 0.0)
        self._closing = False
        self._resting: list[Future[int]] = []
        # while it plays: the simulated time that is due, and when that was computed
        self._due = self._looked = 0.0

    # -- the thread

    def run(self) -> None:
        """Carry out commands until `Close`."""
        self._restart(at_beginning, 0.0)
        while not self._closing:
            wait: float | None = 0.0
            if self._state == SEEKING:
                self._guarded(self._seek)
            elif self._state == PLAYING:
                wait = self._guarded(self._play)
            elif self._waiting:
                self._guarded(self._catch_up)
            else:
                wait = None
                self._notify_resting()
            self._obey(wait)
        self._drop_run()

    def _guarded(self, work: Callable[[], float]) -> float:
        """Call a function; an error ends the run, and the clock reports it."""
        try:
            return work()
        except KubeschedError as error:
            self._problem = str(error)
        except Exception as error:
            self._problem = f"the simulation cannot go on: {described(error)}"
        self._broken = True
        if self._view.past is not None:
            # the run that should have caught up is lost; known moments can still be displayed
            self._view.forget()
            self.reporter.report_everything()
        self._forget_waiting()
        self._set_state(ENDED)
        return 0.0

    def _obey(self, wait: float | None) -> None:
        """Carry out all waiting commands; wait for the first one, without a limit if `wait` is None."""
        try:
            command = self.commands.get(wait is None or wait > 0, wait or None)
            while not self._closing:
                self._carry_out(command)
                command = self.commands.get_nowait()
        except queue.Empty:
            pass

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, Close):
            self._closing = True
        elif isinstance(command, Ask):
            if command.anywhere or not self._waits_for_run(command):
                self._call(command.done, command.function)
        elif isinstance(command, AwaitRest):
            self._resting.append(command.done)
        elif isinstance(command, Act):
            if not self._waits_for_run(command):
                self._call(command.done, lambda run: self._act(run, command))
        elif isinstance(command, Rerun):
            at = self._view.moment(self._run)
            self._scenario = command.scenario
            self.reporter.forget_marks()
            self._history.clear()
            self._restart(at_moment(at), at.seconds)
        elif isinstance(command, Pause):
            self._forget_waiting()
            self._set_state(PAUSED if self._state != ENDED else ENDED)
        elif self._run is None or (self._problem and not isinstance(command, Seek | SeekCycle)):
            return
        elif isinstance(command, Play):
            if self._state != ENDED and self._waits_for_run(command):
                return
            self._speed = command.speed
            self._due, self._looked = self._run.moment.seconds, time.monotonic()
            self._set_state(ENDED if self._state == ENDED else PLAYING)
        elif isinstance(command, StepCycle):
            if self._state != ENDED:
                self._seek_to(self._run, SeekCycle(self._view.cycles(self._run) + 1))
        else:
            self._seek_to(self._run, command)

    def _seek_to(self, run: SteppedRun, command: Seek | SeekCycle) -> None:
        """Display a known time or cycle, or run up to it; for a moment behind the run, run again from the beginning."""
        if isinstance(command, Seek):
            found = self._history.at_seconds(command.to)
            goal, seconds = at_moment(Moment(command.to, ALL_TURNS)), command.to
            back = command.to < run.moment.seconds
        else:
            found = self._history.at_cycle(command.to)
            goal, seconds = after_cycles(command.to), 0.0
            back = command.to < run.cycles
        if found is not None and self._view.reaches(run, found):
            self._display(run, found)
        elif back or self._problem:
            self._restart(goal, seconds)
        elif self._state != ENDED or self._view.past is not None:
            self._forget_waiting()
            if not self._view.leave(run):
                self.reporter.report_everything()
            self._aim(goal, seconds)

    def _call(self, done: Future[Any], function: Callable[[SteppedRun], Any]) -> None:
        """Call a function with the run; put its result or exception into `done`."""
        if not done.set_running_or_notify_cancel():
            return
        try:
            if self._run is None:
                raise KubeschedError(self._problem or "the simulation has not begun")
            done.set_result(function(self._run))
        except Exception as error:
            done.set_exception(error)

    def _notify_resting(self) -> None:
        """Notify the waiting `AwaitRest` commands that the simulation neither plays nor seeks."""
        resting, self._resting = self._resting, []
        for done in resting:
            if done.set_running_or_notify_cancel():
                done.set_result(self.reporter.number)

    def _act(self, run: SteppedRun, command: Act) -> UserAction:
        self._history.cut(run.moment, run.mirror.count)
        action = UserAction(run.moment, command.title, command.events, command.configuration, command.note)
        try:
            run.act(action)
        except Exception:
            # undo the failed attempt
            self._restart(at_moment(run.moment), run.moment.seconds)
            raise
        self._scenario = run.scenario
        # known later moments are not true any more
        self.reporter.forget_later(run)
        if command.configuration is not None:
            self.reporter.report_everything()
        self._set_state(PAUSED if self._state == ENDED else self._state)
        return action

    # -- display of past moments

    def _display(self, run: SteppedRun, found: PastMoment) -> None:
        """Display a known moment; the run stays where it is."""
        self._forget_waiting()
        self._view.look(run, found)
        if not self._broken and run.moment == found.moment and run.mirror.count == found.point.changes:
            self._view.leave(run)
        self._problem = ""
        self._set_state(ENDED if found.ended else PAUSED)

    def _waits_for_run(self, command: Play | Act | Ask) -> bool:
        """Return whether a command waits until the run reaches the moment on display; start the run towards it."""
        look, run = self._view.past, self._run
        if look is None or run is None:
            return False
        if not self._waiting:
            if self._broken or run.moment > look.moment or run.mirror.count > look.point.changes:
                self._drop_run()
                self._guarded(self._begin)
            self._goal = (at_moment(look.moment), look.moment.seconds)
        self._waiting.append(command)
        if not isinstance(command, Ask):
            # the report shows that it is on its way
            self._set_state(SEEKING)
        return True

    def _catch_up(self) -> float:
        """Run towards the moment on display, for a slice; then carry out the commands that wait for it."""
        run, look = self._run, self._view.past
        if run is None or look is None:
            self._forget_waiting()
            return 0.0
        state = self._drive(run)
        if state is None:
            self._give_way()
            return 0.0
        waiting, self._waiting = self._waiting, []
        # the run has reached the moment on display
        if run.mirror.count != look.point.changes:
            self.reporter.report_everything()
        self._view.leave(run)
        self._set_state(state)
        for command in waiting:
            self._carry_out(command)
        return 0.0

    def _forget_waiting(self) -> None:
        """Refuse the commands that wait for the run, since the moment they were asked about is no longer on display."""
        waiting, self._waiting = self._waiting, []
        for command in waiting:
            if not isinstance(command, Play):
                self._call(command.done, _no_longer_shown)

    # -- time

    def _restart(self, goal: Goal, seconds: float) -> None:
        """Run again from the beginning."""
        self._drop_run()
        self._problem = ""
        self.reporter.report_everything()
        self._view.forget()
        self._forget_waiting()

        def begin() -> float:
            self._begin()
            self._aim(goal, seconds)
            return 0.0

        self._guarded(begin)

    def _begin(self) -> float:
        self._broken = False
        self._run = SteppedRun(self._scenario, self._history.add, self._observers)
        return 0.0

    def _drop_run(self) -> None:
        if self._run is not None:
            self._run.close()
            self._run = None

    def _aim(self, goal: Goal, seconds: float) -> None:
        self._goal = (goal, seconds)
        self._state = SEEKING

    def _seek(self) -> float:
        """Run towards the goal, for a slice."""
        if self._view.past is not None:
            return self._catch_up()
        assert self._run is not None
        state = self._drive(self._run)
        if state is None:
            self._give_way()
        else:
            self._set_state(state)
        return 0.0

    def _drive(self, run: SteppedRun) -> str | None:
        """Run towards the goal, for a slice; return the state of the run then, if it has arrived."""
        goal, seconds = self._goal
        until = time.monotonic() + SLICE_SECONDS
        while time.monotonic() < until:
            self._note_checkpoint(run)
            if run.ended:
                return ENDED
            if goal(run):
                run.jump(seconds)
                return PAUSED
            if not run.resting:
                run.turn()
            elif run.next_seconds < math.inf:
                run.jump(run.next_seconds)
            else:
                raise KubeschedError("there are no more events, but pods are still pending with no end to their wait")
        return None

    def _note_checkpoint(self, run: SteppedRun) -> None:
        point = run.checkpoint
        if point is not None:
            self._history.reach(point, ended=point.resting and run.ended)

    def _play(self) -> float:
        """Let time pass at the chosen speed; return for how long there is nothing to do."""
        run = self._run
        assert run is not None
        until = time.monotonic() + SLICE_SECONDS
        self._note_checkpoint(run)
        while not (run.resting and run.next_seconds > self._due):
            self._note_checkpoint(run)
            if run.resting:
                if run.ended:
                    break
                run.jump(self._due)
            else:
                run.turn()
            if time.monotonic() > until:
                self._looked = time.monotonic()
                self._give_way()
                return 0.0
        self._note_checkpoint(run)
        if run.ended:
            self._set_state(ENDED)
            return 0.0
        now = time.monotonic()
        run.jump(self._due)
        self._due += min(now - self._looked, MOST_LAG_SECONDS) * self._speed
        self._looked = now
        self._give_way()
        return max(0.0, min(REPORT_SECONDS / 2, (run.next_seconds - self._due) / self._speed))

    def _give_way(self) -> None:
        if self.reporter.is_due():
            self._report()
        time.sleep(PAUSE_SECONDS)

    # -- reports

    def _set_state(self, state: str) -> None:
        self._state = state
        self._report()

    def _report(self) -> None:
        target, catching_up = self._goal[1], bool(self._waiting)
        status = RunStatus(self._scenario, self._run, self._state, self._speed, target, self._problem, catching_up)
        self.reporter.report(status)


def _no_longer_shown(run: SteppedRun) -> Any:
    raise KubeschedError("the moment of this request is no longer shown")
