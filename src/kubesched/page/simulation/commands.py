"""Commands to a simulation, and what it reports: immutable values between its thread and the page's loop."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import msgspec

from kubesched.page.simulation.object_mirror import Changes
from kubesched.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched.page.simulation.stepped_run import SteppedRun
from kubesched.page.timeline.marks import TimelineMark
from kubesched.simulate.traces.trace import TraceEvent

PLAYING, PAUSED, SEEKING, ENDED = "playing", "paused", "seeking", "ended"


class Play(msgspec.Struct, frozen=True):
    """Let time pass, so many simulated seconds a second."""

    speed: float


class Pause(msgspec.Struct, frozen=True):
    """Let time stand still."""


class StepCycle(msgspec.Struct, frozen=True):
    """Run one scheduling cycle; time passes until there is one."""


class Seek(msgspec.Struct, frozen=True):
    """Go to a time, forth or back; infinity is the end."""

    to: float


class SeekCycle(msgspec.Struct, frozen=True):
    """Go to the end of a scheduling cycle, forth or back; 0 is the beginning."""

    to: int


class Act(msgspec.Struct, frozen=True):
    """Do something now: events of a trace, or another configuration; `done` has the UserAction."""

    title: str
    events: tuple[TraceEvent, ...]
    configuration: SimulatedConfiguration | None
    note: object
    done: "Future[Any]"


class Rerun(msgspec.Struct, frozen=True):
    """Run another scenario up to the moment that it is now."""

    scenario: PageScenario


class Ask(msgspec.Struct, frozen=True):
    """Call a function with the run, between two turns; `done` has what it returns, which is immutable.

    It waits until the run is where it is looked at, unless it may be `anywhere`.
    """

    function: Callable[[SteppedRun], Any]
    done: "Future[Any]"
    anywhere: bool = False


class TellRest(msgspec.Struct, frozen=True):
    """Tell when it neither plays nor seeks; `done` has the number of the report of that."""

    done: "Future[int]"


class Close(msgspec.Struct, frozen=True):
    """End."""


Command = Play | Pause | StepCycle | Seek | SeekCycle | Act | Rerun | Ask | TellRest | Close


class SimulationClock(msgspec.Struct, frozen=True, rename="camel"):
    """The clock of a simulation.

    `furthest` and `furthest_cycles` are how far it is known; `target` is where it is going to while it seeks, None for
    the end or a cycle. `problem` is why it cannot go on, `note` the last line that the scheduler wrote. `behind` is the
    part of the way that the run has made to the moment that is shown, None if it is there.
    """

    seconds: float = 0.0
    date: str = ""
    state: str = PAUSED
    speed: float = 1.0
    cycles: int = 0
    furthest: float = 0.0
    furthest_cycles: int = 0
    target: float | None = None
    problem: str = ""
    note: str = ""
    behind: float | None = None


class RunReport(msgspec.Struct, frozen=True):
    """How a simulation is, and what has changed: objects (all of them after `anew`), marks from a number on."""

    clock: SimulationClock
    scenario: PageScenario
    configuration: SimulatedConfiguration
    anew: bool
    changes: Changes
    marks_from: int
    marks: tuple[TimelineMark, ...]
    number: int
