"""Lines for the log that come again and again: the same one, or one of a sort, only now and then.

From lines to fewer lines; a bounded number of them is remembered, since anybody may cause them.
"""

from collections import OrderedDict
from collections.abc import Callable

Note = Callable[[str], None]
Clock = Callable[[], float]

REPEATED_EVERY_SECONDS = 60.0
MOST_LINES = 100


def seldom(note: Note, clock: Clock) -> Note:
    """Return a `note` that says the same line at most once a minute."""
    said: OrderedDict[str, float] = OrderedDict()

    def say(line: str) -> None:
        now = clock()
        if line in said and now - said[line] < REPEATED_EVERY_SECONDS:
            return
        said[line] = now
        said.move_to_end(line)
        if len(said) > MOST_LINES:
            said.popitem(last=False)
        note(line)

    return say


def sampled(note: Note, clock: Clock) -> Note:
    """Return a `note` for lines of one sort, which says one a minute, and how many it has left out."""
    said_at = -REPEATED_EVERY_SECONDS
    left_out = 0

    def say(line: str) -> None:
        nonlocal said_at, left_out
        now = clock()
        if now - said_at < REPEATED_EVERY_SECONDS:
            left_out += 1
            return
        note(f"{line} (and {left_out} times more, of this pod or others)" if left_out else line)
        said_at, left_out = now, 0

    return say
