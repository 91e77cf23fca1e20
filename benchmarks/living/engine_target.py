"""A life around the scheduler's loop in virtual time: no requests, no other process.

The processor time of the scheduler is that of the process without the time spent in the life and in its world. The
event loop itself counts as the scheduler's.
"""

import asyncio
import gc
import os
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from benchmarks.controlplane import memory_mib
from benchmarks.living.counting import CAUGHT_UP, DIGESTS, EVALUATED, READ, counting
from benchmarks.living.engine_world import EngineWorld
from benchmarks.living.errors import LivingError
from benchmarks.living.figures import EngineCounts, Row, growth
from benchmarks.living.life import Life
from benchmarks.living.options import LifeOptions
from benchmarks.living.stretches import Stretches, note
from benchmarks.living.timers import Timers
from kubesched.common.garbage_collection import GarbageCollection, resident_pages
from kubesched.common.timer_loop import run_on_timers
from kubesched.common.virtual_time import BEGINNING
from kubesched.core.assembly import build_scheduler
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions

NAME = "engine"
# so many samples of memory are taken in a stretch, and so many seconds are counted at most
SAMPLES = 200
MOST_COUNTED_SECONDS = 60.0
# how long the scheduler may take for the cluster as it is at the beginning
SETTLE_SECONDS = 60.0


def measure_engine(options: LifeOptions, stretches: Stretches, emit: Callable[[Row], None]) -> None:
    """Call `emit` with the figures of each rate."""
    run_on_timers(_Engine(options, stretches, emit).run())


class _Mark:
    """Everything that is counted, at a moment."""

    def __init__(self, engine: "_Engine") -> None:
        world = engine.world
        self.at = asyncio.get_running_loop().time()
        self.own = world.seconds
        self.cpu = time.process_time() - self.own
        self.memory = memory_mib(os.getpid())
        self.created = engine.life.arrivals.created
        self.bound, self.read, self.events = world.bound, world.reports, world.events
        self.records = engine.scheduler.cluster.log.seq
        self.status_reports = engine.life.lives.reports
        self.node_reports = engine.life.node_lives.reports


class _Engine:
    """A scheduler in virtual time, its world and its life; made outside of its loop, run inside."""

    def __init__(self, options: LifeOptions, stretches: Stretches, emit: Callable[[Row], None]) -> None:
        self._options = options
        self._stretches = stretches
        self._emit = emit
        self._bytes_a_pod = 0.0

    async def run(self) -> None:
        """Fill the cluster, and measure at each rate."""
        loop = asyncio.get_running_loop()
        services = LoopServices(note, lambda: BEGINNING + timedelta(seconds=loop.time()))
        timers = Timers()
        self.world = world = EngineWorld(services.inbox, timers)
        self.scheduler = build_scheduler(world, services=services, options=LoopOptions())
        self.life = world.life = Life(self._options, world, timers)
        running = loop.create_task(self.scheduler.run())
        try:
            await self._fill()
            collecting = loop.create_task(GarbageCollection(lambda: self.scheduler.busy).run())
            self.life.start()
            world.arm()
            for rate in self._stretches.rates:
                self._emit(await self._measure(rate))
            collecting.cancel()
        finally:
            self.scheduler.stop()
            await running

    async def _fill(self) -> None:
        """Create what exists from the beginning; note how much memory the scheduler takes for it."""
        pages = 0
        self.world.keep_back()
        for part in self.life.fill():
            gc.collect()
            before = resident_pages()
            self.world.flush()
            await self._settled()
            gc.collect()
            # not the pods that fit nowhere, which bring columns of their own
            if part in ("pods", "statuses"):
                pages += resident_pages() - before
            self.world.keep_back()
        self.world.flush()
        self._bytes_a_pod = pages * os.sysconf("SC_PAGE_SIZE") / max(1, self._options.running)

    async def _settled(self) -> None:
        """Let time pass until the scheduler has nothing to do."""
        loop = asyncio.get_running_loop()
        until = loop.time() + SETTLE_SECONDS
        await asyncio.sleep(1.0)
        while self.scheduler.busy:
            if loop.time() > until:
                raise LivingError("the scheduler does not come to rest")
            await asyncio.sleep(1.0)

    async def _measure(self, rate: float) -> Row:
        stretches = self._stretches
        self.life.set_rate(rate)
        self.world.arm()
        await asyncio.sleep(stretches.warm)
        before, memory = _Mark(self), []
        async for seconds in _samples(stretches.seconds):
            memory.append(memory_mib(os.getpid()))
            stretches.tell_memory(NAME, seconds, memory[-1], seconds - stretches.seconds / SAMPLES)
        after = _Mark(self)
        counted = await self._count()
        self.life.set_rate(0)
        await asyncio.sleep(stretches.patience)
        return Row(
            subject=NAME,
            rate=rate,
            seconds=after.at - before.at,
            created=after.created - before.created,
            bound=after.bound - before.bound,
            unbound=self.life.unbound(before.at, after.at),
            cpu_seconds=after.cpu - before.cpu,
            events_read=after.read - before.read,
            events_written=after.events - before.events,
            memory_begin_mib=before.memory,
            memory_end_mib=after.memory,
            memory_peak_mib=memory_mib(os.getpid(), "VmHWM"),
            memory_growth=growth(memory),
            own_cpu_seconds=after.own - before.own,
            engine=counted,
        )

    async def _count(self) -> EngineCounts:
        """Return what the engine does in a stretch that follows."""
        before = _Mark(self)
        with counting() as counts:
            await asyncio.sleep(min(self._stretches.seconds, MOST_COUNTED_SECONDS))
        after = _Mark(self)
        return EngineCounts(
            bound=after.bound - before.bound,
            # an event is written for each attempt
            failed_attempts=after.events - before.events - (after.bound - before.bound),
            status_reports=after.status_reports - before.status_reports,
            node_reports=after.node_reports - before.node_reports,
            log_records=after.records - before.records,
            columns_evaluated=counts[EVALUATED],
            columns_caught_up=counts[CAUGHT_UP],
            pods_read=counts[READ],
            digests=counts[DIGESTS],
            bytes_a_pod=self._bytes_a_pod,
        )


async def _samples(seconds: float) -> AsyncIterator[float]:
    """Let time pass; yield the seconds that have passed, at even distances."""
    step = seconds / SAMPLES
    for number in range(1, SAMPLES + 1):
        await asyncio.sleep(step)
        yield number * step
