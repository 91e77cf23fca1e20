"""Where a run is to get: conditions on a run, checked before each turn of its loop."""

from collections.abc import Callable

from kubesched.page.simulation.scenario import Moment
from kubesched.page.simulation.stepped_run import SteppedRun

Goal = Callable[[SteppedRun], bool]


def at_beginning(run: SteppedRun) -> bool:
    """The objects of the beginning are there, and no pod has been tried."""
    return run.between_cycles or (run.resting and run.moment.turns > 0)


def at_moment(moment: Moment) -> Goal:
    """A moment is reached, and all that happens until then."""

    def reached(run: SteppedRun) -> bool:
        return run.moment >= moment or (run.resting and run.next_seconds > moment.seconds)

    return reached


def after_cycles(count: int) -> Goal:
    """So many scheduling cycles have been run, and what follows from them without taking time."""

    def reached(run: SteppedRun) -> bool:
        return run.cycles >= count and (run.between_cycles or run.resting)

    return reached
