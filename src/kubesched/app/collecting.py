"""When garbage is looked for: seldom, and when nobody waits.

From how busy a scheduler is to full passes of the garbage collector. One of them looks at every container there is and
holds up the loop meanwhile: with thousands of bindings under way, for longer than is good. What is there before
anything begins, and what was listed, is taken out of its sight; the rest waits until nothing is under way, but not for
ever. Young garbage is collected as it comes.
"""

import asyncio
import gc
from collections.abc import Callable
from typing import NoReturn

# how many more containers lead to a pass over the young ones (a hundredth of a second), and how many of these to
# passes over older ones: never, that is done here
THRESHOLDS = (20_000, 1_000_000, 1_000_000)
LOOK_EVERY_SECONDS = 2.0
# so many passes over young ones make a full one worth its while
WORTH_WHILE = 5
# even if something is always under way
LATEST_SECONDS = 300.0


class Collecting:
    """Collects garbage while nothing is under way, as `busy` tells."""

    def __init__(self, busy: Callable[[], bool]) -> None:
        self._busy = busy
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)

    @staticmethod
    def settle() -> None:
        """Take what is known out of the collector's sight: it stays, and looking at it takes long."""
        # not everything is looked at even now: lists leave hardly any garbage behind
        gc.collect(1)
        gc.freeze()

    async def run(self) -> NoReturn:
        """Look every now and then whether it is time for a full pass."""
        now = asyncio.get_running_loop().time
        last = now()
        while True:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            grown = gc.get_count()[1]
            if (grown >= WORTH_WHILE and not self._busy()) or (grown and now() - last > LATEST_SECONDS):
                gc.collect()
                last = now()
