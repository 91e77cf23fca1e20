"""The scheduler, one scheduling cycle at a time.

Before each cycle everything has been carried out that takes no time, such as the binding of the pod before. Nothing
depends on where a run is paused.
"""

import asyncio

from kubesched.core.loop.scheduler import Scheduler

# a task that never rests does not keep the scheduler waiting
MOST_TURNS = 100


class SteppedScheduler(Scheduler):
    """Counts scheduling cycles, and tells when it is between two of them."""

    # those that have ended, and whether one is under way
    cycles = 0
    in_cycle = False
    between_cycles = False

    async def attempt_next(self) -> bool:
        """Wait until nothing else can be done now; then run one scheduling cycle, if there is a pod for it."""
        loop = asyncio.get_running_loop()
        for _ in range(MOST_TURNS):
            if loop.idle:  # type: ignore[attr-defined]
                break
            await asyncio.sleep(0)
        if len(self.inbox):
            # it is applied first
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
