"""Commands to a simulation, and its reports: immutable values between its thread and the page's loop."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import msgspec

from kubesched_lab.page.simulation.object_mirror import Changes
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.page.simulation.stepped_run import SteppedRun
from kubesched_lab.page.timeline.marks import TimelineMark
from kubesched_lab.simulate.traces.trace import TraceEvent

PLAYING, PAUSED, SEEKING, ENDED = "playing", "paused", "seeking", "ended"


class Play(msgspec.Struct, frozen=True):
    """Let time pass, at a number of simulated seconds a second."""

    speed: float


class Pause(msgspec.Struct, frozen=True):
    """Stop the time."""


class StepCycle(msgspec.Struct, frozen=True):
    """Run one scheduling cycle; time passes until a pod is due."""


class Seek(msgspec.Struct, frozen=True):
    """Move to a time, forward or back; infinity is the end."""

    to: float


class SeekCycle(msgspec.Struct, frozen=True):
    """Move to the end of a scheduling cycle, forward or back; 0 is the beginning."""

    to: int


class Act(msgspec.Struct, frozen=True):
    """Apply events of a trace, or another configuration, now; `done` has the UserAction."""

    title: str
    events: tuple[TraceEvent, ...]
    configuration: SimulatedConfiguration | None
    note: object
    done: "Future[Any]"


class Rerun(msgspec.Struct, frozen=True):
    """Run another scenario up to the present moment."""

    scenario: PageScenario


class Ask(msgspec.Struct, frozen=True):
    """Call a function with the run, between two turns; `done` has its result, which is immutable.

    It waits until the run is at the moment on display, unless `anywhere` is true.
    """

    function: Callable[[SteppedRun], Any]
    done: "Future[Any]"
    anywhere: bool = False


class AwaitRest(msgspec.Struct, frozen=True):
    """Wait until the simulation neither plays nor seeks; `done` then has the number of the report that says so."""

    done: "Future[int]"


class Close(msgspec.Struct, frozen=True):
    """End the thread."""


Command = Play | Pause | StepCycle | Seek | SeekCycle | Act | Rerun | Ask | AwaitRest | Close


class SimulationClock(msgspec.Struct, frozen=True, rename="camel"):
    """The clock of a simulation.

    `furthest` and `furthest_cycles` are the latest known time and cycle. `target` is the time that it seeks, None for
    the end or a cycle. `problem` says why it cannot continue; `note` is the last line that the scheduler logged.
    `behind` is the part of the way to the displayed moment that the run has caught up, None if it has caught up.
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
    """The state of a simulation and its changes: objects (all of them after `anew`), marks from a number on."""

    clock: SimulationClock
    scenario: PageScenario
    configuration: SimulatedConfiguration
    anew: bool
    changes: Changes
    marks_from: int
    marks: tuple[TimelineMark, ...]
    number: int
