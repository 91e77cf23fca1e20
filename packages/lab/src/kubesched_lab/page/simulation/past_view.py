"""The display of a known moment of a simulation, while its run is at another moment.

From the history to the objects of that moment, and to the changes since the last report.
"""

from kubesched.api.meta import ApiObject
from kubesched_lab.page.simulation.history import PastMoment, RunHistory
from kubesched_lab.page.simulation.object_mirror import ObjectKey
from kubesched_lab.page.simulation.page_run import PageRun
from kubesched_lab.page.simulation.scenario import Moment


class PastView:
    """The moment on display; `past` is None if that is the moment of the run."""

    def __init__(self, history: RunHistory) -> None:
        self._history = history
        self.past: PastMoment | None = None
        self.objects: dict[ObjectKey, ApiObject] = {}
        # the changes from the last report to the moment on display
        self._changes: dict[ObjectKey, ApiObject | None] = {}

    def moment(self, run: PageRun | None) -> Moment:
        """Return the moment on display."""
        if self.past is not None:
            return self.past.moment
        return run.moment if run is not None else Moment()

    def cycles(self, run: PageRun | None) -> int:
        """Return the number of scheduling cycles until the moment on display."""
        if self.past is not None:
            return self.past.point.cycles
        return run.cycles if run is not None else 0

    def reaches(self, run: PageRun, found: PastMoment | None) -> bool:
        """Return whether the history leads from the moment on display to another one."""
        shown = run.mirror.count if self.past is None else self.past.point.changes
        return found is not None and self._history.has(found.point.changes) and self._history.has(shown)

    def look(self, run: PageRun, found: PastMoment) -> None:
        """Display a moment; the run stays where it is."""
        shown = run.mirror.count
        if self.past is None:
            self.objects = dict(run.mirror.objects)
            self._changes.update(run.mirror.take_changes())
        else:
            shown = self.past.point.changes
        changed = self._history.between(shown, found.point.changes)
        self._changes.update(changed)
        for key, obj in changed.items():
            if obj is None:
                self.objects.pop(key, None)
            else:
                self.objects[key] = obj
        self.past = found

    def leave(self, run: PageRun) -> bool:
        """Display the moment of the run; return whether the history leads there, else everything has to be reported
        again.
        """
        if self.past is None:
            return True
        known = self._history.has(run.mirror.count)
        if known:
            self._changes.update(self._history.between(self.past.point.changes, run.mirror.count))
        run.mirror.take_changes()
        self.past, self.objects = None, {}
        return known

    def forget(self) -> None:
        """Display the run, and discard unreported changes."""
        self.past, self.objects, self._changes = None, {}, {}

    def take_changes(self) -> dict[ObjectKey, ApiObject | None]:
        """Return the changes from the last report to the moment on display; the run's own changes come after these."""
        changes, self._changes = self._changes, {}
        return changes

    def part_of_the_way(self, run: PageRun | None, *, moving: bool) -> float | None:
        """Return the part of the way to the moment on display that the run has made, None if it has arrived."""
        if self.past is None:
            return None
        there = self.past.point.changes
        return round(run.mirror.count / there, 3) if moving and run is not None and there else 0.0
