"""Goals of a run: conditions that are checked before each turn of its loop."""

from collections.abc import Callable

from kubesched_lab.page.simulation.page_run import PageRun
from kubesched_lab.page.simulation.scenario import Moment

Goal = Callable[[PageRun], bool]


def at_beginning(run: PageRun) -> bool:
    """Return whether the initial objects exist, and no pod has been tried."""
    return run.driver.between_cycles or (run.resting and run.moment.turns > 0)


def at_moment(moment: Moment) -> Goal:
    """Return the goal to reach a moment, with all events until then."""

    def reached(run: PageRun) -> bool:
        return run.moment >= moment or (run.resting and run.next_seconds > moment.seconds)

    return reached


def after_cycles(count: int) -> Goal:
    """Return the goal to complete a number of scheduling cycles, with all consequences that take no time."""

    def reached(run: PageRun) -> bool:
        return run.cycles >= count and (run.driver.between_cycles or run.resting)

    return reached
