"""The thread of a simulation: obeys commands, lets time pass, and reports.

From commands in a queue to reports, which it hands to a function. It works for a few milliseconds at a time and then
gives way, so that the page stays responsive. Errors of a run are told in the clock; the thread goes on.
"""

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
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
from kubesched.page.simulation.scenario import Moment, PageScenario, UserAction
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

# whether a run has got where it should
Goal = Callable[[SteppedRun], bool]


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
        self._state = PAUSED
        self._speed = 1.0
        self._problem = ""
        self._furthest = 0.0
        self._furthest_cycles = 0
        self._goal: tuple[Goal, float] = (_at_beginning, 0.0)
        self._closing = False
        self._resting: list[Future[int]] = []
        # what has been reported
        self._number = 0
        self._reported_at = 0.0
        self._anew = True
        # marks of the furthest run; `_marks_sent` of them are reported
        self._marks: list[TimelineMark] = []
        self._marks_sent = 0
        # while it plays: the simulated time that it should be, and when that was looked at
        self._due = self._looked = 0.0

    # -- the thread

    def run(self) -> None:
        """Obey commands until one is to close."""
        self._restart(_at_beginning, 0.0)
        while not self._closing:
            wait: float | None = 0.0
            if self._state == SEEKING:
                self._guarded(self._seek)
            elif self._state == PLAYING:
                wait = self._guarded(self._play)
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
            self._answer(command.done, command.function)
        elif isinstance(command, TellRest):
            self._resting.append(command.done)
        elif isinstance(command, Act):
            self._answer(command.done, lambda run: self._act(run, command))
        elif isinstance(command, Rerun):
            at = self._run.moment if self._run is not None else Moment()
            self._scenario = command.scenario
            self._forget_marks(0)
            self._restart(_at(at), at.seconds)
        elif isinstance(command, Pause):
            self._become(PAUSED if self._state != ENDED else ENDED)
        elif self._run is None or (self._problem and not isinstance(command, Seek | SeekCycle)):
            return
        elif isinstance(command, Play):
            self._speed = command.speed
            self._due, self._looked = self._run.moment.seconds, time.monotonic()
            self._become(ENDED if self._state == ENDED else PLAYING)
        elif isinstance(command, StepCycle):
            if self._state != ENDED:
                self._aim(_after_cycles(self._run.cycles + 1), 0.0)
        else:
            self._seek_to(self._run, command)

    def _seek_to(self, run: SteppedRun, command: Seek | SeekCycle) -> None:
        """Aim at a time or a cycle; what lies behind is reached by running again."""
        if isinstance(command, Seek):
            goal, seconds = _at(Moment(command.to, ALL_TURNS)), command.to
            back = command.to < run.moment.seconds
        else:
            goal, seconds = _after_cycles(command.to), 0.0
            back = command.to < run.cycles
        if back or self._problem:
            self._restart(goal, seconds)
        elif self._state != ENDED:
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
        action = UserAction(run.moment, command.title, command.events, command.configuration, command.note)
        try:
            run.act(action)
        except Exception:
            # as if it had not been tried
            self._restart(_at(run.moment), run.moment.seconds)
            raise
        self._scenario = run.scenario
        # what was known of later is not true any more
        self._furthest, self._furthest_cycles = run.moment.seconds, run.cycles
        self._forget_marks(len(run.marks.marks))
        self._anew = self._anew or command.configuration is not None
        self._become(PAUSED if self._state == ENDED else self._state)
        return action

    # -- time

    def _restart(self, goal: Goal, seconds: float) -> None:
        """Run again from the beginning."""
        self._drop_run()
        self._problem = ""
        self._anew = True

        def begin() -> float:
            self._run = SteppedRun(self._scenario, self._observers)
            self._aim(goal, seconds)
            return 0.0

        self._guarded(begin)

    def _drop_run(self) -> None:
        if self._run is not None:
            self._run.close()
            self._run = None

    def _aim(self, goal: Goal, seconds: float) -> None:
        self._goal = (goal, seconds)
        self._state = SEEKING

    def _seek(self) -> float:
        """Go on towards the goal, for a slice."""
        run = self._run
        assert run is not None
        goal, seconds = self._goal
        until = time.monotonic() + SLICE_SECONDS
        while time.monotonic() < until:
            if run.ended:
                self._become(ENDED)
                return 0.0
            if goal(run):
                run.jump(seconds)
                self._become(PAUSED)
                return 0.0
            if not run.resting:
                run.turn()
            elif run.next_seconds < math.inf:
                run.jump(run.next_seconds)
            else:
                raise KubeschedError("nothing happens any more: all pods wait for something without end")
        self._give_way()
        return 0.0

    def _play(self) -> float:
        """Let time pass as it does outside, times the speed; return for how long there is nothing to do."""
        run = self._run
        assert run is not None
        until = time.monotonic() + SLICE_SECONDS
        while not (run.resting and run.next_seconds > self._due):
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
        run = self._run
        moment = run.moment if run is not None else Moment()
        self._furthest = max(self._furthest, moment.seconds)
        self._furthest_cycles = max(self._furthest_cycles, run.cycles if run is not None else 0)
        marks = run.marks.marks if run is not None else []
        if len(marks) > len(self._marks):
            self._marks.extend(marks[len(self._marks) :])
        # a run that catches up with what was shown is not shown before
        hidden = run is None or (self._anew and self._state == SEEKING)
        anew = self._anew and not hidden
        changes: Any = {}
        if run is not None and not hidden:
            changes = run.mirror.take_changes()
            if anew:
                changes, self._anew = dict(run.mirror.objects), False
        first, self._marks_sent = self._marks_sent, len(self._marks)
        self._tell(
            RunReport(
                self._clock(run, moment),
                self._scenario,
                run.configuration if run is not None else self._scenario.configuration,
                anew,
                changes,
                first,
                tuple(self._marks[first:]),
                self._number,
            )
        )

    def _clock(self, run: SteppedRun | None, moment: Moment) -> SimulationClock:
        target = self._goal[1] if self._state == SEEKING else None
        return SimulationClock(
            round(moment.seconds, 6),
            (BEGINNING + timedelta(seconds=moment.seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            self._state,
            self._speed,
            run.cycles if run is not None else 0,
            round(self._furthest, 6),
            self._furthest_cycles,
            target if target != math.inf else None,
            self._problem,
            run.notes[-1] if run is not None and run.notes else "",
        )


# -- goals


def _at_beginning(run: SteppedRun) -> bool:
    """The objects of the beginning are there, and no pod has been tried."""
    return run.between_cycles or (run.resting and run.moment.turns > 0)


def _at(moment: Moment) -> Goal:
    """A moment is reached, and all that happens until then."""

    def reached(run: SteppedRun) -> bool:
        return run.moment >= moment or (run.resting and run.next_seconds > moment.seconds)

    return reached


def _after_cycles(count: int) -> Goal:
    """So many scheduling cycles have been run, and what follows from them without taking time."""

    def reached(run: SteppedRun) -> bool:
        return run.cycles >= count and (run.between_cycles or run.resting)

    return reached
