"""The reports of a simulation: immutable values from its thread to the page's loop."""

import msgspec

from kubesched_lab.page.simulation.object_mirror import Changes
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.page.timeline.marks import TimelineMark

PLAYING, PAUSED, SEEKING, ENDED = "playing", "paused", "seeking", "ended"


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
