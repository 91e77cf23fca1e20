"""The queue over time: pods by place, and the events that moved pods, in bounded memory.

From readings, one after the other, to columns and a list. Older samples are kept at a lower resolution.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubesched.serving.queue.records import PLACES, MoveCount

MOST_SAMPLES: Final = 600
MOST_MOVES: Final = 200

Counts = Mapping[str, int | None]


class QueueHistory:
    """Samples of the queue; times are seconds of the epoch, or of the clock that the samples use."""

    def __init__(self, *, from_beginning: bool = False) -> None:
        self._samples: list[tuple[float, tuple[int | None, ...]]] = []
        self._moves: deque[dict[str, Any]] = deque(maxlen=MOST_MOVES)
        # None until the first sample, unless that is taken when the scheduler starts
        self._totals: dict[tuple[str, str, str], int] | None = {} if from_beginning else None

    def is_due(self, until: float) -> bool:
        """Return whether a sample is due before a time; the interval grows with the length of the history."""
        samples = self._samples
        return not samples or (until - samples[-1][0]) * MOST_SAMPLES > until - samples[0][0]

    def note(self, at: float, counts: Counts, moves: Sequence[MoveCount] = ()) -> None:
        """Add the number of pods in each place at a time, and the number of pods that each event has moved so far."""
        self._add_moves(at, moves)
        samples, found = self._samples, tuple(counts.get(place) for place in PLACES)
        if samples and at < samples[-1][0]:
            # the clock was set back: later samples are not true any more
            del samples[next(row for row, sample in enumerate(samples) if sample[0] > at) :]
        if samples and samples[-1][0] == at:
            samples.pop()
        elif len(samples) > 1 and samples[-1][1] == samples[-2][1] == found:
            # of equal samples in a row the first and the last are kept
            samples.pop()
        samples.append((at, found))
        if len(samples) > MOST_SAMPLES:
            # the older half loses every second sample
            del samples[1 : MOST_SAMPLES // 2 : 2]

    def _add_moves(self, at: float, moves: Sequence[MoveCount]) -> None:
        totals = {(each.event, each.from_place, each.to_place): each.pods for each in moves}
        before = self._totals
        self._totals = totals
        if before is None:
            # moves before the first sample have no time
            return
        for key, pods in totals.items():
            # a scheduler that started again counts from zero
            more = pods - before.get(key, 0) if pods >= before.get(key, 0) else pods
            if more:
                event, from_place, to_place = key
                self._moves.append({"at": at, "event": event, "from": from_place, "to": to_place, "pods": more})

    def columns(self) -> dict[str, list[float | int | None]]:
        """Return the samples: times, and for each place the number of pods, None where it is unknown."""
        found: dict[str, list[float | int | None]] = {"at": [round(at, 3) for at, _ in self._samples]}
        for row, place in enumerate(PLACES):
            found[place] = [counts[row] for _, counts in self._samples]
        return found

    def moves(self) -> list[dict[str, Any]]:
        """Return the last moves, the newest first."""
        return list(reversed(self._moves))
