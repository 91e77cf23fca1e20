"""Repeated log lines: the same line, or lines of one kind, are written once a minute.

From lines to fewer lines. A limited number of lines is remembered, since clients and servers can cause any number.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable

Note = Callable[[str], None]
Clock = Callable[[], float]

REPEATED_EVERY_SECONDS = 60.0
MOST_REMEMBERED = 100


class OncePerMinute:
    """Limits repetition: each key is due at most once a minute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: OrderedDict[Hashable, float] = OrderedDict()

    def due(self, key: Hashable) -> bool:
        """Return whether a minute has passed since this was last True for the key; if so, a new minute begins."""
        now = self._clock()
        if key in self._last and now - self._last[key] < REPEATED_EVERY_SECONDS:
            return False
        self._last[key] = now
        self._last.move_to_end(key)
        if len(self._last) > MOST_REMEMBERED:
            self._last.popitem(last=False)
        return True

    def clear(self) -> None:
        """Forget all keys: each is due at once."""
        self._last.clear()


def seldom(note: Note, clock: Clock) -> Note:
    """Return a function that writes the same line at most once a minute."""
    repetition = OncePerMinute(clock)

    def write(line: str) -> None:
        if repetition.due(line):
            note(line)

    return write


def sampled(note: Note, clock: Clock) -> Note:
    """Return a function for lines of one kind, which writes one a minute, with the number of omitted lines."""
    repetition = OncePerMinute(clock)
    left_out = 0

    def write(line: str) -> None:
        nonlocal left_out
        if not repetition.due(""):
            left_out += 1
            return
        note(f"{line} (and {left_out} more, for this or other pods)" if left_out else line)
        left_out = 0

    return write
