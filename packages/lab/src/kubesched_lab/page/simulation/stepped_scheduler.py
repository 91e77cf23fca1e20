"""The scheduler, one scheduling cycle at a time.

All work that takes no time, such as the binding of the previous pod, is done before each cycle. The result does not
depend on where a run is paused.
"""

import asyncio

from kubesched.core.loop.scheduler import Scheduler

# limit of turns, so that a task that is never idle does not block the scheduler
MOST_TURNS = 100


class SteppedScheduler(Scheduler):
    """Counts scheduling cycles, and reports whether it is between two of them."""

    # the number of finished cycles, and whether one is under way
    cycles = 0
    in_cycle = False
    between_cycles = False

    async def attempt_next(self) -> bool:
        """Wait until no other work is possible now; then run one scheduling cycle, if there is a pod for it."""
        loop = asyncio.get_running_loop()
        for _ in range(MOST_TURNS):
            if loop.idle:  # type: ignore[attr-defined]
                break
            await asyncio.sleep(0)
        if len(self.inbox):
            # a new configuration is applied first
            return True
        self.between_cycles = True
        # a turn of the loop, at the end of which a run may be paused
        await asyncio.sleep(0)
        self.between_cycles = False
        self.in_cycle = True
        try:
            attempted = await super().attempt_next()
        finally:
            self.in_cycle = False
        self.cycles += attempted
        return attempted
