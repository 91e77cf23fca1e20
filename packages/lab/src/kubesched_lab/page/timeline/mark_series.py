"""The time line: marks of events, grouped where there are many.

From marks in the order of their times to a list that fits on a screen: every mark, or for each of some hundred equal
parts the first mark of each kind with a count.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from kubesched_lab.page.timeline.marks import ACTION, BOUND, FAILED, NODE, PREEMPTED, TimelineMark

# in the order of drawing: the last ones are on top
KINDS: Final = (BOUND, FAILED, NODE, PREEMPTED, ACTION)
MOST_SINGLE: Final = 500
PARTS: Final = 300
# axes of the time line: seconds, or scheduling cycles
SECONDS, CYCLES = "seconds", "cycles"
_PLACES: Final[Mapping[str, Callable[[Any], float]]] = {SECONDS: attrgetter("at"), CYCLES: attrgetter("cycle")}


class ShownMark(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A mark, or the first of `count` marks of one kind until a time."""

    at: float
    kind: str
    cycle: int = 0
    pod: str = ""
    node: str = ""
    message: str = ""
    count: int = 1
    until: float | None = None
    until_cycle: int | None = None


class MarkSeries:
    """Marks by kind, each in the order of their times."""

    def __init__(self, marks: Iterable[TimelineMark] = ()) -> None:
        self._kinds: dict[str, list[TimelineMark]] = {kind: [] for kind in KINDS}
        self._all: list[TimelineMark] = []
        self.extend(marks)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def first(self) -> float | None:
        """Return the time of the first mark, None without one."""
        return self._all[0].at if self._all else None

    def extend(self, marks: Iterable[TimelineMark]) -> None:
        """Add marks, which are later than all present ones."""
        for mark in marks:
            self._all.append(mark)
            self._kinds[mark.kind].append(mark)

    def cut(self, count: int) -> None:
        """Keep only the first `count` marks."""
        for mark in reversed(self._all[count:]):
            self._kinds[mark.kind].pop()
        del self._all[count:]

    def between(self, first: float, last: float, by: str = SECONDS) -> list[ShownMark]:
        """Return the marks from one time to another, or from one cycle to another, in their order."""
        place = _PLACES[by]
        spans = {
            kind: (marks, bisect_left(marks, first, key=place), bisect_right(marks, last, key=place))
            for kind, marks in self._kinds.items()
        }
        if sum(end - begin for _, begin, end in spans.values()) <= MOST_SINGLE:
            single = (mark for marks, begin, end in spans.values() for mark in marks[begin:end])
            return sorted((_shown_mark(mark) for mark in single), key=place)
        width = (last - first) / PARTS
        parts = (_summed(marks, begin, end, first, width, place) for marks, begin, end in spans.values())
        return sorted((mark for part in parts for mark in part), key=place)


def _summed(
    marks: Sequence[TimelineMark],
    begin: int,
    end: int,
    first: float,
    width: float,
    place: Callable[[TimelineMark], float],
) -> Iterator[ShownMark]:
    """Yield the first mark of each part, with the number of marks in it."""
    while begin < end:
        part = int((place(marks[begin]) - first) / width) if width else PARTS
        after = first + (part + 1) * width
        stop = max(begin + 1, bisect_left(marks, after, begin, end, key=place)) if part < PARTS - 1 else end
        yield _shown_mark(marks[begin], stop - begin, marks[stop - 1])
        begin = stop


def _shown_mark(mark: TimelineMark, count: int = 1, last: TimelineMark | None = None) -> ShownMark:
    shown = ShownMark(mark.at, mark.kind, mark.cycle, mark.pod, mark.node, mark.message)
    if count == 1 or last is None:
        return shown
    return msgspec.structs.replace(shown, count=count, until=last.at, until_cycle=last.cycle)


def timeline_answer(series: MarkSeries, began: str, first: float, last: float, by: str = SECONDS) -> dict[str, Any]:
    """Return the answer of /v1/timeline; `began` is the date of second 0."""
    marks = series.between(first, last, by)
    return {"began": began, "by": by, "from": first, "to": last, "total": len(series), "marks": marks}
