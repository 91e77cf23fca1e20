"""The watchdog: a thread that notices when the scheduling loop is stuck.

    the loop ──beat──▶ Watchdog ──no beat for too long──▶ stuck: health fails, nothing is written, the lease is released
                                                            └── when the loop turns again, or after a while ──▶ exit 1

Time counts only while this thread runs: a process that was suspended as a whole (SIGSTOP, a machine that sleeps) has
not been stuck. A loop that waits for an extender is not stuck; extenders have separate time limits.
"""

import asyncio
import sys
import traceback
from collections.abc import Callable
from threading import Event, Thread, main_thread
from typing import NoReturn

from kubesched.core.loop.scheduler import Scheduler

# the flag with the longest time that the loop may be stuck
LIMIT = "scheduling-loop-timeout"
# the watchdog checks so many times within its limit, and at least every few seconds: each check costs two wake-ups
CHECKS = 4
LONGEST_PERIOD_SECONDS = 2.0
# the shortest limit that an idle loop does not exceed
SHORTEST_SECONDS = 2.0
# how long a stuck process fails its health checks before it ends, unless the loop turns again
SHOWN_SECONDS = 10.0


class Watchdog:
    """Calls `stuck` after some seconds without a beat; then `leave`, at the next beat or later."""

    def __init__(self, limit_seconds: float, stuck: Callable[[float], None], leave: Callable[[str], None]) -> None:
        self.limit_seconds = limit_seconds
        # how often the watchdog checks, and how often a loop with nothing to do turns
        self.period_seconds = min(LONGEST_PERIOD_SECONDS, limit_seconds / CHECKS)
        self._tell_stuck = stuck
        self._leave = leave
        self._beats = 0
        self._stood_still = 0.0
        self._ended = Event()
        self._thread = Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()

    def beat(self) -> None:
        """Count a turn of the loop; called on the loop."""
        self._beats += 1

    def problem(self) -> str | None:
        """Return how long the loop has been stuck, None if it is not; from any thread. Once stuck, it stays so."""
        if self._stood_still < self.limit_seconds:
            return None
        return f"the scheduling loop has stood still for {self._stood_still:.0f} s"

    def _watch(self) -> None:
        seen = self._beats
        while self._stood_still < self.limit_seconds:
            if self._ended.wait(self.period_seconds):
                return
            beats = self._beats
            self._stood_still = self._stood_still + self.period_seconds if beats == seen else 0.0
            seen = beats
        self._tell_stuck(self._stood_still)
        shown = 0.0
        while self._beats == seen and shown < SHOWN_SECONDS:
            if self._ended.wait(self.period_seconds):
                return
            shown += self.period_seconds
            self._stood_still += self.period_seconds
        self._leave("it turns again" if self._beats != seen else "it still does not turn")


async def beat_while_turning(watchdog: Watchdog, scheduler: Scheduler) -> NoReturn:
    """Beat as long as a scheduler's loop turns."""
    seen = -1
    while True:
        turns = scheduler.turns
        if turns != seen or scheduler.asking:
            watchdog.beat()
        seen = turns
        # a loop with nothing to do turns, too
        scheduler.inbox.wake()
        await asyncio.sleep(watchdog.period_seconds)


def what_the_loop_does() -> str:
    """Return the stack of the main thread, the innermost call last."""
    frame = sys._current_frames().get(main_thread().ident or 0)
    return "".join(traceback.format_stack(frame)) if frame is not None else ""
