"""Replaying: the recorded events of one scheduler, applied to another one at the same times.

From events to the decisions of the second scheduler. It has no API server, and its tasks (binding cycles, evictions,
status writes) do not run: what came of them is among the events.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.core.assembly import build_scheduler
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import FailedAttempt, Observer, Observers
from kubesched.core.framework.values.effects import RecordingEffects
from kubesched.core.loop.inbox import Tasks
from kubesched.core.loop.loop_events import Attempt, Call, Recorded
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions


class Failures(Observer):
    """Adds every failed attempt, with its message, to a list of decisions."""

    def __init__(self, decisions: list[tuple[str, str]]) -> None:
        self._decisions = decisions

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Add a failed attempt."""
        self._decisions.append((failed.pod.uid, failed.message))


class NoTasks(Tasks):
    """Starts nothing."""

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Drop the work."""
        work.close()
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done  # type: ignore[return-value]


def replay(recorded: Sequence[Recorded], registry: Registry, config: str, decisions: list[tuple[str, str]]) -> None:
    """Apply events to a new scheduler at the times when they were posted; plugins add to `decisions`."""

    async def play() -> None:
        loop = asyncio.get_running_loop()
        services = LoopServices()
        services.tasks = NoTasks(lambda line: None, services.inbox.wake)
        observers = Observers([Failures(decisions)], clock=loop.time, note=lambda line: None)
        scheduler = build_scheduler(
            RecordingEffects(),
            config,
            registry=registry,
            services=services,
            options=LoopOptions(seed=0),
            observers=observers,
        )
        for time, event in recorded:
            if time > loop.time():
                due: asyncio.Future[None] = loop.create_future()
                loop.call_at(time, due.set_result, None)
                await due
            if isinstance(event, Attempt):
                assert await scheduler.attempt_next(), f"nothing to pop for {event}"
            elif not isinstance(event, Call):
                scheduler.apply(event)

    run_in_virtual_time(play())
