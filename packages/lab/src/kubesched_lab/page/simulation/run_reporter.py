"""Reports of a simulation: its clock, the objects that changed and the marks, each reported once.

From the state of the thread to `RunReport` values, which it passes to a function, some times a second.
"""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from kubesched.common.virtual_time import BEGINNING
from kubesched_lab.page.simulation.commands import SEEKING, RunReport, SimulationClock
from kubesched_lab.page.simulation.object_mirror import Changes
from kubesched_lab.page.simulation.page_run import PageRun
from kubesched_lab.page.simulation.past_view import PastView
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.page.simulation.states import Broken, CatchingUp, Seeking, State
from kubesched_lab.page.timeline.marks import TimelineMark

# between two reports
REPORT_SECONDS: Final = 0.1
LAST_SECONDS: Final = (datetime.max.replace(tzinfo=UTC) - BEGINNING).total_seconds() - 1.0


class RunStatus(msgspec.Struct, frozen=True):
    """What the thread does, with which run."""

    scenario: PageScenario
    run: PageRun | None
    state: State
    speed: float


class RunReporter:
    """Reports changes since the last report; `acknowledged` is the number of the last report that the page has
    processed.
    """

    def __init__(self, tell: Callable[[RunReport], None], view: PastView) -> None:
        self.acknowledged = 0
        # the number of the last report
        self.number = 0
        self._tell = tell
        self._view = view
        self._reported_at = 0.0
        self._everything = True
        self._told: SimulatedConfiguration | None = None
        self._furthest = 0.0
        self._furthest_cycles = 0
        # marks of the furthest run; `_marks_sent` of them are reported
        self._marks: list[TimelineMark] = []
        self._marks_sent = 0

    def report_everything(self) -> None:
        """Let the next report have all objects, as for another cluster."""
        self._everything = True

    def forget_marks(self, count: int = 0) -> None:
        """Forget all marks except the first `count`."""
        del self._marks[count:]
        self._marks_sent = min(self._marks_sent, count)

    def forget_later(self, run: PageRun) -> None:
        """Forget moments later than that of a run."""
        self._furthest, self._furthest_cycles = run.moment.seconds, run.cycles
        self.forget_marks(len(run.marks.marks))

    def is_due(self) -> bool:
        """Return whether the last report was processed, and is old enough for another one."""
        return time.monotonic() - self._reported_at >= REPORT_SECONDS and self.acknowledged >= self.number

    def report(self, status: RunStatus) -> None:
        """Send a report of a state."""
        self._reported_at = time.monotonic()
        self.number += 1
        run, past = status.run, self._view.past
        marks = run.marks.marks if run is not None else []
        if len(marks) > len(self._marks):
            self._marks.extend(marks[len(self._marks) :])
        configuration = status.scenario.configuration
        if past is not None:
            configuration = past.point.configuration
        elif run is not None:
            configuration = run.configuration
        anew, changes = self._news(status, configuration)
        first, self._marks_sent = self._marks_sent, len(self._marks)
        new_marks = tuple(self._marks[first:])
        clock = self._clock(status)
        self._tell(RunReport(clock, status.scenario, configuration, anew, changes, first, new_marks, self.number))

    def _news(self, status: RunStatus, configuration: SimulatedConfiguration) -> tuple[bool, Changes]:
        """Return whether everything has to be reported again, and the changes since the last report."""
        run, past = status.run, self._view.past
        # a run that catches up with the display is not shown until it arrives
        if run is None or (past is None and self._everything and status.state.shown == SEEKING):
            return False, {}
        anew = self._everything or configuration is not self._told
        self._everything, self._told = False, configuration
        changes = self._view.take_changes()
        if past is None:
            changes.update(run.mirror.take_changes())
        if anew:
            return True, dict(run.mirror.objects if past is None else self._view.objects)
        return False, changes

    def _clock(self, status: RunStatus) -> SimulationClock:
        run, past, state = status.run, self._view.past, status.state
        seeking = state.seeking if isinstance(state, CatchingUp) else state
        target = seeking.seconds if state.shown == SEEKING and isinstance(seeking, Seeking) else math.inf
        seconds, cycles = self._view.moment(run).seconds, self._view.cycles(run)
        self._furthest = max(self._furthest, seconds)
        self._furthest_cycles = max(self._furthest_cycles, cycles)
        if past is not None:
            note = past.point.note
        else:
            note = run.notes[-1] if run is not None and run.notes else ""
        return SimulationClock(
            round(seconds, 6),
            _date(seconds),
            state.shown,
            status.speed,
            cycles,
            round(self._furthest, 6),
            self._furthest_cycles,
            target if target != math.inf else None,
            state.why if isinstance(state, Broken) else "",
            note,
            self._view.part_of_the_way(run, moving=isinstance(state, CatchingUp)),
        )


def _date(seconds: float) -> str:
    """Return a moment as a date, an empty text after the year 9999."""
    since = timedelta(seconds=min(seconds, LAST_SECONDS))
    return (BEGINNING + since).isoformat(timespec="milliseconds").replace("+00:00", "Z")
