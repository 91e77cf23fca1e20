"""Full passes of Python's garbage collector, run while the process is idle.

A full pass looks at every tracked container and blocks the loop meanwhile: too long with thousands of bindings in
flight. The objects of the start and of the lists are frozen, so that no pass looks at them; full passes wait until
the process is idle, up to a limit. The young generation is collected as usual. Every few minutes caches drop entries
that were not used meanwhile. Freed memory goes back to the system.

Servers wait less long: a closed connection is garbage of few containers and many bytes.
"""

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

# number of new containers before a pass over the young generation (a hundredth of a second); passes over older
# generations happen only here
THRESHOLDS = (20_000, 1_000_000, 1_000_000)
# at the start nearly all objects are kept: with the usual thresholds full passes would take a fifth of the time
START_THRESHOLDS = (50_000, 20, 50)
LOOK_EVERY_SECONDS = 2.0
# number of passes over the young generation that make a full pass worthwhile
WORTH_WHILE = 5
# a full pass is also due if memory has grown by this factor since the last one: few containers may hold much
MORE_MEMORY = 1.2
# after this time a full pass happens even if the process is always busy
LATEST_SECONDS = 300.0
SERVERS_LATEST_SECONDS = 20.0


def collect_seldom() -> None:
    """Collect garbage rarely while the process starts."""
    gc.set_threshold(*START_THRESHOLDS)


class GarbageCollection:
    """Runs full collections while the process is not `busy`, or after a time limit."""

    def __init__(
        self,
        busy: Callable[[], bool],
        latest_seconds: float = LATEST_SECONDS,
        forget: Callable[[], int] = lambda: 0,
    ) -> None:
        """`forget` drops entries that were not used since its last call, and returns their number."""
        self._busy = busy
        self._latest_seconds = latest_seconds
        self._forget = forget
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)

    @staticmethod
    def settle() -> None:
        """Freeze all objects that exist now: they stay, and passes over them take long."""
        # no full pass even now: lists leave hardly any garbage behind
        gc.collect(1)
        gc.freeze()

    async def run(self) -> NoReturn:
        """Check periodically whether a full pass is due, and run it."""
        now = asyncio.get_running_loop().time
        last, memory = now(), resident_pages()
        last_forgot, forgotten = now(), 0
        while True:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            if now() - last_forgot > self._latest_seconds:
                last_forgot = now()
                forgotten += self._forget()
            grown = gc.get_count()[1]
            due = now() - last > self._latest_seconds and (grown or resident_pages() > MORE_MEMORY * memory)
            if due or ((grown >= WORTH_WHILE or forgotten) and not self._busy()):
                gc.collect()
                give_back()
                last, memory = now(), resident_pages()
                forgotten = 0


def resident_pages() -> int:
    """Return the resident pages of this process, 0 if unknown."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def give_back() -> None:
    """Return free memory to the system, since the C library would keep it."""
    # imported here, since only this function needs it
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
