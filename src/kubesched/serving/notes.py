"""Lines for the log that clients can cause: the same one only now and then, since anybody can cause it again.

From lines to fewer lines; a bounded number of them is remembered.
"""

import time
from collections import OrderedDict

from kubesched.serving.options import Clock, Note

REPEATED_EVERY_SECONDS = 60.0
MOST_LINES = 100


def seldom(note: Note, clock: Clock = time.monotonic) -> Note:
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
