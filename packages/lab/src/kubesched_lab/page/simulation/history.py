"""The history of a simulation: changes of objects in their order, and the moments that can be displayed.

From a run that advances to the changes between any two of its moments, without another run. A run of the same scenario
makes the same changes in the same order, so a run that catches up adds nothing. New changes displace the oldest ones;
moments before those need another run.
"""

from bisect import bisect_left, bisect_right
from typing import Final

import msgspec

from kubesched.api.meta import ApiObject
from kubesched_lab.page.simulation.object_mirror import Changes, ObjectKey
from kubesched_lab.page.simulation.scenario import Moment, SimulatedConfiguration

# limit of changes: a pod that arrives, is bound, starts and ends makes four, each some 0.7 kB
MOST_CHANGES: Final = 400_000


class Checkpoint(msgspec.Struct, frozen=True, gc=False):
    """A moment that can be displayed, with its cycles and changes so far; `resting` if nothing more happens at its
    time.
    """

    moment: Moment
    cycles: int
    changes: int
    resting: bool
    note: str
    configuration: SimulatedConfiguration

    @property
    def seconds(self) -> float:
        """Return its time."""
        return self.moment.seconds

    @property
    def place(self) -> tuple[float, int, int]:
        """Return its position in the order of checkpoints."""
        return self.moment.seconds, self.cycles, self.changes


class PastMoment(msgspec.Struct, frozen=True):
    """A moment to display: the last checkpoint before it, after which nothing happens until then."""

    point: Checkpoint
    moment: Moment
    ended: bool = False


class RunHistory:
    """The changes and checkpoints of a scenario, as far as it has been run."""

    def __init__(self, most: int = MOST_CHANGES) -> None:
        self._most = most
        self.clear()

    def clear(self) -> None:
        """Forget everything: the scenario has changed."""
        self._changes: list[tuple[ObjectKey, ApiObject | None, ApiObject | None]] = []
        self._points: list[Checkpoint] = []
        # the number of dropped changes, and whether checkpoints were dropped
        self._dropped = 0
        self._whole = True
        # the latest known moment, and whether nothing more happens at that time, or ever
        self._reached = Moment()
        self._rests = False
        self._ended = False

    # -- what happens

    def add(self, number: int, key: ObjectKey, old: ApiObject | None, new: ApiObject | None) -> None:
        """Add the change with a `number` in its run; known changes are ignored."""
        if number <= self._dropped + len(self._changes):
            return
        self._changes.append((key, old, new))
        if len(self._changes) > self._most:
            self._drop(self._most // 4)

    def _drop(self, count: int) -> None:
        del self._changes[:count]
        self._dropped += count
        self._drop_points(bisect_left(self._points, self._dropped, key=lambda point: point.changes))

    def _drop_points(self, count: int) -> None:
        del self._points[:count]
        self._whole = False

    def reach(self, point: Checkpoint, *, ended: bool = False) -> None:
        """Add a moment of a run; known moments, and moments without a change, are ignored."""
        last = self._points[-1] if self._points else None
        if last is not None and (point.place < last.place or point.moment < self._reached):
            return
        self._reached, self._rests, self._ended = point.moment, point.resting, ended
        same = last is not None and (last.cycles, last.changes, last.note) == (point.cycles, point.changes, point.note)
        if same and last is not None and (last.resting or (last.seconds == point.seconds and not point.resting)):
            return
        self._points.append(point)
        if len(self._points) > self._most:
            self._drop_points(self._most // 4)

    def cut(self, moment: Moment, changes: int) -> None:
        """Forget everything after a moment at which a user acts."""
        del self._changes[max(0, changes - self._dropped) :]
        while self._points and _is_after(self._points[-1], moment, changes):
            self._points.pop()
        self._reached, self._rests, self._ended = moment, False, False

    # -- reading

    def has(self, changes: int) -> bool:
        """Return whether all changes after a number are known."""
        return self._dropped <= changes <= self._dropped + len(self._changes)

    def at_seconds(self, to: float) -> PastMoment | None:
        """Return the moment to display for a time, None if it is not known."""
        if not self._points:
            return None
        if to >= self._reached.seconds and self._ended:
            return PastMoment(self._points[-1], self._reached, ended=True)
        known = to < self._reached.seconds or (to == self._reached.seconds and self._rests)
        row = bisect_right(self._points, to, key=lambda point: point.seconds) - 1
        if not known or row < 0 or not self._points[row].resting:
            return None
        point = self._points[row]
        return PastMoment(point, point.moment if point.seconds == to else Moment(to))

    def at_cycle(self, cycle: int) -> PastMoment | None:
        """Return the moment to display for the end of a scheduling cycle, None if it is not known."""
        row = bisect_left(self._points, cycle, key=lambda point: point.cycles)
        if row == len(self._points):
            return self.at_seconds(self._reached.seconds) if self._ended else None
        if row == 0 and not self._whole:
            return None
        point = self._points[row]
        return PastMoment(point, point.moment, self._ended and point.moment == self._reached and point.resting)

    def between(self, first: int, last: int) -> Changes:
        """Return the changes from one state of the objects to another, given by numbers of changes, forward or back."""
        changed: dict[ObjectKey, ApiObject | None] = {}
        if first <= last:
            for key, _, new in self._changes[first - self._dropped : last - self._dropped]:
                changed[key] = new
        else:
            for key, old, _ in reversed(self._changes[last - self._dropped : first - self._dropped]):
                changed[key] = old
        return changed


def _is_after(point: Checkpoint, moment: Moment, changes: int) -> bool:
    """Return whether an action at a moment makes a checkpoint invalid: the checkpoint lies after the action."""
    if point.changes > changes or point.moment > moment:
        return True
    # at the time of the action, no checkpoint before it is resting
    return point.resting and point.seconds == moment.seconds
