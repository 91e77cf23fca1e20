"""The thread of a simulation: it carries out commands, lets simulated time pass, and reports to the page.

          ┌──────────────pause, arrived──────────────┐
          ▼                                          │
       PAUSED ──step, seek to an unknown moment──▶ SEEKING ──nothing more happens──▶ ENDED ──act──▶ PAUSED
        ▲  │                                         ▲                                 ▲
    pause  play                                      │ step, seek to an unknown moment │
        │  ▼                                         │                                 │
       PLAYING ────────────nothing more happens──────┼─────────────────────────────────┘
                                                     │
       any state ──seek to a known moment──▶ LOOKING ┘
                                              │   ▲
                              play, act, ask  │   │ pause
                                              ▼   │
                                           CATCHING UP ──arrived──▶ PAUSED or ENDED, where the command is carried out

       any state ──an error──▶ BROKEN ──seek──▶ LOOKING or SEEKING
       any state ──another scenario──▶ SEEKING

From commands, which other threads `post`, to a run, and to reports. The thread works for a few milliseconds at a time
and then yields to other threads, so that the page stays responsive. The clock has the error of a failed run; the thread
continues.
"""

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from kubesched.core.framework.values.texts import described
from kubesched.errors import KubeschedError
from kubesched_lab.page.simulation.commands import ENDED, PAUSED, SEEKING, RunReport
from kubesched_lab.page.simulation.goals import Goal, after_cycles, at_beginning, at_moment
from kubesched_lab.page.simulation.history import PastMoment, RunHistory
from kubesched_lab.page.simulation.page_run import ObserverFactory, PageRun
from kubesched_lab.page.simulation.past_view import PastView
from kubesched_lab.page.simulation.run_reporter import REPORT_SECONDS, RunReporter, RunStatus
from kubesched_lab.page.simulation.scenario import Moment, PageScenario, SimulatedConfiguration, UserAction
from kubesched_lab.page.simulation.states import (
    Broken,
    CatchingUp,
    Ended,
    Looking,
    Paused,
    Playing,
    Seeking,
    State,
    WaitingCommand,
)
from kubesched_lab.simulate.traces.trace import TraceEvent

# length of a slice of work, and of the pause after it in which other threads run
SLICE_SECONDS: Final = 0.005
PAUSE_SECONDS: Final = 0.0005
# limit of the real time that one step of play makes up for: a machine that is too slow plays more slowly
MOST_LAG_SECONDS: Final = 0.1
ALL_TURNS: Final = 1 << 62


class SimulationThread(threading.Thread):
    """Drives one scenario at a time; the module's docstring shows its states."""

    def __init__(
        self, scenario: PageScenario, report: Callable[[RunReport], None], observers: Sequence[ObserverFactory] = ()
    ) -> None:
        # a plugin that never returns must not prevent the process from ending
        super().__init__(name="simulation", daemon=True)
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._scenario = scenario
        self._observers = observers
        self._run: PageRun | None = None
        self._history = RunHistory()
        self._view = PastView(self._history)
        self.reporter = RunReporter(report, self._view)
        self._state: State = Paused()
        self._speed = 1.0
        self._closing = False
        self._resting: list[Future[int]] = []

    def post(self, command: Callable[..., None], *args: Any) -> None:
        """Let the thread call one of the commands below; any thread may call this."""
        self._commands.put(partial(command, *args))

    # -- the thread

    def run(self) -> None:
        """Carry out commands until `close`."""
        self._restart(at_beginning, 0.0)
        while not self._closing:
            self._obey(self._work())
        self._drop_run()

    def _work(self) -> float | None:
        """Work for a slice; return for how long there is nothing to do, None for no limit."""
        state = self._state
        if isinstance(state, Seeking):
            return self._guarded(self._seek, state)
        if isinstance(state, CatchingUp):
            return self._guarded(self._catch_up, state)
        if isinstance(state, Playing):
            return self._guarded(self._play, state)
        resting, self._resting = self._resting, []
        for done in resting:
            if done.set_running_or_notify_cancel():
                done.set_result(self.reporter.number)
        return None

    def _guarded(self, work: Callable[..., float], *args: Any) -> float:
        """Call a function; an error ends the run, and the clock reports it."""
        try:
            return work(*args)
        except KubeschedError as error:
            why = str(error)
        except Exception as error:
            why = f"the simulation cannot go on: {described(error)}"
        if self._run is not None:
            self._run.broken = True
        if self._view.past is not None:
            # the run that should have caught up is lost; known moments can still be displayed
            self._view.forget()
            self.reporter.report_everything()
        self._enter(Broken(why))
        return 0.0

    def _obey(self, wait: float | None) -> None:
        """Carry out all waiting commands; wait for the first one, without a limit if `wait` is None."""
        try:
            command = self._commands.get(wait is None or wait > 0, wait or None)
            while not self._closing:
                command()
                command = self._commands.get_nowait()
        except queue.Empty:
            pass

    # -- commands

    def close(self) -> None:
        """End the thread."""
        self._closing = True

    def ask(self, function: Callable[[PageRun], Any], done: "Future[Any]", anywhere: bool) -> None:
        """Call a function with the run, between two steps; `done` has its result, which is immutable.

        It waits until the run is at the moment on display, unless `anywhere` is true.
        """
        call = partial(self._call, done, function)
        if anywhere or not self._waits_for_run(WaitingCommand(call, done), self._state.shown):
            call()

    def await_rest(self, done: "Future[int]") -> None:
        """Wait until the simulation neither plays nor seeks; `done` then has the number of the report that says so."""
        self._resting.append(done)

    def act(
        self,
        title: str,
        events: tuple[TraceEvent, ...],
        configuration: SimulatedConfiguration | None,
        note: object,
        done: "Future[Any]",
    ) -> None:
        """Apply events of a trace, or another configuration, now; `done` has the UserAction."""

        def act(run: PageRun) -> UserAction:
            return self._act(run, UserAction(run.moment, title, events, configuration, note))

        call = partial(self._call, done, act)
        if not self._waits_for_run(WaitingCommand(call, done), SEEKING):
            call()

    def rerun(self, scenario: PageScenario) -> None:
        """Run another scenario up to the present moment."""
        at = self._view.moment(self._run)
        self._scenario = scenario
        self.reporter.forget_marks()
        self._history.clear()
        self._restart(at_moment(at), at.seconds)

    def pause(self) -> None:
        """Stop the time."""
        if isinstance(self._state, Playing | Seeking):
            self._enter(Paused())
        elif isinstance(self._state, CatchingUp):
            self._enter(Looking(ENDED if self._state.shown == ENDED else PAUSED))
        else:
            self._enter(self._state)

    def play(self, speed: float) -> None:
        """Let time pass, at a number of simulated seconds a second."""
        if self._run is None or isinstance(self._state, Broken):
            return
        if self._state.shown == ENDED:
            self._speed = speed
            self._report()
        elif not self._waits_for_run(WaitingCommand(partial(self.play, speed)), SEEKING):
            self._speed = speed
            self._enter(Playing(self._run.moment.seconds, time.monotonic()))

    def step(self) -> None:
        """Run one scheduling cycle; time passes until a pod is due."""
        if not isinstance(self._state, Broken) and self._state.shown != ENDED:
            self.seek_cycle(self._view.cycles(self._run) + 1)

    def seek(self, to: float) -> None:
        """Move to a time, forward or back; infinity is the end."""
        if (run := self._run) is not None:
            goal = Seeking(at_moment(Moment(to, ALL_TURNS)), to)
            self._move(run, self._history.at_seconds(to), goal, back=to < run.moment.seconds)

    def seek_cycle(self, to: int) -> None:
        """Move to the end of a scheduling cycle, forward or back; 0 is the beginning."""
        if (run := self._run) is not None:
            self._move(run, self._history.at_cycle(to), Seeking(after_cycles(to), 0.0), back=to < run.cycles)

    # -- what the commands do

    def _move(self, run: PageRun, found: PastMoment | None, goal: Seeking, *, back: bool) -> None:
        """Display a known moment, or run up to the goal; for a moment behind the run, run again from the beginning."""
        if found is not None and self._view.reaches(run, found):
            self._view.look(run, found)
            there = not run.broken and run.moment == found.moment and run.mirror.count == found.point.changes
            if there:
                self._view.leave(run)
                self._enter(Ended() if found.ended else Paused())
            else:
                self._enter(Looking(ENDED if found.ended else PAUSED))
        elif back or isinstance(self._state, Broken):
            self._restart(goal.goal, goal.seconds)
        elif not isinstance(self._state, Ended):
            if not self._view.leave(run):
                self.reporter.report_everything()
            self._refuse_waiting()
            self._state = goal

    def _call(self, done: "Future[Any]", function: Callable[[PageRun], Any]) -> None:
        """Call a function with the run; put its result or exception into `done`."""
        if not done.set_running_or_notify_cancel():
            return
        state = self._state
        try:
            if self._run is None:
                raise KubeschedError(state.why if isinstance(state, Broken) else "the simulation has not begun")
            done.set_result(function(self._run))
        except Exception as error:
            done.set_exception(error)

    def _act(self, run: PageRun, action: UserAction) -> UserAction:
        self._history.cut(run.moment, run.mirror.count)
        try:
            run.act(action)
        except Exception:
            # undo the failed attempt
            self._restart(at_moment(run.moment), run.moment.seconds)
            raise
        self._scenario = run.scenario
        # known later moments are not true any more
        self.reporter.forget_later(run)
        if action.configuration is not None:
            self.reporter.report_everything()
        self._enter(Paused() if isinstance(self._state, Ended) else self._state)
        return action

    def _waits_for_run(self, command: WaitingCommand, shown: str) -> bool:
        """Return whether a command waits until the run reaches the moment on display; start the run towards it."""
        look, run, state = self._view.past, self._run, self._state
        if look is None or run is None:
            return False
        if isinstance(state, CatchingUp):
            waiting, seeking = (*state.waiting, command), state.seeking
        else:
            if run.broken or run.moment > look.moment or run.mirror.count > look.point.changes:
                self._drop_run()
                self._guarded(self._begin)
                if isinstance(broken := self._state, Broken):
                    command.refuse(broken.why)
                    return True
            waiting, seeking = (command,), Seeking(at_moment(look.moment), look.moment.seconds)
        self._state = CatchingUp(shown, seeking, waiting)
        if shown == SEEKING:
            # the report shows that it is on its way
            self._report()
        return True

    def _refuse_waiting(self) -> None:
        """Refuse the commands that wait for the run, since the moment they were asked about is no longer on display."""
        state = self._state
        if isinstance(state, CatchingUp):
            self._state = Looking(state.shown)
            for command in state.waiting:
                command.refuse("the moment of this request is no longer shown")

    # -- time

    def _restart(self, goal: Goal, seconds: float) -> None:
        """Run again from the beginning."""
        self._refuse_waiting()
        self._drop_run()
        self.reporter.report_everything()
        self._view.forget()
        self._state = Seeking(goal, seconds)
        self._guarded(self._begin)

    def _begin(self) -> float:
        self._run = PageRun(self._scenario, self._history.add, self._observers)
        return 0.0

    def _drop_run(self) -> None:
        if self._run is not None:
            self._run.close()
            self._run = None

    def _seek(self, state: Seeking) -> float:
        """Run towards the goal, for a slice."""
        assert self._run is not None
        arrived = self._drive(self._run, state)
        if arrived is None:
            self._give_way()
        else:
            self._enter(arrived)
        return 0.0

    def _catch_up(self, state: CatchingUp) -> float:
        """Run towards the moment on display, for a slice; then carry out the commands that wait for it."""
        run, look = self._run, self._view.past
        assert run is not None
        assert look is not None
        arrived = self._drive(run, state.seeking)
        if arrived is None:
            self._give_way()
            return 0.0
        if run.mirror.count != look.point.changes:
            self.reporter.report_everything()
        self._view.leave(run)
        self._state = arrived
        self._report()
        for command in state.waiting:
            command.carry_out()
        return 0.0

    def _drive(self, run: PageRun, to: Seeking) -> Paused | Ended | None:
        """Run towards a goal, for a slice; return the state of the run then, if it has arrived."""
        until = time.monotonic() + SLICE_SECONDS
        while time.monotonic() < until:
            self._note_checkpoint(run)
            if run.ended:
                return Ended()
            if to.goal(run):
                run.jump(to.seconds)
                return Paused()
            if not run.resting:
                run.step()
            elif run.next_seconds < math.inf:
                run.jump(run.next_seconds)
            else:
                raise KubeschedError("there are no more events, but pods are still pending with no end to their wait")
        return None

    def _note_checkpoint(self, run: PageRun) -> None:
        point = run.checkpoint
        if point is not None:
            self._history.reach(point, ended=point.resting and run.ended)

    def _play(self, state: Playing) -> float:
        """Let time pass at the chosen speed; return for how long there is nothing to do."""
        run, due = self._run, state.due
        assert run is not None
        until = time.monotonic() + SLICE_SECONDS
        self._note_checkpoint(run)
        while not (run.resting and run.next_seconds > due):
            self._note_checkpoint(run)
            if run.resting:
                if run.ended:
                    break
                run.jump(due)
            else:
                run.step()
            if time.monotonic() > until:
                self._state = Playing(due, time.monotonic())
                self._give_way()
                return 0.0
        self._note_checkpoint(run)
        if run.ended:
            self._enter(Ended())
            return 0.0
        now = time.monotonic()
        run.jump(due)
        due += min(now - state.computed, MOST_LAG_SECONDS) * self._speed
        self._state = Playing(due, now)
        self._give_way()
        return max(0.0, min(REPORT_SECONDS / 2, (run.next_seconds - due) / self._speed))

    def _give_way(self) -> None:
        if self.reporter.is_due():
            self._report()
        time.sleep(PAUSE_SECONDS)

    # -- reports

    def _enter(self, state: State) -> None:
        """Enter a state, and report it; commands that wait for the run are refused."""
        self._refuse_waiting()
        self._state = state
        self._report()

    def _report(self) -> None:
        self.reporter.report(RunStatus(self._scenario, self._run, self._state, self._speed))
