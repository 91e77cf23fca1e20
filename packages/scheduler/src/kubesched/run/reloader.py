"""Reloading the configuration of a running scheduler, from a file that changes or on a signal.

    the file changes, SIGHUP ─▶ read, validate ─▶ build plugins, extenders ─▶ list new kinds ─▶ swap between two cycles
                                       └─────────────── anything is wrong: refused, the last good one stays ──┘

From one configuration to the next, one at a time. Fields that need a restart keep their value and are reported. A
valid file that was refused, because a plugin could not be built or a kind could not be listed, is tried again.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from kubesched.common.files import oddity
from kubesched.config.load import Loaded
from kubesched.core.framework.values.effects import EffectError, Read
from kubesched.core.framework.values.texts import described
from kubesched.errors import KubeschedError
from kubesched.run.assembly import Parts
from kubesched.run.changed_file import ChangedFile
from kubesched.run.configuration_swap import ConfigurationSwap
from kubesched.run.instruments import Instruments
from kubesched.run.options import RunOptions, reload_options
from kubesched.run.reload_reports import APPLIED, REFUSED, UNCHANGED, ReloadOutcome, ReloadReports, object_of_scheduler
from kubesched.run.restart_fields import with_restart_fields_of

IDENTIFIED_WITHIN_SECONDS = 2.0
MOST_PROFILES = 100
# delay before a valid refused file is tried again; it doubles each time
AGAIN_AFTER_SECONDS = 60.0
AGAIN_AFTER_AT_MOST_SECONDS = 960.0


class Reloader:
    """Puts a changed configuration in force; one reload at a time."""

    def __init__(self, options: RunOptions, parts: Parts, instruments: Instruments) -> None:
        self._options = options
        self._scheduler = parts.scheduler
        self._swap = ConfigurationSwap(parts.scheduler, parts.informers)
        self._instruments = instruments
        file = options.flags["config"]
        self.file = ChangedFile(file, options.stamp)
        regarding = object_of_scheduler(options.config)
        self.reports = ReloadReports(file, instruments.log, instruments.registry, parts.recorder, regarding)
        self._show()

    async def run(self) -> None:
        """Reload whenever the file has changed, until cancelled; report each outcome."""
        async for outcome in outcomes(self.file, self._reloaded):
            await self._report(outcome)

    async def close(self) -> None:
        """Close the connections of extenders that came with a reload."""
        await self._swap.close()

    async def _reloaded(self) -> ReloadOutcome:
        file, in_force = self._options.flags["config"], self._scheduler.engine.loaded
        return await reloaded(file, lambda: reload_options(self._options), in_force, self._swap)

    async def _report(self, outcome: ReloadOutcome) -> None:
        engine = self._scheduler.engine
        if outcome.result == APPLIED:
            self._instruments.expect(engine.profiles.values())
        self._show()
        await self._identify()
        self.reports.report(outcome, engine.generation, datetime.now(UTC), next(iter(engine.profiles)))

    async def _identify(self) -> None:
        """Read the UID of the object that events regard, once: `kubectl describe` finds events by it."""
        regarding = self.reports.regarding
        if regarding is None or regarding.uid:
            return
        read = Read(type(regarding).__name__, regarding.namespace, regarding.name)
        with suppress(EffectError, TimeoutError):
            async with asyncio.timeout(IDENTIFIED_WITHIN_SECONDS):
                found = await self._scheduler.engine.effects.perform(read)
            if found is not None:
                metadata = msgspec.structs.replace(regarding.metadata, uid=found.uid)
                self.reports.regarding = msgspec.structs.replace(regarding, metadata=metadata)

    def _show(self) -> None:
        self.reports.in_force(self._scheduler.engine.generation, self._scheduler.configurations.since)


async def outcomes(file: ChangedFile, reload: Callable[[], Awaitable[ReloadOutcome]]) -> AsyncIterator[ReloadOutcome]:
    """Reload whenever a file has changed, and retry a valid refused one; yield the outcomes to report."""
    patience, last = math.inf, None
    while True:
        changed = await file.change(patience)
        outcome = await reload()
        if changed or outcome != last:
            yield outcome
        last = outcome
        if not outcome.again:
            patience = math.inf
        else:
            patience = AGAIN_AFTER_SECONDS if changed else min(2 * patience, AGAIN_AFTER_AT_MOST_SECONDS)


async def reloaded(file: str, read: Callable[[], Loaded], in_force: Loaded, swap: ConfigurationSwap) -> ReloadOutcome:
    """Read and validate a configuration, beside the loop, and put it in force; return the outcome."""
    valid = False
    try:
        _refuse_endless(file)
        new, restart = await asyncio.to_thread(_compared, read, in_force)
        if new is None:
            return ReloadOutcome(UNCHANGED, needs_restart=tuple(restart))
        valid = True
        await swap.put_in_force(new)
    except KubeschedError as error:
        return ReloadOutcome(REFUSED, "; ".join(str(error).splitlines()), again=valid)
    except Exception as error:
        return ReloadOutcome(REFUSED, f"internal error: {described(error)}", again=valid)
    return ReloadOutcome(APPLIED, needs_restart=tuple(restart))


def _compared(read: Callable[[], Loaded], in_force: Loaded) -> tuple[Loaded | None, list[str]]:
    """Return the configuration to put in force, None without a change, and the fields that need a restart."""
    new = read()
    # plugins are built on the loop, which stands still meanwhile
    if len(new.config.profiles) > MOST_PROFILES:
        raise KubeschedError(
            f"profiles: {len(new.config.profiles)}; a reload builds at most {MOST_PROFILES}: restart the scheduler"
        )
    config, restart = with_restart_fields_of(in_force.config, new.config)
    return (None if config == in_force.config else msgspec.structs.replace(new, config=config)), restart


def _refuse_endless(file: str) -> None:
    """Raise KubeschedError for a named pipe or a device, which may never end; the reader reports a missing file."""
    with suppress(OSError):
        if kind := oddity(file):
            raise KubeschedError(f"--config {file} is {kind}, which cannot be read again: put a regular file there")
