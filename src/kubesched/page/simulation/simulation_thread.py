"""The thread of a simulation: obeys commands, lets time pass, and reports.

From commands in a queue to reports, which it hands to a function. It works for a few milliseconds at a time and then
gives way, so that the page stays responsive. Errors of a run are told in the clock; the thread goes on.

A moment that is known is looked at, back or forth: the history tells what it was, and the run stays where it is. What
needs a run there (playing on, doing something, the queue) waits until the run has caught up.
"""

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from kubesched.common.virtual_time import BEGINNING
from kubesched.core.framework.texts import described
from kubesched.errors import KubeschedError
from kubesched.page.simulation.commands import (
    ENDED,
    PAUSED,
    PLAYING,
    SEEKING,
    Act,
    Ask,
    Close,
    Command,
    Pause,
    Play,
    Rerun,
    RunReport,
    Seek,
    SeekCycle,
    SimulationClock,
    StepCycle,
    TellRest,
)
from kubesched.page.simulation.goals import Goal, after_cycles, at_beginning, at_moment
from kubesched.page.simulation.history import PastMoment, RunHistory
from kubesched.page.simulation.object_mirror import Changes
from kubesched.page.simulation.past_view import PastView
from kubesched.page.simulation.scenario import Moment, PageScenario, SimulatedConfiguration, UserAction
from kubesched.page.simulation.stepped_run import ObserverFactory, SteppedRun
from kubesched.page.timeline.marks import TimelineMark

# between two reports
REPORT_SECONDS: Final = 0.1
# work at one go, and the pause after it in which other threads run
SLICE_SECONDS: Final = 0.005
PAUSE_SECONDS: Final = 0.0005
# while it plays, time passes by at most so much at once: a machine that is too slow plays more slowly
MOST_LAG_SECONDS: Final = 0.1
ALL_TURNS: Final = 1 << 62
LAST_SECONDS: Final = (datetime.max.replace(tzinfo=UTC) - BEGINNING).total_seconds() - 1.0


class SimulationThread(threading.Thread):
    """Drives one scenario at a time; `acknowledged` is the number of the last report that was taken in."""

    def __init__(
        self, scenario: PageScenario, report: Callable[[RunReport], None], observers: Sequence[ObserverFactory] = ()
    ) -> None:
        # a plugin that never returns does not keep the process from ending
        super().__init__(name="simulation", daemon=True)
        self.commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self.acknowledged = 0
        self._scenario = scenario
        self._tell = report
        self._observers = observers
        self._run: SteppedRun | None = None
        self._history = RunHistory()
        self._view = PastView(self._history)
        # commands that wait for the run to be where it is looked at
        self._waiting: list[Play | Act | Ask] = []
        self._state = PAUSED
        self._speed = 1.0
        self._problem = ""
        # the run has ended with an error
        self._broken = False
        self._furthest = 0.0
        self._furthest_cycles = 0
        self._goal: tuple[Goal, float] = (at_beginning, 0.0)
        self._closing = False
        self._resting: list[Future[int]] = []
        # what has been reported
        self._number = 0
        self._reported_at = 0.0
        self._anew = True
        self._told: SimulatedConfiguration | None = None
        # marks of the furthest run; `_marks_sent` of them are reported
        self._marks: list[TimelineMark] = []
        self._marks_sent = 0
        # while it plays: the simulated time that it should be, and when that was looked at
        self._due = self._looked = 0.0

    # -- the thread

    def run(self) -> None:
        """Obey commands until one is to close."""
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
                self._tell_rest()
            self._obey(wait)
        self._drop_run()

    def _guarded(self, work: Callable[[], float]) -> float:
        """Work; an error ends the run, and is told."""
        try:
            return work()
        except KubeschedError as error:
            self._problem = str(error)
        except Exception as error:
            self._problem = f"the simulation cannot go on: {described(error)}"
        self._broken = True
        if self._view.past is not None:
            # the run that should have caught up is lost; what is known can be looked at
            self._view.forget()
            self._anew = True
        self._forget_waiting()
        self._become(ENDED)
        return 0.0

    def _obey(self, wait: float | None) -> None:
        """Obey all commands that are there; wait for the first one, for ever if `wait` is None."""
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
                self._answer(command.done, command.function)
        elif isinstance(command, TellRest):
            self._resting.append(command.done)
        elif isinstance(command, Act):
            if not self._waits_for_run(command):
                self._answer(command.done, lambda run: self._act(run, command))
        elif isinstance(command, Rerun):
            at = self._moment
            self._scenario = command.scenario
            self._forget_marks(0)
            self._history.clear()
            self._restart(at_moment(at), at.seconds)
        elif isinstance(command, Pause):
            self._forget_waiting()
            self._become(PAUSED if self._state != ENDED else ENDED)
        elif self._run is None or (self._problem and not isinstance(command, Seek | SeekCycle)):
            return
        elif isinstance(command, Play):
            if self._state != ENDED and self._waits_for_run(command):
                return
            self._speed = command.speed
            self._due, self._looked = self._run.moment.seconds, time.monotonic()
            self._become(ENDED if self._state == ENDED else PLAYING)
        elif isinstance(command, StepCycle):
            if self._state != ENDED:
                self._seek_to(self._run, SeekCycle(self._cycles + 1))
        else:
            self._seek_to(self._run, command)

    def _seek_to(self, run: SteppedRun, command: Seek | SeekCycle) -> None:
        """Look at a time or a cycle that is known, or go there; what lies behind is reached by running again."""
        if isinstance(command, Seek):
            found = self._history.at_seconds(command.to)
            goal, seconds = at_moment(Moment(command.to, ALL_TURNS)), command.to
            back = command.to < run.moment.seconds
        else:
            found = self._history.at_cycle(command.to)
            goal, seconds = after_cycles(command.to), 0.0
            back = command.to < run.cycles
        if found is not None and self._view.reaches(run, found):
            self._look_at(run, found)
        elif back or self._problem:
            self._restart(goal, seconds)
        elif self._state != ENDED or self._view.past is not None:
            self._forget_waiting()
            self._anew = not self._view.leave(run) or self._anew
            self._aim(goal, seconds)

    def _answer(self, done: Future[Any], function: Callable[[SteppedRun], Any]) -> None:
        """Call a function with the run; whoever asked gets what it returns or raises."""
        if not done.set_running_or_notify_cancel():
            return
        try:
            if self._run is None:
                raise KubeschedError(self._problem or "the simulation has not begun")
            done.set_result(function(self._run))
        except Exception as error:
            done.set_exception(error)

    def _tell_rest(self) -> None:
        """Tell whoever waits for it that it neither plays nor seeks."""
        resting, self._resting = self._resting, []
        for done in resting:
            if done.set_running_or_notify_cancel():
                done.set_result(self._number)

    def _act(self, run: SteppedRun, command: Act) -> UserAction:
        self._history.cut(run.moment, run.mirror.count)
        action = UserAction(run.moment, command.title, command.events, command.configuration, command.note)
        try:
            run.act(action)
        except Exception:
            # as if it had not been tried
            self._restart(at_moment(run.moment), run.moment.seconds)
            raise
        self._scenario = run.scenario
        # what was known of later is not true any more
        self._furthest, self._furthest_cycles = run.moment.seconds, run.cycles
        self._forget_marks(len(run.marks.marks))
        self._anew = self._anew or command.configuration is not None
        self._become(PAUSED if self._state == ENDED else self._state)
        return action

    # -- looking

    @property
    def _moment(self) -> Moment:
        """Return the moment that is shown."""
        if self._view.past is not None:
            return self._view.past.moment
        return self._run.moment if self._run is not None else Moment()

    @property
    def _cycles(self) -> int:
        """Return how many scheduling cycles there were until then."""
        if self._view.past is not None:
            return self._view.past.point.cycles
        return self._run.cycles if self._run is not None else 0

    def _look_at(self, run: SteppedRun, found: PastMoment) -> None:
        """Show a moment that is known; the run stays where it is."""
        self._forget_waiting()
        self._view.look(run, found)
        if not self._broken and run.moment == found.moment and run.mirror.count == found.point.changes:
            self._view.leave(run)
        self._problem = ""
        self._become(ENDED if found.ended else PAUSED)

    def _waits_for_run(self, command: Play | Act | Ask) -> bool:
        """Return whether a command waits until the run is where it is looked at; it sets out for there."""
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
            # others see that it is on its way
            self._become(SEEKING)
        return True

    def _catch_up(self) -> float:
        """Go on towards what is looked at, for a slice; then carry out what waits for that."""
        run, look = self._run, self._view.past
        if run is None or look is None:
            self._forget_waiting()
            return 0.0
        state = self._drive(run)
        if state is None:
            self._give_way()
            return 0.0
        waiting, self._waiting = self._waiting, []
        # what is shown is what the run has come to
        self._anew = self._anew or run.mirror.count != look.point.changes
        self._view.leave(run)
        self._become(state)
        for command in waiting:
            self._carry_out(command)
        return 0.0

    def _forget_waiting(self) -> None:
        """Tell those that wait for the run to be where it was looked at that nobody looks there any more."""
        waiting, self._waiting = self._waiting, []
        for command in waiting:
            if not isinstance(command, Play):
                self._answer(command.done, _left)

    # -- time

    def _restart(self, goal: Goal, seconds: float) -> None:
        """Run again from the beginning."""
        self._drop_run()
        self._problem = ""
        self._anew = True
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
        """Go on towards the goal, for a slice."""
        if self._view.past is not None:
            return self._catch_up()
        assert self._run is not None
        state = self._drive(self._run)
        if state is None:
            self._give_way()
        else:
            self._become(state)
        return 0.0

    def _drive(self, run: SteppedRun) -> str | None:
        """Let happen what leads to the goal, for a slice; return the state that the run is in then, if it is there."""
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
                raise KubeschedError("nothing happens any more: all pods wait for something without end")
        return None

    def _note_checkpoint(self, run: SteppedRun) -> None:
        point = run.checkpoint
        if point is not None:
            self._history.reach(point, ended=point.resting and run.ended)

    def _play(self) -> float:
        """Let time pass as it does outside, times the speed; return for how long there is nothing to do."""
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
            self._become(ENDED)
            return 0.0
        now = time.monotonic()
        run.jump(self._due)
        self._due += min(now - self._looked, MOST_LAG_SECONDS) * self._speed
        self._looked = now
        self._give_way()
        return max(0.0, min(REPORT_SECONDS / 2, (run.next_seconds - self._due) / self._speed))

    def _give_way(self) -> None:
        self._report(forced=False)
        time.sleep(PAUSE_SECONDS)

    # -- reports

    def _become(self, state: str) -> None:
        self._state = state
        self._report(forced=True)

    def _forget_marks(self, count: int) -> None:
        del self._marks[count:]
        self._marks_sent = min(self._marks_sent, count)

    def _report(self, *, forced: bool) -> None:
        """Report how it is, some times a second, or at once."""
        now = time.monotonic()
        waits = now - self._reported_at < REPORT_SECONDS or self.acknowledged < self._number
        if waits and not forced:
            return
        self._reported_at = now
        self._number += 1
        run, look = self._run, self._view.past
        moment = self._moment
        self._furthest = max(self._furthest, moment.seconds)
        self._furthest_cycles = max(self._furthest_cycles, self._cycles)
        marks = run.marks.marks if run is not None else []
        if len(marks) > len(self._marks):
            self._marks.extend(marks[len(self._marks) :])
        configuration = self._scenario.configuration
        if look is not None:
            configuration = look.point.configuration
        elif run is not None:
            configuration = run.configuration
        anew, changes = self._news(configuration)
        first, self._marks_sent = self._marks_sent, len(self._marks)
        self._tell(
            RunReport(
                self._clock(moment),
                self._scenario,
                configuration,
                anew,
                changes,
                first,
                tuple(self._marks[first:]),
                self._number,
            )
        )

    def _news(self, configuration: SimulatedConfiguration) -> tuple[bool, Changes]:
        """Return whether everything is told anew, and what has changed since the last report."""
        run, look = self._run, self._view.past
        # a run that catches up with what was shown is not shown before
        if run is None or (look is None and self._anew and self._state == SEEKING):
            return False, {}
        anew = self._anew or configuration is not self._told
        self._anew, self._told = False, configuration
        changes = self._view.take_changes()
        if look is None:
            changes.update(run.mirror.take_changes())
        if anew:
            return True, dict(run.mirror.objects if look is None else self._view.objects)
        return False, changes

    def _clock(self, moment: Moment) -> SimulationClock:
        target = self._goal[1] if self._state == SEEKING else None
        if self._view.past is not None:
            note = self._view.past.point.note
        else:
            note = self._run.notes[-1] if self._run is not None and self._run.notes else ""
        return SimulationClock(
            round(moment.seconds, 6),
            _date(moment.seconds),
            self._state,
            self._speed,
            self._cycles,
            round(self._furthest, 6),
            self._furthest_cycles,
            target if target != math.inf else None,
            self._problem,
            note,
            self._view.part_of_the_way(self._run, moving=bool(self._waiting)),
        )


def _date(seconds: float) -> str:
    """Return a moment as a date; there are none after the year 9999."""
    since = timedelta(seconds=min(seconds, LAST_SECONDS))
    return (BEGINNING + since).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _left(run: SteppedRun) -> Any:
    raise KubeschedError("the moment that this was asked about is not shown any more")
